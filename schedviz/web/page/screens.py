"""The live pages of a sandbox in each language."""

from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary

from schedviz.cache import SandboxCache
from schedviz.store.past import Readable
from schedviz.web.page.screen import Look, Screen
from schedviz.web.parts.parts import Parts, merge
from schedviz.web.parts.screens import Drawn, Screens
from schedviz.web.picture.live_picture import LivePicture, live_picture
from schedviz.web.picture.picture import WATCHED
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
