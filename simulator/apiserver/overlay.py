"""What admission may read: the stored objects, with the changes of the same request laid over them."""

import builtins
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from simulator.api import Change, Manifest


class Listing(Protocol):
    """A collection as it was at a version."""

    @property
    def items(self) -> Sequence[Manifest]: ...

    @property
    def version(self) -> int: ...


class Reader(Protocol):
    """The store, as far as admission needs it."""

    def list(self, resource: str) -> Listing: ...


class Objects(msgspec.Struct, frozen=True):
    """A :class:`Listing`."""

    items: Sequence[Manifest]
    version: int = 0


class NewCluster:
    """A reader of a cluster that is made of these creations."""

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        self._changes = [*changes]

    def list(self, resource: str) -> Objects:
        return Objects([c.object for c in self._changes if c.resource == resource and c.object is not None])


class Overlay:
    """Reads each collection once and remembers at which version: the commit must find it unchanged."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._collections: dict[str, dict[str, Manifest]] = {}
        self.versions: dict[str, int] = {}
        """Resource -> version at which it was read."""
        self.changes: builtins.list[Change] = []
        self.changed: set[tuple[str, str]] = set()
        """Resource and key of each change."""

    def get(self, resource: str, key: str) -> Manifest | None:
        return self._collection(resource).get(key)

    def list(self, resource: str) -> Sequence[Manifest]:
        return [*self._collection(resource).values()]

    def put(self, change: Change) -> None:
        self.changes.append(change)
        self.changed.add((change.resource, change.key))
        if change.resource in self._collections:
            self._apply(change)

    def _collection(self, resource: str) -> dict[str, Manifest]:
        if resource not in self._collections:
            listing = self._reader.list(resource)
            self.versions[resource] = listing.version
            self._collections[resource] = {_key(item): item for item in listing.items}
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


def _key(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])
