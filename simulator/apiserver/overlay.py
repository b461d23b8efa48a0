"""The view of the cluster that admission reads: the stored objects, plus the changes of the same request."""

import builtins
from collections.abc import Iterable, Sequence
from typing import Protocol

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

    def list(self, resource: str) -> Listing: ...


class ObjectList(msgspec.Struct, frozen=True):
    """A :class:`Listing` of given objects."""

    items: Sequence[Manifest]
    version: int = 0


class CreatedObjects:
    """A :class:`Reader` of a cluster that consists of the objects which these changes create."""

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        self._changes = [*changes]

    def list(self, resource: str) -> ObjectList:
        return ObjectList(
            [c.object for c in self._changes if c.resource == resource and c.object is not None]
        )


class Overlay:
    """The stored objects with the changes of the request applied.

    Each collection is read at most once. Its version is kept, as the commit requires that it has not
    changed."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._collections: dict[str, dict[str, Manifest]] = {}
        self._peeked: dict[str, Sequence[Manifest]] = {}
        self.versions: dict[str, int] = {}
        """Each resource that was read, with the version of its collection."""
        self.changes: builtins.list[Change] = []
        self.changed: set[tuple[str, str]] = set()
        """The resource and key of each change."""

    def get(self, resource: str, key: str) -> Manifest | None:
        return self._collection(resource).get(key)

    def list(self, resource: str) -> Sequence[Manifest]:
        return [*self._collection(resource).values()]

    def peek(self, resource: str) -> Sequence[Manifest]:
        """The objects of a resource on which the commit does not depend: another one that changes them
        meanwhile counts as later."""
        if resource not in self._collections:
            if resource not in self._peeked:
                self._peeked[resource] = self._reader.list(resource).items
            return self._peeked[resource]
        return self.list(resource)

    def put(self, change: Change) -> None:
        self.changes.append(change)
        self.changed.add((change.resource, change.key))
        if change.resource in self._collections:
            self._apply(change)

    def _collection(self, resource: str) -> dict[str, Manifest]:
        if resource not in self._collections:
            listing = self._reader.list(resource)
            self.versions[resource] = listing.version
            self._collections[resource] = {key_of(item): item for item in listing.items}
            for change in self.changes:
                if change.resource == resource:
                    self._apply(change)
        return self._collections[resource]

    def _apply(self, change: Change) -> None:
        collection = self._collections[change.resource]
        if change.object is None:
            collection.pop(change.key, None)
        else:
            collection[change.key] = change.object
