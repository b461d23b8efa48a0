"""Checks of accounts: whether their database serves, and whether there is an account that can log in."""

from collections.abc import Iterator
from importlib.util import find_spec

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor

from schedviz.operate.doctor.finding import Finding


def check_accounts() -> list[Finding]:
    """Check the settings and the database of accounts. Return no finding where there are no accounts."""
    return [*_check_packages(), *_check_database()] if settings.ACCOUNTS else []


def _check_packages() -> Iterator[Finding]:
    if settings.OIDC_ISSUER and find_spec("authlib") is None:
        yield Finding(
            "OIDC_ISSUER is set, and the package for single sign-on is not installed",
            "install requirements/accounts.txt",
        )
    if settings.OIDC_ISSUER.startswith("http://") and settings.HTTPS:
        yield Finding("OIDC_ISSUER is asked without encryption", "write it with https://")


def _check_database() -> Iterator[Finding]:
    try:
        executor = MigrationExecutor(connection)
        waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if waiting:
            yield Finding(
                f"the database of accounts lacks {len(waiting)} migrations", "run manage.py migrate_accounts"
            )
        elif not get_user_model().objects.filter(is_superuser=True, is_active=True).exists():
            yield Finding("there is no administrator", "make one by manage.py createsuperuser")
    except Error as error:
        yield Finding(
            f"the database of accounts does not serve ({str(error).strip()})", "start it, or set DATABASE_URL"
        )
