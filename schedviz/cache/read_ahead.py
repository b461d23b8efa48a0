"""Brings the cache of the sandbox that a request changes up to date before its view runs, in one round trip
with the hold of a presenter. The first write of the request decides on that, and reads nothing more."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Final

from schedviz.cache.caches import default_caches
from schedviz.cache.present import Present
from schedviz.store import NoSandbox

_read: Final[ContextVar[set[str] | None]] = ContextVar("read_ahead", default=None)
"""The names of the sandboxes that were read for the present request; None = there is no request."""


@contextmanager
def reading_ahead() -> Iterator[None]:
    """Let the block, which answers a request, read ahead."""
    token = _read.set(set())
    try:
        yield
    finally:
        _read.reset(token)


def read_ahead(name: str) -> bytes | None:
    """Bring the cache of a sandbox up to date. Returns the hold of a presenter as it is stored
    (:class:`schedviz.store.hold.Hold`); None = this process has no cache of it, or there is no such
    sandbox."""
    names, caches = _read.get(), default_caches()
    if names is None or caches.held_cache(name) is None:
        return None
    with suppress(NoSandbox):
        _, hold = caches.refresh(name)
        names.add(name)
        return hold
    return None


def take_read(name: str) -> Present | None:
    """Return a sandbox as its cache has it, once after it was read ahead; otherwise None."""
    names = _read.get()
    if not names or name not in names:
        return None
    names.remove(name)
    cache = default_caches().held_cache(name)
    return cache.present() if cache is not None else None
