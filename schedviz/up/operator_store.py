"""The store that the commands for operators use."""

from django.conf import settings

from schedviz import environment
from schedviz.store import Store
from schedviz.up.embedded_redis import socket_address


def operator_redis_url() -> str:
    """Return the Redis of the settings; without REDIS_URL the embedded one, if ``manage.py up`` runs with the
    same DATA_DIR."""
    if not environment.secret_given("REDIS_URL") and settings.DATA_DIR.is_dir():
        path = settings.DATA_DIR / "socket" / "redis"
        address = socket_address(settings.DATA_DIR) if path.exists() else None
        if address is not None:
            return address.url
    return str(settings.REDIS_URL)


def operator_store() -> Store:
    return Store(operator_redis_url(), settings.SANDBOX_REDIS_URLS)
