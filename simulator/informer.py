"""The newest version seen of every object: what the components read, as a real one's informers' stores."""

from simulator.api import Manifest, WatchEvent
from simulator.apiserver.overlay import Objects


class Informer:
    """Fed by the watch. Also a Reader for admission: what it reads is as fresh as the last event."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[str, Manifest]] = {}
        self.version = 0

    def get(self, resource: str, key: str) -> Manifest | None:
        return self._objects.get(resource, {}).get(key)

    def of(self, resource: str) -> dict[str, Manifest]:
        """The objects of a kind by key, in order of arrival. Not to be changed."""
        return self._objects.get(resource, {})

    def list(self, resource: str) -> Objects:
        return Objects([*self.of(resource).values()], self.version)

    def apply(self, event: WatchEvent) -> Manifest | None:
        """Take in an event; the object as it was before (None = it was not there)."""
        self.version = event.version
        objects = self._objects.setdefault(event.resource, {})
        if event.type == "DELETED":
            return objects.pop(event.key, None)
        old = objects.get(event.key)
        objects[event.key] = event.object
        return old
