"""The store that the settings name."""

from functools import cache

from django.conf import settings

from schedviz.store.store import Store


@cache
def default_store() -> Store:
    """The process's one Store. It is safe to share between threads: its connections are pooled."""
    return Store(settings.REDIS_URL)
