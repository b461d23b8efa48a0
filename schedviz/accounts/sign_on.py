"""Single sign-on by OpenID Connect, with the provider of the settings."""

import logging
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import transaction
from django.http import HttpRequest

from schedviz.accounts.models import User
from schedviz.accounts.roles import TEACHERS

log = logging.getLogger(__name__)

NAMES_AT_MOST: Final = 1000
"""Maximum number of accounts whose names would be the same but for a number at the end."""
NAME_CHARACTERS: Final = 140
"""The maximum length of an account's name without its number. The name may have 150 characters."""
TIMEOUT_SECONDS: Final = 10


@cache
def provider() -> Any:
    """Return Authlib's client of the provider, which keeps what it has read about it."""
    # Imported here: accounts without single sign-on need none of it.
    from authlib.integrations.django_client import OAuth  # noqa: PLC0415

    return OAuth().register(
        "provider",
        client_id=settings.OIDC_CLIENT_ID,
        client_secret=settings.OIDC_CLIENT_SECRET,
        server_metadata_url=f"{settings.OIDC_ISSUER}/.well-known/openid-configuration",
        client_kwargs={
            "scope": "openid profile email",
            "code_challenge_method": "S256",
            "default_timeout": TIMEOUT_SECONDS,
        },
    )


def read_claims(request: HttpRequest) -> Mapping[str, Any]:
    """Check the ID token with which a person returns from the provider, and return its claims. Raises what
    :func:`failures` names."""
    token = provider().authorize_access_token(request)
    claims: Mapping[str, Any] = token.get("userinfo") or {}
    if not claims.get("sub") or claims.get("iss", "").rstrip("/") != settings.OIDC_ISSUER:
        raise ValueError("the provider sent no ID token of its own")
    return claims


def failures() -> tuple[type[Exception], ...]:
    """Return the errors of a provider that is away, refuses, or sends what is not right."""
    from authlib.common.errors import AuthlibBaseError  # noqa: PLC0415 (as in provider)
    from joserfc.errors import JoseError  # noqa: PLC0415

    # Those of requests are OSErrors.
    return (AuthlibBaseError, JoseError, OSError, ValueError, KeyError)


def find_user(claims: Mapping[str, Any]) -> User:
    """Return the account of the person that the provider names, by issuer and subject; a new one at the first
    time. A mail address is no proof, as it may be that of another account."""
    subject = f"{claims['iss']} {claims['sub']}"
    with transaction.atomic():
        user = User.objects.filter(subject=subject).first()
        if user is None:
            user = User(subject=subject, username=_free_name(claims))
            user.set_unusable_password()
            user.save()
            if settings.OIDC_ROLE == "teacher":
                user.groups.add(Group.objects.get(name=TEACHERS))
    return user


def _free_name(claims: Mapping[str, Any]) -> str:
    """Return the name that the provider prefers, with a number if another account has it."""
    given = claims.get("preferred_username") or claims.get("email") or claims["sub"]
    name = str(given)[:NAME_CHARACTERS]
    like = User.objects.filter(username__istartswith=name).values_list("username", flat=True)
    taken = {each.casefold() for each in like}
    names = (name, *(f"{name}-{number}" for number in range(2, NAMES_AT_MOST)))
    return next(each for each in names if each.casefold() not in taken)
