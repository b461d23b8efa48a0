"""A sandbox as it is at one revision, with the same methods for reading as a past moment
(:class:`schedviz.store.past.Past`)."""

import builtins
from collections.abc import Iterator, Mapping
from functools import cached_property

import msgspec

from schedviz.cache.held import Numbered, Trace
from schedviz.store import Clock, Failure, Lease, Listing, Meta, Sandbox, codec
from schedviz.store.changes import TRACE_READ, Position, Values
from schedviz.store.model import LogEntry, StoredListing
from schedviz.store.wall import Wall
from simulator.api import Manifest, Micros
from simulator.client.informer import Pipeline
from simulator.decision import Decision, UnderWay
from simulator.trace import QueuePlace

HeldObjects = Mapping[str, Mapping[str, LogEntry]]
"""Resource -> key -> the last write of the object."""


class Newest:
    """The newest decision, decoded when it is read first."""

    def __init__(self, data: str | bytes | None) -> None:
        self._data = data

    @cached_property
    def decision(self) -> Decision | None:
        return None if self._data is None else codec.decode_decision((b"", {b"decision": _bytes(self._data)}))


class Present:
    """The state of a cache at one revision. It does not change, so any number of threads may read it."""

    def __init__(
        self,
        sandbox: Sandbox,
        position: Position,
        wall: Wall,
        *,
        meta: bytes,
        values: Values,
        newest: Newest,
        queue_places: Mapping[str, QueuePlace],
        trace: Trace,
        objects: HeldObjects | None,
        versions: Mapping[str, int],
        generation: int,
    ) -> None:
        """objects: None = the cache has none, and they are read from the store, as they are then. versions:
        of the collections of objects. generation: how often the cache has read all of the sandbox."""
        self.sandbox = sandbox
        self.name = sandbox.name
        self.position = position
        self.generation = generation
        self.wall = wall
        self.values = values
        self.queue_places = queue_places
        self._meta = meta
        self._newest = newest
        self._trace = trace
        self._objects = objects
        self._versions = versions

    def meta(self) -> Meta:
        """Return the description of the sandbox. Raises Unreadable, as ``clock`` does."""
        return codec.decode_meta(self.name, self._meta)

    def stands_down(self) -> bool:
        return self.meta().stands_down

    def clock(self) -> Clock:
        return codec.decode_clock(self.name, self.values.clock.encode())

    def now(self) -> Micros:
        """Return the simulated time now."""
        return self.clock().now(self.wall.now())

    def version(self) -> int:
        return self.position.version

    # Objects

    def get(self, resource: str, key: str) -> Manifest | None:
        if self._objects is None:
            return self.sandbox.get(resource, key)
        entry = self._objects.get(resource, {}).get(key)
        return None if entry is None else codec.with_version(entry.json, entry.version)

    def find(self, resource: str, key: str) -> Listing:
        """Return the object of that key, or nothing, with the version at which it was so."""
        if self._objects is None:
            return self.sandbox.find(resource, key)
        found = self.get(resource, key)
        return Listing([] if found is None else [found], self.position.version)

    def list(self, resource: str, namespace: str = "") -> Listing:
        """Return the objects of a resource, sorted by key; ``namespace``: only those in it, "" = all."""
        if self._objects is None:
            return self.sandbox.list(resource, namespace)
        found = self._objects.get(resource, {})
        keys = [key for key in found if key.startswith(f"{namespace}/")] if namespace else found
        items = [codec.with_version(found[key].json, found[key].version) for key in sorted(keys)]
        return Listing(items, self.position.version)

    def stored_list(self, resource: str) -> StoredListing:
        """Return the objects of a resource, not decoded."""
        if self._objects is None:
            return self.sandbox.stored_list(resource)
        found = self._objects.get(resource, {})
        objects = {key: (found[key].version, found[key].json) for key in sorted(found)}
        return StoredListing(objects, self.position.version)

    def list_all(self) -> tuple[dict[str, dict[str, Manifest]], int]:
        """Return every object as resource -> key -> manifest, and the version at which they were so."""
        if self._objects is None:
            return self.sandbox.list_all()
        return {
            resource: {key: codec.with_version(found[key].json, found[key].version) for key in sorted(found)}
            for resource, found in self._objects.items()
        }, self.position.version

    def iterate_all(self) -> dict[str, Iterator[Manifest]]:
        """Return the objects of each resource, sorted by key; each is decoded when it is read."""
        if self._objects is None:
            return self.sandbox.iterate_all()
        return {resource: _decoded_in_order(found) for resource, found in self._objects.items()}

    def names(self, resource: str) -> builtins.list[str]:
        """Return the keys of a resource's objects, in no order."""
        if self._objects is None:
            return self.sandbox.names(resource)
        return [*self._objects.get(resource, {})]

    def resources(self) -> builtins.list[str]:
        """Return the resources that have objects; some among them may have none any more."""
        if self._objects is None:
            return self.sandbox.resources()
        return sorted(self._objects)

    def collection_versions(self) -> dict[str, int]:
        """Return the resources of which an object was ever written, each with a version since which none
        was."""
        return self.sandbox.collection_versions() if self._objects is None else {**self._versions}

    def starting_with(self, resource: str, prefix: str) -> builtins.list[Manifest]:
        """Return the objects whose keys begin with ``prefix``."""
        if self._objects is None:
            return self.sandbox.starting_with(resource, prefix)
        found = self._objects.get(resource, {})
        return [
            codec.with_version(entry.json, entry.version)
            for key, entry in found.items()
            if key.startswith(prefix)
        ]

    def speaking_of(self, resource: str, text: str) -> builtins.list[Manifest]:
        """Return the objects whose JSON has ``text`` as a whole string."""
        if self._objects is None:
            return self.sandbox.speaking_of(resource, text)
        quoted = msgspec.json.encode(text)
        return [
            codec.with_version(entry.json, entry.version)
            for entry in self._objects.get(resource, {}).values()
            if quoted in entry.json
        ]

    def count(self, resource: str) -> int:
        if self._objects is None:
            return self.sandbox.count(resource)
        return len(self._objects.get(resource, {}))

    # The trace, the decisions, the queue

    def trace_tail(self, count: int) -> builtins.list[Numbered]:
        """Return the last ``count`` events, oldest first; from the store if the cache has fewer."""
        held = [numbered for numbered in self._trace.all() if numbered[0] <= self.position.seq]
        if count > len(held) and held and held[0][0] > 1:
            return self.sandbox.trace_tail(count)
        return held[-count:]

    def trace_head(self) -> int:
        return self.position.seq

    def last_cycle(self) -> int:
        """Return the number of the last scheduling cycle."""
        return self.position.cycle

    def about_pod(self, key: str, count: int = TRACE_READ) -> builtins.list[Numbered]:
        """Return the events among the last ``count`` trace events that name the pod, oldest first."""
        if count > TRACE_READ:
            return self.sandbox.about_pod(key, count)
        return [numbered for numbered in self._trace.about_pod(key) if numbered[0] <= self.position.seq]

    def about_node(self, name: str, count: int = TRACE_READ) -> builtins.list[Numbered]:
        if count > TRACE_READ:
            return self.sandbox.about_node(name, count)
        return [numbered for numbered in self._trace.about_node(name) if numbered[0] <= self.position.seq]

    def decision(self, cycle: int) -> Decision | None:
        newest = self._newest.decision
        return newest if newest and newest.cycle == cycle else self.sandbox.decision(cycle)

    def last_decision(self) -> Decision | None:
        return self._newest.decision

    def under_way(self) -> UnderWay | None:
        stored = self.values.under_way
        return codec.decode_under_way(stored.encode()) if stored else None

    def queue_place(self, pod: str) -> QueuePlace | None:
        return self.queue_places.get(pod)

    def queue(self) -> tuple[Mapping[str, QueuePlace], int]:
        """Return a mapping of each pod to its queue place, and the number of the last move."""
        return self.queue_places, self.position.move

    # The loop

    def edits(self) -> int:
        """Return the number of objects that others than the leader created, changed or deleted."""
        return self.values.edits

    def lease(self) -> Lease | None:
        """Return the lease as it was taken: a renewal is no revision, so ``renewed`` is not up to date."""
        return self.values.lease

    def pipeline(self) -> Pipeline | None:
        stored = self.values.pipeline
        return codec.decode_pipeline(stored.encode()) if stored else None

    def failure(self) -> Failure | None:
        stored = self.values.failure
        return codec.decode_failure(stored.encode()) if stored else None


def _bytes(data: str | bytes) -> bytes:
    return data.encode() if isinstance(data, str) else data


def _decoded_in_order(found: Mapping[str, LogEntry]) -> Iterator[Manifest]:
    for key in sorted(found):
        yield codec.with_version(found[key].json, found[key].version)
