"""The live pages of a sandbox or a room in each language, and the picture of a sandbox.

Drawing takes time: hubs and requests do it in threads, which hold the lock of the pages meanwhile.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from threading import Lock
from typing import Any, Final, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from django.utils import translation

from schedviz.cache import SandboxCache
from schedviz.store.past import Readable
from schedviz.web.presenters.live_picture import LivePicture, live_picture
from schedviz.web.presenters.parts import Parts, merge
from schedviz.web.presenters.picture import WATCHED
from schedviz.web.presenters.screen import Look, Screen
from schedviz.web.sources import address

SCREENS: Final[WeakKeyDictionary[SandboxCache, "SandboxScreens"]] = WeakKeyDictionary()
"""The screens of the sandboxes whose live page was drawn in this process, until they leave the cache."""
SCREENS_LOCK: Final = Lock()


def screens_of(cache: SandboxCache) -> "SandboxScreens":
    """Return the screens of a sandbox, made at the first call. The hub and the requests for the page share
    them, so that each part is rendered once in a process. The cache must have been read before."""
    with SCREENS_LOCK:
        screens = SCREENS.get(cache)
        if screens is None:
            screens = SCREENS[cache] = SandboxScreens(cache.present(), live_picture(cache))
        return screens


Chosen = TypeVar("Chosen", bound=Hashable)
"""What a viewer chose to see: the Look of a sandbox, or one of the pages of a room."""

Drawn = dict[str, dict[Chosen, Parts]]
"""Parts by language and what viewers chose."""


class OneScreen(Protocol):
    """A live page in one language, for all that viewers chose."""

    def whole(self, look: Any) -> Parts:
        """Return all parts as last rendered."""


OfLanguage = TypeVar("OfLanguage", bound=OneScreen)


class Screens(ABC, Generic[Chosen, OfLanguage]):
    """The live pages of a sandbox or a room, in all languages that viewers use."""

    def __init__(self) -> None:
        self._screens: dict[str, OfLanguage] = {}
        self.loads = 0
        """The number of complete reads. After such a read every part is rendered again."""
        self.lock = Lock()
        """The lock that is held by threads that change, draw or read the pages."""

    @abstractmethod
    def _new_screen(self) -> OfLanguage: ...

    @abstractmethod
    def _drawer(self) -> Callable[[OfLanguage, Iterable[Chosen]], dict[Chosen, Parts]]:
        """Return the function that draws one screen as what it shows is now."""

    def draw(self, looks: Mapping[str, Iterable[Chosen]]) -> Drawn[Chosen]:
        """Render and return the parts that changed since the last call, by language and look; all parts for
        a new language or look."""
        draw, drawn = self._drawer(), {}
        for language in {*looks, *self._screens}:
            if language not in self._screens:
                self._screens[language] = self._new_screen()
            with translation.override(language):
                drawn[language] = draw(self._screens[language], looks.get(language, ()))
        return drawn

    def whole(self, language: str, look: Chosen) -> Parts:
        """Return all parts as last rendered."""
        with translation.override(language):
            return self._screens[language].whole(look)

    def found(self, language: str, look: Chosen) -> Parts:
        """Return the parts that a viewer needs after another choice, as last rendered."""
        return {}

    def stop_drawing(self) -> None:
        """Keep no changes for now: the hub does not call ``draw``."""


class SandboxScreens(Screens[Look, Screen]):
    """Draws the live page of one sandbox."""

    def __init__(self, source: Readable, live: LivePicture | None = None) -> None:
        super().__init__()
        self._live = live or LivePicture(source)
        self.lock = self._live.lock
        self._base = address(source)
        self._looks: dict[str, set[Look]] = {}
        """The looks of the last call of ``draw``, by language."""
        self._unsent: Drawn[Look] = {}
        """Parts that ``page`` has rendered since then. The next call of ``draw`` returns them, too."""

    def load(self, resources: Iterable[str] = WATCHED) -> None:
        """Make the picture of the whole source. Raises NoSandbox."""
        self._live.load(resources)
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Forget all parts, after a complete read."""
        self.loads = self._live.loads
        self._screens.clear()
        self._unsent = {}

    def update(self, cache: SandboxCache) -> bool:
        """Update the picture to the revision of the cache; return whether it changed."""
        is_new = self._live.update(cache)
        if self._live.loads != self.loads:
            self._begin_anew()
        return is_new

    def draw(self, looks: Mapping[str, Iterable[Look]]) -> Drawn[Look]:
        self._looks = {language: {*chosen} for language, chosen in looks.items()}
        unsent, self._unsent = self._unsent, {}
        drawn = super().draw(looks)
        for language, by_look in drawn.items():
            for look, parts in by_look.items():
                by_look[look] = merge(unsent.get(language, {}).get(look, {}), parts)
        return drawn

    def page(self, language: str, look: Look) -> Parts:
        """Return all parts for a request. The next call of ``draw`` still returns what changed."""
        looks = {each: {*chosen} for each, chosen in self._looks.items()}
        looks.setdefault(language, set()).add(look)
        drawn = super().draw(looks)
        for each, chosen in self._looks.items():
            unsent = self._unsent.setdefault(each, {})
            for viewed in chosen:
                unsent[viewed] = merge(unsent.get(viewed, {}), drawn[each][viewed])
        return self.whole(language, look)

    def stop_drawing(self) -> None:
        self._looks, self._unsent = {}, {}

    def found(self, language: str, look: Look) -> Parts:
        return self._screens[language].found(look)

    def _new_screen(self) -> Screen:
        return Screen(self._base, past=self._live.picture.past)

    def _drawer(self) -> Callable[[Screen, Iterable[Look]], dict[Look, Parts]]:
        picture, clock = self._live.picture, self._live.clock
        assert clock is not None, "load() must be called before"
        dirty, picture.dirty_nodes = picture.dirty_nodes, set()
        return lambda screen, looks: screen.draw(picture, clock, dirty, looks)
