"""The pictures of the sandboxes that have live pages in this process, brought up to date from the cache."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary

from schedviz.cache import Present, SandboxCache, default_caches
from schedviz.store import Clock
from schedviz.store.codec import watch_event
from schedviz.store.past import Past, Readable
from schedviz.web.picture.load import load, refresh
from schedviz.web.picture.picture import NODES, PODS, WATCHED, Picture

DRAWN_AT_ONCE: Final = 6_000
"""Maximum number of objects that are drawn within a request, in half a second."""


class LivePicture:
    """The picture of a sandbox, and its clock."""

    def __init__(self, source: Readable) -> None:
        self._source = source
        self.picture = Picture()
        self.clock: Clock | None = None
        self.loads = 0
        """The number of complete reads."""
        self.lock = Lock()
        """The lock that is held by threads that change or read the picture."""

    def load(self, resources: Iterable[str] = WATCHED) -> None:
        """Make the picture of the whole source. Raises NoSandbox."""
        self.picture = load(self._source, resources)
        self.clock = self._source.clock()
        self.loads += 1

    def update(self, cache: SandboxCache) -> bool:
        """Update the picture to the revision of the cache; return whether it changed. Redis is not read,
        except for the decision of the last preemption after a complete read."""
        before = self._source
        news = cache.news(before, WATCHED) if self.clock and isinstance(before, Present) else None
        if news is None:
            self._source = cache.present()
            self.load()
            return True
        if isinstance(before, Present) and news.present.position == before.position:
            return False
        for event in news.events:
            self.picture.watch_event(watch_event(event.entry))
        for number, happened in news.trace:
            self.picture.trace_event(number, happened)
        self.picture.version = news.present.position.version
        refresh(news.present, self.picture)
        self.clock = news.present.clock()
        self._source = news.present
        return True


LIVE: Final[WeakKeyDictionary[SandboxCache, LivePicture]] = WeakKeyDictionary()
"""The pictures of the sandboxes whose live page was drawn in this process, until they leave the cache."""
LIVE_LOCK: Final = Lock()


def live_picture(cache: SandboxCache) -> LivePicture:
    """Return the picture of a sandbox, made at the first call. The cache must have been read before."""
    with LIVE_LOCK:
        live = LIVE.get(cache)
        if live is None:
            live = LIVE[cache] = LivePicture(cache.present())
        return live


def is_large(source: Readable) -> bool:
    """Whether a sandbox has too many objects to parse all of them within a request. A past moment is read
    whole."""
    return not isinstance(source, Past) and source.count(PODS) + source.count(NODES) > DRAWN_AT_ONCE


@contextmanager
def read_picture(source: Readable) -> Iterator[Picture]:
    """Context manager: the picture of a sandbox as it is now; of a large one with viewers in this process as
    of their last frame, because to parse all its objects takes seconds. It must not be changed."""
    cache = default_caches().followed_cache(source.name) if is_large(source) else None
    live = LIVE.get(cache) if cache is not None else None
    if live is None:
        yield load(source)
        return
    with live.lock:
        yield live.picture
