"""The migration of the database of accounts."""

from django.conf import settings
from django.core.management import call_command
from django.db import Error

from schedviz.up.preflight import NotReady


def migrate_accounts() -> None:
    """Make or migrate the tables of accounts, and delete the sessions that have ended; nothing where there
    are no accounts. Raises NotReady."""
    if not settings.ACCOUNTS:
        return
    try:
        if not settings.DATABASE_URL:
            settings.DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        call_command("migrate", interactive=False, verbosity=0)
        call_command("clearsessions")
    except (Error, OSError) as error:
        raise NotReady(f"the database of accounts does not serve: {str(error).strip()}") from None
