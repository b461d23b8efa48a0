"""The values that all templates have about accounts."""

from django.conf import settings
from django.http import HttpRequest


def add_account(request: HttpRequest) -> dict[str, object]:
    """Return the variables of templates about accounts (a context processor). The user comes from Django's
    own."""
    return {"has_accounts": True, "has_mail": bool(settings.EMAIL_HOST)}
