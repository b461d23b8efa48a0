"""The events that a watch shows, and their types."""

from collections.abc import Iterable

from schedviz.api.target import Target
from simulator.api import Manifest, WatchEvent
from simulator.apiserver.resource import Resource
from simulator.apiserver.selection import Predicate
from simulator.objects.metadata import name_of, namespace_of


class WatchScope:
    """The events that a watch shows: those of a resource, in its namespace and with its name, and selected.

    With a selector, an object that begins to match is shown as added. An object that no longer matches is
    shown as deleted, in its last state that matched."""

    def __init__(self, resource: Resource, target: Target, selected: Predicate | None) -> None:
        self.resource = resource
        self._target = target
        self._selected = selected
        self._matching: dict[str, Manifest] = {}
        """Key -> an object that matches the selector. It is empty without a selector."""
        self._known: set[str] | None = None
        """The keys of the objects whose state before their next event is known, with a selector; None = it is
        known of all."""

    def covers(self, manifest: Manifest) -> bool:
        metadata = manifest["metadata"]
        return self._target.namespace in ("", metadata.get("namespace", "")) and self._target.name in (
            "",
            metadata["name"],
        )

    def selects(self, manifest: Manifest) -> bool:
        return self._selected is None or self._selected(manifest)

    def remember(self, items: Iterable[Manifest], *, is_all: bool = True) -> None:
        """Note the objects that exist when the watch begins; ``is_all``: whether these are all."""
        if self._selected is None:
            return
        found = {_key(self.resource, item): item for item in items if self.covers(item)}
        self._matching = {key: item for key, item in found.items() if self._selected(item)}
        self._known = None if is_all else {*found}

    @property
    def shows_all(self) -> bool:
        """Whether each covered event is shown as it is."""
        return self._selected is None

    def covers_key(self, key: str) -> bool:
        namespace, _, name = key.rpartition("/")
        return self._target.namespace in ("", namespace) and self._target.name in ("", name)

    def shown_as(self, event: WatchEvent) -> tuple[str, Manifest] | None:
        """Return the type and the object with which a covered event is shown; None = it is not shown."""
        if self._selected is None:
            return event.type, event.object
        before = self._before(event)
        if event.type != "DELETED" and self._selected(event.object):
            self._matching[event.key] = event.object
            return "MODIFIED" if before else "ADDED", event.object
        if before is None:
            return None
        metadata = before["metadata"] | {"resourceVersion": str(event.version)}
        return "DELETED", {**before, "metadata": metadata}

    def _before(self, event: WatchEvent) -> Manifest | None:
        """Return the object before an event, if it matched. If that is not known, it counts as matching: a
        client ignores the deletion of an object that it was not sent."""
        if self._known is not None and event.key not in self._known:
            self._known.add(event.key)
            return None if event.type == "ADDED" else event.object
        return self._matching.pop(event.key, None)


def _key(resource: Resource, item: Manifest) -> str:
    return resource.key(namespace_of(item), name_of(item))
