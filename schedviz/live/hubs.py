"""The hubs of a web process."""

from collections.abc import Callable
from typing import Any

from schedviz.live.hub import Hub
from schedviz.live.probe import Probe
from schedviz.live.viewer import Viewer
from schedviz.live.watched import Chosen, Watched
from schedviz.store import Store


class Hubs:
    def __init__(self) -> None:
        self._hubs: dict[str, Hub[Any]] = {}
        self._probe: Probe | None = None

    def join(
        self, store: Store, name: str, viewer: Viewer[Chosen], watched: Callable[[], Watched[Chosen]]
    ) -> Hub[Chosen]:
        """Add the viewer to the hub of what has this name (``Watched.name``). If there is none, it is made,
        with what ``watched`` returns."""
        for other in [other for other, hub in self._hubs.items() if hub.ended]:
            del self._hubs[other]
        self._probe = self._probe or Probe(store)
        hub = self._hubs.get(name) or Hub(watched(), self._probe)
        self._hubs[name] = hub
        hub.join(viewer)
        return hub
