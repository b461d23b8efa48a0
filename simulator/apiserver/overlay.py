"""The view of the cluster that admission reads: the stored objects, plus the changes of the same request."""

import builtins
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from simulator.api import Change, Manifest
from simulator.objects.metadata import key_of


class Listing(Protocol):
    """The objects of one resource at a version."""

    @property
    def items(self) -> Sequence[Manifest]: ...

    @property
    def version(self) -> int: ...


class Reader(Protocol):
    """The part of the store's interface that admission uses."""

    def list(self, resource: str, namespace: str = "") -> Listing:
        """Return the objects of a resource; ``namespace``: only those in it, "" = all."""
        ...

    def find(self, resource: str, key: str) -> Listing:
        """Return the object of that key, or nothing if there is none."""
        ...

    def names(self, resource: str) -> builtins.list[str]:
        """Return the keys of a resource's objects."""
        ...


class ObjectList(msgspec.Struct, frozen=True):
    """A :class:`Listing` of given objects."""

    items: Sequence[Manifest]
    version: int = 0

    @staticmethod
    def of(objects: Mapping[str, Manifest], version: int, namespace: str = "") -> "ObjectList":
        """Return the objects of a resource that are in a namespace; "" = all. objects: key -> manifest."""
        return ObjectList([item for key, item in objects.items() if _is_in(key, namespace)], version)

    @staticmethod
    def with_key(objects: Mapping[str, Manifest], version: int, key: str) -> "ObjectList":
        """Return the one object of that key, or none."""
        return ObjectList([objects[key]] if key in objects else [], version)


class CreatedObjects:
    """A :class:`Reader` of a cluster that consists of the objects which these changes create."""

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        self._objects: dict[str, dict[str, Manifest]] = {}
        for change in changes:
            _apply(change, self._objects.setdefault(change.resource, {}))

    def list(self, resource: str, namespace: str = "") -> ObjectList:
        return ObjectList.of(self._objects.get(resource, {}), 0, namespace)

    def find(self, resource: str, key: str) -> ObjectList:
        return ObjectList.with_key(self._objects.get(resource, {}), 0, key)

    def names(self, resource: str) -> builtins.list[str]:
        return [*self._objects.get(resource, {})]


class Overlay:
    """The stored objects with the changes of the request applied.

    Each object and each list is read at most once. The version of the collection at its first read is kept,
    as the commit requires that it has not changed since."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._lists: dict[tuple[str, str], dict[str, Manifest]] = {}
        """Resource and namespace ("" = all) -> the objects by key."""
        self._found: dict[tuple[str, str], Manifest | None] = {}
        """Resource and key -> the object that was read by its key."""
        self._peeked: dict[tuple[str, str], Sequence[Manifest]] = {}
        self.versions: dict[str, int] = {}
        """Each resource that was read, with the version of its collection."""
        self.changes: builtins.list[Change] = []
        self.changed: dict[tuple[str, str], Manifest | None] = {}
        """The resource and key of each change, with the object as it is then."""
        self.kept: dict[str, Any] = {}
        """What is computed once for the request, by a name."""

    def get(self, resource: str, key: str) -> Manifest | None:
        place = (resource, key)
        if place in self.changed:
            return self.changed[place]
        if (resource, "") in self._lists:
            return self._lists[resource, ""].get(key)
        if place not in self._found:
            found = self._reader.find(resource, key)
            self.versions.setdefault(resource, found.version)
            self._found[place] = next(iter(found.items), None)
        return self._found[place]

    def list(self, resource: str, namespace: str = "") -> Sequence[Manifest]:
        """Return the objects of a resource, or those of them in a namespace."""
        place = (resource, namespace)
        if place not in self._lists:
            listing = self._reader.list(resource, namespace)
            self.versions.setdefault(resource, listing.version)
            self._lists[place] = {key_of(item): item for item in listing.items}
            for change in self.changes:
                if change.resource == resource and _is_in(change.key, namespace):
                    _apply(change, self._lists[place])
        return [*self._lists[place].values()]

    def peek(self, resource: str, namespace: str = "") -> Sequence[Manifest]:
        """Return the objects of a resource on which the commit does not depend: another one that changes them
        meanwhile counts as later."""
        place = (resource, namespace)
        if place in self._lists:
            return self.list(resource, namespace)
        if place not in self._peeked:
            self._peeked[place] = self._reader.list(resource, namespace).items
        return self._peeked[place]

    def put(self, change: Change) -> None:
        self.changes.append(change)
        self.changed[change.resource, change.key] = change.object
        for namespace in {"", change.key.rpartition("/")[0]}:
            found = self._lists.get((change.resource, namespace))
            if found is not None:
                _apply(change, found)


def _is_in(key: str, namespace: str) -> bool:
    return not namespace or key.startswith(f"{namespace}/")


def _apply(change: Change, objects: dict[str, Manifest]) -> None:
    if change.object is None:
        objects.pop(change.key, None)
    else:
        objects[change.key] = change.object
