"""``manage.py migrate_accounts``: what ``manage.py up`` does with the database, for containers."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from schedviz.up.migrate import migrate_accounts
from schedviz.up.preflight import NotReady


class Command(BaseCommand):
    help = "Make or migrate the database of accounts (DATABASE_URL). Without ACCOUNTS, it does nothing."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            migrate_accounts()
        except NotReady as error:
            raise CommandError(f"schedviz: {error}") from None
