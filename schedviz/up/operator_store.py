"""The store that the commands for operators use."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from django.conf import settings

from schedviz import environment
from schedviz.store import Store
from schedviz.up.embedded_redis import DataDirectoryInUse, EmbeddedRedis, lock, socket_address


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
    return Store(operator_redis_url(), settings.REDIS_CLUSTER_URLS)


@contextmanager
def stored_data() -> Iterator[Store]:
    """Yield a store of the Redis that the settings name; without REDIS_URL, of the embedded one, which is
    started on DATA_DIR unless ``manage.py up`` runs there. Raises RedisDidNotStart."""
    with ExitStack() as stack:
        url = str(settings.REDIS_URL)
        if not environment.secret_given("REDIS_URL"):
            try:
                held = stack.enter_context(lock(settings.DATA_DIR))
            except DataDirectoryInUse:
                url = operator_redis_url()
            else:
                redis = EmbeddedRedis.start(settings.DATA_DIR, held, memory_mb=settings.REDIS_MEMORY_MB)
                stack.callback(redis.stop)
                url = redis.url
        store = Store(url, settings.REDIS_CLUSTER_URLS)
        stack.callback(store.close)
        yield store
