"""The Django app of accounts."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    name = "schedviz.accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Models can be imported only now.
        from schedviz.accounts import changes, roles  # noqa: PLC0415

        post_migrate.connect(roles.make_groups, sender=self)
        changes.connect()
