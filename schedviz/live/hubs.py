"""The hubs of a web process."""

from schedviz.live.hub import Hub
from schedviz.live.probe import Probe
from schedviz.live.viewer import Viewer
from schedviz.store import Store


class Hubs:
    """The hubs of this process."""

    def __init__(self) -> None:
        self._hubs: dict[str, Hub] = {}
        self._probe: Probe | None = None

    def join(self, store: Store, name: str, viewer: Viewer) -> Hub:
        """Add the viewer to the hub of the sandbox, which is created if there is none."""
        for other in [other for other, hub in self._hubs.items() if hub.ended]:
            del self._hubs[other]
        self._probe = self._probe or Probe(store)
        hub = self._hubs.get(name) or Hub(store, name, self._probe)
        self._hubs[name] = hub
        hub.join(viewer)
        return hub
