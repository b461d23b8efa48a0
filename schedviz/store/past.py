"""A past moment of a sandbox, with the same methods for reading as the sandbox."""

import builtins
from collections.abc import Iterator, Mapping
from typing import Final, Protocol

import msgspec

from schedviz.store.changes import TRACE_READ
from schedviz.store.chapters import ENDS
from schedviz.store.mentions import mentions
from schedviz.store.model import Clock, Failure, Lease, Listing, Meta
from schedviz.store.options_at import with_options_at
from schedviz.store.sandbox import Sandbox
from simulator.api import Manifest, Micros
from simulator.client.informer import Pipeline
from simulator.decision import Decision, UnderWay
from simulator.trace import Event, QueuePlace

ENDS_WITHIN: Final = 20
"""Number of last trace events among which such an event is searched: more than one commit has."""


class Readable(Protocol):
    """The methods that the views of a page call: on a :class:`schedviz.cache.Present` or a :class:`Sandbox`
    for the current state, on a :class:`Past` for a past one."""

    name: str

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox for writes."""
        ...

    def meta(self) -> Meta: ...
    def clock(self) -> Clock: ...
    def now(self) -> Micros: ...
    def get(self, resource: str, key: str) -> Manifest | None: ...
    def list(self, resource: str) -> Listing: ...
    def list_all(self) -> tuple[dict[str, dict[str, Manifest]], int]: ...
    def iterate_all(self) -> dict[str, Iterator[Manifest]]: ...
    def names(self, resource: str) -> builtins.list[str]: ...
    def count(self, resource: str) -> int: ...
    def resources(self) -> builtins.list[str]: ...
    def collection_versions(self) -> dict[str, int]: ...
    def starting_with(self, resource: str, prefix: str) -> builtins.list[Manifest]: ...
    def speaking_of(self, resource: str, text: str) -> builtins.list[Manifest]: ...
    def trace_tail(self, count: int) -> builtins.list[tuple[int, Event]]: ...
    def trace_head(self) -> int: ...
    def about_pod(self, key: str, count: int = TRACE_READ) -> builtins.list[tuple[int, Event]]: ...
    def about_node(self, name: str, count: int = TRACE_READ) -> builtins.list[tuple[int, Event]]: ...
    def decision(self, cycle: int) -> Decision | None: ...
    def last_decision(self) -> Decision | None: ...
    def under_way(self) -> UnderWay | None: ...
    def queue_place(self, pod: str) -> QueuePlace | None: ...
    def queue(self) -> tuple[Mapping[str, QueuePlace], int]: ...
    def lease(self) -> Lease | None: ...
    def pipeline(self) -> Pipeline | None: ...
    def failure(self) -> Failure | None: ...
    def stands_down(self) -> bool: ...


class Past:
    """The sandbox at the trace event ``seq`` (see :meth:`History.at_seq`). To be used for one request, as its
    History.

    The lease, the cycle under way and the informer's pipeline of the past are not stored.
    """

    def __init__(self, sandbox: Sandbox, seq: int) -> None:
        """Raises Gone if the moment is too old, or was never reached."""
        self.sandbox = sandbox
        self.name = sandbox.name
        self.seq = seq
        self.history = sandbox.history()
        self.moment = self.history.at_seq(seq, tail=1)
        self._meta: Meta | None = None

    def ahead(self, count: int) -> builtins.list[tuple[int, Event]]:
        """Return the trace events after the moment, at most ``count``."""
        return [*self.history.trace(self.seq, count)]

    def _cycle(self) -> int:
        """Return the number of the last cycle that has ended. The trace shows the end a little before the
        decision is stored, which is in the same commit as the cycle's write."""
        lately = reversed(self.trace_tail(ENDS_WITHIN))
        ended = (event.cycle for _, event in lately if isinstance(event, ENDS))
        return max(self.moment.mark.cycle, next(ended, 0))

    def meta(self) -> Meta:
        """Return the description of the sandbox, with the options that its leader had."""
        if self._meta is None:
            self._meta = with_options_at(self.sandbox.meta(), self.history, self.moment.mark.entry)
        return self._meta

    def clock(self) -> Clock:
        return Clock(self.moment.mark.now, wall=0, paused=True)

    def now(self) -> Micros:
        return self.moment.mark.now

    def get(self, resource: str, key: str) -> Manifest | None:
        return self.moment.objects.get(resource, {}).get(key)

    def list(self, resource: str) -> Listing:
        return Listing([*self.moment.objects.get(resource, {}).values()], self.moment.mark.version)

    def list_all(self) -> tuple[dict[str, dict[str, Manifest]], int]:
        return self.moment.objects, self.moment.mark.version

    def iterate_all(self) -> dict[str, Iterator[Manifest]]:
        return {resource: iter(found.values()) for resource, found in self.moment.objects.items()}

    def names(self, resource: str) -> builtins.list[str]:
        return [*self.moment.objects.get(resource, {})]

    def count(self, resource: str) -> int:
        return len(self.moment.objects.get(resource, {}))

    def resources(self) -> builtins.list[str]:
        return sorted(self.moment.objects)

    def collection_versions(self) -> dict[str, int]:
        return dict.fromkeys(self.moment.objects, self.moment.mark.version)

    def starting_with(self, resource: str, prefix: str) -> builtins.list[Manifest]:
        found = self.moment.objects.get(resource, {})
        return [manifest for key, manifest in found.items() if key.startswith(prefix)]

    def speaking_of(self, resource: str, text: str) -> builtins.list[Manifest]:
        quoted = msgspec.json.encode(text)
        found = self.moment.objects.get(resource, {}).values()
        return [manifest for manifest in found if quoted in msgspec.json.encode(manifest)]

    def trace_tail(self, count: int) -> builtins.list[tuple[int, Event]]:
        return [*self.history.tail(self.seq, count)]

    def trace_head(self) -> int:
        return self.seq

    def about_pod(self, key: str, count: int = TRACE_READ) -> builtins.list[tuple[int, Event]]:
        return [(number, event) for number, event in self.trace_tail(count) if key in mentions(event).pods]

    def about_node(self, name: str, count: int = TRACE_READ) -> builtins.list[tuple[int, Event]]:
        return [(number, event) for number, event in self.trace_tail(count) if name in mentions(event).nodes]

    def decision(self, cycle: int) -> Decision | None:
        return self.history.decision(cycle) if cycle <= self._cycle() else None

    def last_decision(self) -> Decision | None:
        return self.history.decision(self._cycle())

    def under_way(self) -> UnderWay | None:
        return None

    def queue_place(self, pod: str) -> QueuePlace | None:
        return self.moment.queue_places.get(pod)

    def queue(self) -> tuple[dict[str, QueuePlace], int]:
        return self.moment.queue_places, 0

    def lease(self) -> Lease | None:
        return None

    def pipeline(self) -> Pipeline | None:
        return None

    def failure(self) -> Failure | None:
        return None

    def stands_down(self) -> bool:
        return self.history.stood_down(self.seq, now=self.sandbox.stands_down())
