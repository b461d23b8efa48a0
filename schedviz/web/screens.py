"""The picture of one sandbox and its screens, one for each language: the part of a hub that takes time.

The hub calls it in a thread, one call at a time.
"""

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary

from django.urls import reverse
from django.utils import translation
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from schedviz.cache import Present, SandboxCache, default_caches
from schedviz.store import Clock, Trouble
from schedviz.store.codec import watch_event
from schedviz.store.past import Past, Readable
from schedviz.web.presenters.load import load, refresh
from schedviz.web.presenters.parts import Parts, merge
from schedviz.web.presenters.picture import WATCHED, Picture
from schedviz.web.presenters.screen import DEFAULT, Look, Screen
from schedviz.web.trouble import trouble_text

SCREENS: Final[WeakKeyDictionary[SandboxCache, "SandboxScreens"]] = WeakKeyDictionary()
"""Those of the sandboxes whose live page was drawn in this process, for as long as they are cached."""
SCREENS_LOCK: Final = Lock()


def screens_of(cache: SandboxCache) -> "SandboxScreens":
    """The one stage of a sandbox in this process: its hub and the requests for its page draw on it, so that
    what one of them has drawn the others need not draw again. The cache was read before."""
    with SCREENS_LOCK:
        stage = SCREENS.get(cache)
        if stage is None:
            stage = SCREENS[cache] = SandboxScreens(cache.present())
        return stage


def followed_screens(name: str) -> "SandboxScreens | None":
    """The stage of a sandbox whose live page somebody watches here, as of the last frame: all of a large one
    is parsed there already, which would take a request seconds."""
    cache = default_caches().followed_cache(name)
    return SCREENS.get(cache) if cache is not None else None


Drawn = dict[str, dict[Look, Parts]]
"""Parts by language and look."""


class SandboxScreens:
    def __init__(self, source: Readable) -> None:
        self._source = source
        self.picture = Picture()
        self._clock: Clock | None = None
        self._screens: dict[str, Screen] = {}
        self._base = address(source)
        self._looks: dict[str, set[Look]] = {}
        """Those of the last ``draw``, by language."""
        self._owed: Drawn = {}
        """What ``page`` has drawn of these since."""
        self.loads = 0
        """Counts how often all was read anew: then no part is as it was."""
        self.lock = Lock()
        """Held while the picture changes, and by other threads that read it."""

    def load(self, resources: Iterable[str] = WATCHED) -> None:
        """Make the picture of all that the source has. Raises NoSandbox."""
        self.picture = load(self._source, resources)
        self._clock = self._source.clock()
        self._screens.clear()
        self._owed = {}
        self.loads += 1

    def go_on(self, cache: SandboxCache) -> bool:
        """Bring the picture to the cache's revision; whether there was anything new. Nothing else is asked,
        but for the decision of the last preemption where all is read anew."""
        before = self._source
        news = cache.news(before, WATCHED) if self._clock and isinstance(before, Present) else None
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
        self._clock = news.present.clock()
        self._source = news.present
        return True

    def draw(self, looks: Mapping[str, Iterable[Look]]) -> Drawn:
        """The parts that changed since the last call, by language and look; all parts for what is drawn for
        the first time."""
        self._looks = {language: {*chosen} for language, chosen in looks.items()}
        owed, self._owed = self._owed, {}
        drawn = self._draw(looks)
        for language, by_look in drawn.items():
            for look, parts in by_look.items():
                by_look[look] = merge(owed.get(language, {}).get(look, {}), parts)
        return drawn

    def page(self, language: str, look: Look) -> Parts:
        """All parts in that language and look. What changed is kept for the next ``draw``."""
        looks = {each: {*chosen} for each, chosen in self._looks.items()}
        looks.setdefault(language, set()).add(look)
        drawn = self._draw(looks)
        for each, chosen in self._looks.items():
            owed = self._owed.setdefault(each, {})
            for viewed in chosen:
                owed[viewed] = merge(owed.get(viewed, {}), drawn[each][viewed])
        return self.whole(language, look)

    def rest(self) -> None:
        """Nobody calls ``draw`` any more for now."""
        self._looks, self._owed = {}, {}

    def _draw(self, looks: Mapping[str, Iterable[Look]]) -> Drawn:
        assert self._clock is not None, "load() comes first"
        dirty, self.picture.dirty_nodes = self.picture.dirty_nodes, set()
        drawn: Drawn = {}
        for language in {*looks, *self._screens}:
            screen = self._screens.setdefault(language, Screen(self._base, past=self.picture.past))
            with translation.override(language):
                drawn[language] = screen.draw(self.picture, self._clock, dirty, looks.get(language, ()))
        return drawn

    def whole(self, language: str, look: Look = DEFAULT) -> Parts:
        """All parts as last drawn."""
        with translation.override(language):
            return self._screens[language].whole(look)

    def found(self, language: str, look: Look) -> Parts:
        """What the look's filter found when it was last drawn."""
        return self._screens[language].found(look)


def address(sandbox: Readable) -> str:
    """The path of its page."""
    if isinstance(sandbox, Past):
        return reverse("moment", args=[sandbox.name, sandbox.seq])
    return reverse("sandbox", args=[sandbox.name])


def trouble(text: str) -> SafeString:
    return format_html('<div id="trouble" role="alert" hx-swap-oob="true">{}</div>', text)


def store_trouble(language: str, found: Trouble | None) -> Parts:
    """What a page shows while the store does not serve, and when it does again."""
    with translation.override(language):
        return {"trouble": trouble(trouble_text(found).banner if found else "")}


def too_many_looks(language: str) -> Parts:
    with translation.override(language):
        return {"trouble": trouble(gettext("Too many people filter this sandbox just now. Try again later."))}
