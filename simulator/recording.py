"""What a Simulation was given and what became of it, kept so that the same can be told again.

A *term* is one leader's: it begins with a list of everything and ends when the leader does, by whatever
cause. Each commit of a term is one :class:`Entry` of the journal: all that was put into the Simulation since
the commit before. Whoever drives a Simulation by a :class:`Term` gets the entries for nothing;
:mod:`simulator.replay` drives one by the entries.

A recording is a file of records, one a line, as they were stored: what was written up to an entry's version
stands before the entry.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from simulator.api import ApiError, Manifest, Micros, Reason, WatchEvent, versioned
from simulator.decision import Decision
from simulator.simulation import Options
from simulator.trace import AnyEvent, Event, LaneEntry, SchedulerConfigured, SchedulerError

MAX_INPUTS = 100
"""Inputs that may wait for a commit of the Simulation's own. Where little happens there is one a slice: what
changes nothing that anybody sees need not be stored at once, nor be remembered for ever."""


class Listed(msgspec.Struct, frozen=True, tag="listed", array_like=True):
    """Everything that there was at ``version``, taken in at ``now``."""

    version: int
    now: Micros


class Observed(msgspec.Struct, frozen=True, tag="observed", array_like=True):
    """The watch log from where the term was up to ``version``, taken in at ``now``."""

    version: int
    now: Micros


class Stepped(msgspec.Struct, tag="stepped", array_like=True):
    """So many steps that did something. ``now`` is when they were allowed, not when they happened."""

    now: Micros
    by_point: bool
    count: int


class Refused(msgspec.Struct, frozen=True, tag="refused", array_like=True):
    """A commit of the Simulation's, by the step before or by what was taken in."""

    reason: Reason
    resource: str
    key: str


Input = Listed | Observed | Stepped | Refused


class Began(msgspec.Struct, frozen=True):
    options: Options
    told: list[AnyEvent]
    """What the leader itself says: that it was elected, and of the cycle that was lost."""


class Entry(msgspec.Struct, frozen=True, tag=True, tag_field="kind", omit_defaults=True):
    """One commit of the loop. All but the last three is known before it is stored."""

    now: Micros
    """How far simulated time had come."""
    began: Began | None = None
    """In the first of a term."""
    inputs: list[Input] = []
    """Since the entry before, in order."""
    changes: int = 0
    """Objects that it wrote; their versions are the last so many up to ``version``."""
    lanes: dict[str, LaneEntry | None] = {}
    """The places in the queue that changed; in the first entry of a term, all there are."""
    ended: SchedulerError | SchedulerConfigured | None = None
    """The term ended by this fault, or by another configuration, and there is nothing else in the entry."""
    version: int = 0
    """Of the last write of anybody, after the commit."""
    seq: int = 0
    """The number of the last trace event."""
    cycle: int = 0
    """The number of the last decision."""


class Recording(
    msgspec.Struct, frozen=True, tag=True, tag_field="kind", rename={"api_version": "apiVersion"}
):
    """The first line of the file."""

    sandbox: str
    api_version: Literal["schedviz/v1"] = "schedviz/v1"


class Snapshot(msgspec.Struct, frozen=True, tag=True, tag_field="kind"):
    """All objects at ``version``, from which on every write is recorded: so many lines that follow. The
    second line."""

    version: int
    objects: int


class Write(msgspec.Struct, frozen=True, tag=True, tag_field="kind"):
    """A watch event, or an object of a snapshot. ``object`` is without its resourceVersion, ``version``."""

    version: int
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    resource: str
    key: str
    object: Manifest

    def event(self) -> WatchEvent:
        manifest = versioned(self.object, self.version)
        return WatchEvent(self.type, self.resource, self.key, manifest, self.version)


Record = Recording | Snapshot | Write | Entry
decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)
"""Of one line."""


class Recorded(Protocol):
    """What is needed of :class:`simulator.simulation.Simulation`."""

    def observe(self, events: Sequence[WatchEvent]) -> None: ...
    def relist(self, listed: Sequence[WatchEvent], version: int) -> None: ...
    def take_in(self, now: Micros) -> bool: ...
    def step(self, now: Micros, *, by_point: bool = False) -> bool: ...
    def take_trace(self) -> list[Event]: ...
    def give_back_trace(self, trace: list[Event]) -> None: ...
    def take_decisions(self) -> list[Decision]: ...
    def take_lanes(self) -> dict[str, LaneEntry | None]: ...


class Term:
    """A Simulation with all that has gone into it and come out of it since the last commit."""

    def __init__(self, simulation: Recorded, began: Began) -> None:
        self._simulation = simulation
        self._began: Began | None = began
        self._inputs: list[Input] = []
        self.trace: list[Event] = [*began.told]
        self.decisions: list[Decision] = []
        self.lanes: dict[str, LaneEntry | None] = {}

    # What goes in

    def relist(self, listed: Sequence[WatchEvent], version: int, now: Micros) -> None:
        self._inputs.append(Listed(version, now))
        self._simulation.relist(listed, version)
        self._take_in(now)

    def observe(self, events: Sequence[WatchEvent], now: Micros) -> None:
        """The log, from where the term was."""
        self._inputs.append(Observed(events[-1].version, now))
        self._simulation.observe(events)
        self._take_in(now)

    def step(self, now: Micros, *, by_point: bool = False) -> bool:
        """See :meth:`simulator.simulation.Simulation.step`."""
        # It is noted first, as it may commit.
        last = self._inputs[-1] if self._inputs else None
        if isinstance(last, Stepped) and last.now == now and last.by_point == by_point:
            last.count += 1
        else:
            last = Stepped(now, by_point, 1)
            self._inputs.append(last)
        if self._simulation.step(now, by_point=by_point):
            return True
        last.count -= 1
        if last.count == 0:
            self._inputs.pop()
        return False

    def refused(self, error: ApiError) -> None:
        """A commit was. Some of what is collected would have been true only with this write: the Simulation
        knows which."""
        self._inputs.append(Refused(error.reason, error.resource, error.key))
        self._simulation.give_back_trace(self.trace)
        self.trace = []

    # What comes out

    def collect(self) -> list[Decision]:
        """What the Simulation has to say, to be stored with the next commit; the decisions that are new."""
        self.trace += self._simulation.take_trace()
        decisions = self._simulation.take_decisions()
        self.decisions += decisions
        self.lanes |= self._simulation.take_lanes()
        return decisions

    @property
    def worth_storing(self) -> bool:
        """Whether something is collected, or much was put in that led to nothing."""
        return bool(self.trace or self.decisions or self.lanes) or len(self._inputs) >= MAX_INPUTS

    def entry(self, changes: int, now: Micros) -> Entry:
        """The journal's, for a commit of so many changes with all that is collected."""
        return Entry(now=now, began=self._began, inputs=self._inputs, changes=changes, lanes=self.lanes)

    def stored(self) -> None:
        """That commit was stored."""
        self._began = None
        self._inputs = []
        self.trace, self.decisions, self.lanes = [], [], {}

    def _take_in(self, now: Micros) -> None:
        """Before any other work, and without any: a paused Simulation takes them in too."""
        while self._simulation.take_in(now):
            pass
