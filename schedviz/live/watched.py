"""What a hub shows: a sandbox, or a room."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

from schedviz.access.standing import Standing
from schedviz.cache.caches import caches_of
from schedviz.cache.sandbox_cache import CacheState
from schedviz.store import Store
from schedviz.web.page.screen import DEFAULT, Look
from schedviz.web.page.screens import SandboxScreens, screens_of
from schedviz.web.parts.screens import Screens
from schedviz.web.rooms.screens import RoomPage, RoomScreens

Chosen = TypeVar("Chosen", bound=Hashable)


class Watched(ABC, Generic[Chosen]):
    name: str
    """Unique among the sandboxes and rooms."""
    default: Chosen
    """What a viewer sees for whom no other choice is drawn."""
    frame_seconds: float
    """The shortest time between two frames."""
    read_seconds: float | None = None
    """The longest time without a frame; None = each change is announced."""

    @property
    def state(self) -> CacheState:
        return "current"

    @property
    @abstractmethod
    def screens(self) -> Screens[Chosen, Any]:
        """The pages. :meth:`refresh` must have been called before."""

    @abstractmethod
    def update(self) -> bool:
        """Bring the pages up to date, with their lock; return whether panels may show something new. Raises
        NoRoom, and redis-py's exceptions."""

    def refresh(self) -> None:
        """Take in all that was written before the call, unless ``update`` does. Raises NoSandbox, and
        redis-py's exceptions."""

    def follow(self, rung: asyncio.Event) -> None:
        """Set the event at each change from now on, unless others ring the hub."""

    def unfollow(self, rung: asyncio.Event) -> None:
        """End :meth:`follow`."""

    def redraws(self, before: Chosen, after: Chosen) -> bool:
        """Whether a viewer who chooses something else needs the whole page."""
        return True

    def take_trace(self) -> str:
        """Return the context of the trace of a change that no frame shows yet."""
        return ""

    def admits(self, standing: Standing) -> bool:
        """Whether a viewer may still see it."""
        return True


class WatchedSandbox(Watched[Look]):
    default = DEFAULT
    frame_seconds = 0.05
    """At most 20 frames a second. People see no difference between more of them, and browsers paint again
    for each."""

    def __init__(self, store: Store, name: str) -> None:
        self.name = name
        self._caches = caches_of(store)
        self._cache = self._caches.follow(name)

    @property
    def state(self) -> CacheState:
        return self._cache.state

    @property
    def screens(self) -> SandboxScreens:
        return screens_of(self._cache)

    def update(self) -> bool:
        return self.screens.update(self._cache)

    def refresh(self) -> None:
        self._cache.refresh()

    def follow(self, rung: asyncio.Event) -> None:
        self._cache.listeners.add(rung)

    def unfollow(self, rung: asyncio.Event) -> None:
        self._cache.listeners.remove(rung)
        self._caches.unfollow(self._cache)

    def redraws(self, before: Look, after: Look) -> bool:
        return before.group != after.group

    def take_trace(self) -> str:
        trace, self._cache.trace = self._cache.trace, ""
        return trace

    def admits(self, standing: Standing) -> bool:
        return standing.holds(self._cache.access)


class WatchedRoom(Watched[RoomPage]):
    """A room. Its consumers ring the hub at messages (:mod:`schedviz.rooms.notify`)."""

    default = "teacher"
    frame_seconds = 0.25
    read_seconds = 3.0
    """A message may be lost, and who is online or stuck changes without one."""

    def __init__(self, store: Store, code: str) -> None:
        self.name = room_key(code)
        self._screens = RoomScreens(store, code)

    @property
    def screens(self) -> RoomScreens:
        return self._screens

    def update(self) -> bool:
        self._screens.update()
        return False


def room_key(code: str) -> str:
    """Return the name of a room among those of sandboxes, which have no spaces."""
    return f"room {code}"
