"""The picture of one sandbox, and its live page in each language.

Drawing takes time. The hub calls it in a thread, one call at a time.
"""

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Final, Literal
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
"""The screens of the sandboxes whose live page was drawn in this process, until they leave the cache."""
SCREENS_LOCK: Final = Lock()


def screens_of(cache: SandboxCache) -> "SandboxScreens":
    """Return the screens of a sandbox, made at the first call. The hub and the requests for the page share
    them, so that each part is rendered once in a process. The cache must have been read before."""
    with SCREENS_LOCK:
        screens = SCREENS.get(cache)
        if screens is None:
            screens = SCREENS[cache] = SandboxScreens(cache.present())
        return screens


def followed_screens(name: str) -> "SandboxScreens | None":
    """Return the screens of a sandbox that has viewers in this process, as of the last frame; otherwise None.
    For a large sandbox, to parse all objects would take a request seconds."""
    cache = default_caches().followed_cache(name)
    return SCREENS.get(cache) if cache is not None else None


Drawn = dict[str, dict[Look, Parts]]
"""Parts by language and look."""


class SandboxScreens:
    """Draws the live page of one sandbox in all languages that viewers use."""

    def __init__(self, source: Readable) -> None:
        self._source = source
        self.picture = Picture()
        self._clock: Clock | None = None
        self._screens: dict[str, Screen] = {}
        self._base = address(source)
        self._looks: dict[str, set[Look]] = {}
        """The looks of the last call of ``draw``, by language."""
        self._unsent: Drawn = {}
        """Parts that ``page`` has rendered since then. The next call of ``draw`` returns them, too."""
        self.loads = 0
        """The number of complete reads. After such a read every part is rendered again."""
        self.lock = Lock()
        """The lock that is held by threads that change or read the picture."""

    def load(self, resources: Iterable[str] = WATCHED) -> None:
        """Make the picture of the whole source. Raises NoSandbox."""
        self.picture = load(self._source, resources)
        self._clock = self._source.clock()
        self._screens.clear()
        self._unsent = {}
        self.loads += 1

    def update(self, cache: SandboxCache) -> bool:
        """Update the picture to the revision of the cache; return whether it changed. Redis is not read,
        except for the decision of the last preemption after a complete read."""
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
        """Render and return the parts that changed since the last call, by language and look; all parts for
        a new language or look."""
        self._looks = {language: {*chosen} for language, chosen in looks.items()}
        unsent, self._unsent = self._unsent, {}
        drawn = self._draw(looks)
        for language, by_look in drawn.items():
            for look, parts in by_look.items():
                by_look[look] = merge(unsent.get(language, {}).get(look, {}), parts)
        return drawn

    def page(self, language: str, look: Look) -> Parts:
        """Return all parts for a request. The next call of ``draw`` still returns what changed."""
        looks = {each: {*chosen} for each, chosen in self._looks.items()}
        looks.setdefault(language, set()).add(look)
        drawn = self._draw(looks)
        for each, chosen in self._looks.items():
            unsent = self._unsent.setdefault(each, {})
            for viewed in chosen:
                unsent[viewed] = merge(unsent.get(viewed, {}), drawn[each][viewed])
        return self.whole(language, look)

    def stop_drawing(self) -> None:
        """Keep no changes for now: the hub does not call ``draw``."""
        self._looks, self._unsent = {}, {}

    def _draw(self, looks: Mapping[str, Iterable[Look]]) -> Drawn:
        assert self._clock is not None, "load() must be called before"
        dirty, self.picture.dirty_nodes = self.picture.dirty_nodes, set()
        drawn: Drawn = {}
        for language in {*looks, *self._screens}:
            screen = self._screens.setdefault(language, Screen(self._base, past=self.picture.past))
            with translation.override(language):
                drawn[language] = screen.draw(self.picture, self._clock, dirty, looks.get(language, ()))
        return drawn

    def whole(self, language: str, look: Look = DEFAULT) -> Parts:
        """Return all parts as last rendered."""
        with translation.override(language):
            return self._screens[language].whole(look)

    def found(self, language: str, look: Look) -> Parts:
        """Return the result of the look's filter as last rendered."""
        return self._screens[language].found(look)


def address(sandbox: Readable) -> str:
    """Return the path of the page of a sandbox, or of a past moment."""
    if isinstance(sandbox, Past):
        return reverse("moment", args=[sandbox.name, sandbox.seq])
    return reverse("sandbox", args=[sandbox.name])


Away = Trouble | Literal["worker"] | None
"""The reason for which all sandboxes stand still: Redis does not answer, or no worker is alive; None = they
do not."""


def trouble(text: str, away: str = "") -> SafeString:
    """Return the element of the notice. away: why all sandboxes stand still, for the scripts."""
    return format_html(
        '<div id="trouble" role="alert" data-away="{}" hx-swap-oob="true">{}</div>', away, text
    )


def away_notice(language: str, away: Away) -> Parts:
    """Return the notice while Redis or all workers are away; empty when they are there again."""
    with translation.override(language):
        if away is None:
            return {"trouble": trouble("")}
        if away == "worker":
            text = gettext(
                "No worker is running, so simulated time has stopped in all sandboxes. It continues "
                "automatically when a worker runs."
            )
            return {"trouble": trouble(text, "worker")}
        return {"trouble": trouble(trouble_text(away).banner, "redis")}


def too_many_looks(language: str) -> Parts:
    """Return the message to a viewer whose filter is refused."""
    with translation.override(language):
        return {"trouble": trouble(gettext("Too many people are filtering this sandbox. Try again later."))}
