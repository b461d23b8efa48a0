"""A sandbox as it was at a moment, read as a sandbox is read now."""

import builtins
from typing import Final, Protocol

import msgspec

from schedviz.store.errors import Gone
from schedviz.store.model import Clock, Lease, Listing
from schedviz.store.sandbox import Sandbox
from simulator import trace
from simulator.api import Manifest
from simulator.decision import Decision, UnderWay
from simulator.trace import Event, LaneEntry
from simulator.world.informer import Pipeline

ENDS: Final = (trace.Bound, trace.Nominated, trace.Unschedulable, trace.SchedulerError)
"""How a scheduling cycle ends, or the binding that follows it."""
ENDS_WITHIN: Final = 20
"""Trace events of one commit, after which the decision is stored."""


class Readable(Protocol):
    """What a page is drawn from: a :class:`Sandbox`, which says what is now, or its :class:`Past`."""

    name: str

    def clock(self) -> Clock: ...
    def get(self, resource: str, key: str) -> Manifest | None: ...
    def list(self, resource: str) -> Listing: ...
    def starting_with(self, resource: str, prefix: str) -> builtins.list[Manifest]: ...
    def speaking_of(self, resource: str, text: str) -> builtins.list[Manifest]: ...
    def trace_tail(self, count: int) -> builtins.list[tuple[int, Event]]: ...
    def trace_head(self) -> int: ...
    def decision(self, cycle: int) -> Decision | None: ...
    def last_decision(self) -> Decision | None: ...
    def under_way(self) -> UnderWay | None: ...
    def lane(self, pod: str) -> LaneEntry | None: ...
    def queue(self) -> tuple[dict[str, LaneEntry], int]: ...
    def moves(self, after: int) -> tuple[dict[str, LaneEntry | None], int]: ...
    def lease(self) -> Lease | None: ...
    def pipeline(self) -> Pipeline | None: ...


class Past:
    """When a trace event was told (see :meth:`History.at_seq`); good for one request, as its History is.

    Who led, what stood between two points of a cycle, and what had come in by the informer is not kept.
    """

    def __init__(self, sandbox: Sandbox, seq: int) -> None:
        """Raises Gone where it is too old, or was never reached."""
        self.sandbox = sandbox
        self.name = sandbox.name
        self.seq = seq
        self.history = sandbox.history()
        self.moment = self.history.at_seq(seq, tail=1)

    def ahead(self, count: int) -> builtins.list[tuple[int, Event]]:
        """The trace events after the moment, at most so many."""
        return [*self.history.trace(self.seq, count)]

    def _cycle(self) -> int:
        """The last whose end was told: it is stored with the write that comes of it, a little later."""
        lately = reversed(self.trace_tail(ENDS_WITHIN))
        ended = (event.cycle for _, event in lately if isinstance(event, ENDS))
        return max(self.moment.mark.cycle, next(ended, 0))

    def clock(self) -> Clock:
        return Clock(self.moment.mark.now, wall=0, paused=True)

    def get(self, resource: str, key: str) -> Manifest | None:
        return self.moment.objects.get(resource, {}).get(key)

    def list(self, resource: str) -> Listing:
        return Listing([*self.moment.objects.get(resource, {}).values()], self.moment.mark.version)

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

    def decision(self, cycle: int) -> Decision | None:
        return self.history.decision(cycle) if cycle <= self._cycle() else None

    def last_decision(self) -> Decision | None:
        return self.history.decision(self._cycle())

    def under_way(self) -> UnderWay | None:
        return None

    def lane(self, pod: str) -> LaneEntry | None:
        return self.moment.lanes.get(pod)

    def queue(self) -> tuple[dict[str, LaneEntry], int]:
        return self.moment.lanes, 0

    def moves(self, after: int) -> tuple[dict[str, LaneEntry | None], int]:
        raise Gone(after)

    def lease(self) -> Lease | None:
        return None

    def pipeline(self) -> Pipeline | None:
        return None
