"""The pages that a hub draws, of a sandbox or a room, in each language.

Drawing takes time: hubs and requests do it in threads, which hold the lock of the pages meanwhile.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

from django.utils import translation

from schedviz.web.parts.parts import Parts

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
