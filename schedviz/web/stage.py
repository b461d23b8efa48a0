"""The picture of one sandbox and its screens, one for each language: the part of a hub that takes time.

It blocks on Redis and on rendering, so the hub calls it in a thread, one call at a time.
"""

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Final
from weakref import WeakValueDictionary

from django.urls import reverse
from django.utils import translation
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from schedviz.store import Clock
from schedviz.store.aio import Bundle
from schedviz.store.past import Past, Readable
from schedviz.web.view.load import load, refresh
from schedviz.web.view.parts import Parts
from schedviz.web.view.picture import WATCHED, Picture
from schedviz.web.view.screen import DEFAULT, Look, Screen

WARM: Final[WeakValueDictionary[str, "Stage"]] = WeakValueDictionary()
"""The stages that this process's hubs keep up to date, by sandbox: who wants all pods of a large one finds
them here, a moment old, and need not read them for seconds."""


class Stage:
    def __init__(self, sandbox: Readable) -> None:
        self.sandbox = sandbox
        self.picture = Picture()
        self._clock: Clock | None = None
        self._screens: dict[str, Screen] = {}
        self._base = address(sandbox)
        self.lock = Lock()
        """Held while the picture changes, and by whoever else reads it."""

    def load(self, resources: Iterable[str] = WATCHED) -> tuple[int, int]:
        """Read everything anew; the version and the trace number from which to follow. Raises NoSandbox."""
        self.picture = load(self.sandbox, resources)
        self._clock = self.sandbox.clock()
        self._screens.clear()
        return self.picture.version, self.picture.seq

    def advance(self, bundles: Sequence[Bundle]) -> None:
        """Take in what the store told, and what no stream tells. Raises NoSandbox."""
        for bundle in bundles:
            for event in bundle.events:
                self.picture.watch_event(event)
            for number, happened in bundle.trace:
                self.picture.trace_event(number, happened)
        refresh(self.sandbox, self.picture)
        self._clock = self.sandbox.clock()

    def draw(self, looks: Mapping[str, Iterable[Look]]) -> dict[str, dict[Look, Parts]]:
        """The parts that changed, by language and look; all parts for what is drawn for the first time."""
        assert self._clock is not None, "load() comes first"
        dirty, self.picture.dirty_nodes = self.picture.dirty_nodes, set()
        drawn: dict[str, dict[Look, Parts]] = {}
        for language in {*looks, *self._screens}:
            screen = self._screens.setdefault(language, Screen(self._base, past=self.picture.past))
            with translation.override(language):
                drawn[language] = screen.draw(self.picture, self._clock, dirty, looks.get(language, ()))
        return drawn

    def whole(self, language: str, look: Look = DEFAULT) -> Parts:
        """All parts as last drawn."""
        with translation.override(language):
            return self._screens[language].whole(look) | {"trouble": trouble("")}

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


def away(language: str) -> Parts:
    """What a page shows while Redis is away."""
    with translation.override(language):
        return {
            "trouble": trouble(gettext("Redis does not answer. This page goes on by itself when it is back."))
        }


def too_many_looks(language: str) -> Parts:
    with translation.override(language):
        return {"trouble": trouble(gettext("Too many people filter this sandbox just now. Try again later."))}
