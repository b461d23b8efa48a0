"""Recording of the inputs and outputs of a Simulation, so that it can be replayed (:mod:`simulator.replay`).

A *term* is the time of one leader. It begins with a list of all objects and ends when the leader ends, for
any reason. Each commit of a term is one :class:`Entry` of the journal. It contains all inputs of the
Simulation since the previous commit. :class:`LeaderTerm` passes the inputs to a Simulation and collects the
entries.

A recording is a file with one record a line, in the order in which they were stored: all writes up to an
entry's version are before the entry.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args

import msgspec
from msgspec import UNSET, UnsetType

from simulator.api import ApiError, Manifest, Micros, Reason, WatchEvent, versioned
from simulator.decision import Decision
from simulator.kernel.prepared_types import prepared
from simulator.simulation import Options
from simulator.trace import AnyEvent, Event, QueuePlace, SchedulerConfigured, SchedulerError

MAX_INPUTS = 100
"""Maximum number of inputs that are kept until the next commit. Inputs without any output are not stored at
once; but their number must be bounded, because a slice without output adds one."""


class ListInput(msgspec.Struct, frozen=True, tag="listed", array_like=True):
    """The Simulation received a list of all objects at ``version``, at the time ``now``."""

    version: int
    now: Micros


class WatchInput(msgspec.Struct, frozen=True, tag="observed", array_like=True):
    """The Simulation received the watch events up to ``version``, at the time ``now``."""

    version: int
    now: Micros


class TimedWatchInput(WatchInput, frozen=True, tag="observed-at", array_like=True):
    """The same, at the wall time ``wall`` in microseconds."""

    wall: int


class StepInput(msgspec.Struct, tag="stepped", array_like=True):
    """The Simulation made ``count`` steps. ``now`` is the argument of the steps; their own time may be
    earlier."""

    now: Micros
    by_point: bool
    count: int


class TryInput(msgspec.Struct, frozen=True, tag="tried", array_like=True):
    """The Simulation was to try each pod of the queue once, at the time ``now``."""

    now: Micros


class RefusedInput(msgspec.Struct, frozen=True, tag="refused", array_like=True):
    """A commit of the Simulation was refused, during the previous input."""

    reason: Reason
    resource: str
    key: str


TermInput = ListInput | WatchInput | TimedWatchInput | StepInput | TryInput | RefusedInput


class TermStart(msgspec.Struct, frozen=True):
    """The beginning of a term."""

    options: Options
    events: list[AnyEvent] = msgspec.field(name="told")
    """The leader's own trace events: its election, and the cycle that its predecessor did not finish."""
    queue: list[QueuePlace] | UnsetType = UNSET
    """The queue that the term continues, of a sandbox that was created with a state. Unset = all pods are
    queued as new ones."""


class Entry(msgspec.Struct, frozen=True, tag=True, tag_field="kind", omit_defaults=True):
    """One commit of the loop. The last three fields are set when it is stored."""

    now: Micros
    """The simulated time of the commit."""
    began: TermStart | None = None
    """Set in the first entry of a term."""
    inputs: list[TermInput] = []
    """The inputs since the previous entry, in order. Those of a later version: see :class:`RecordDecoder`."""
    changes: int = 0
    """Number of objects that the commit wrote. They have the last versions up to ``version``."""
    lanes: dict[str, QueuePlace | None] = {}
    """The changed positions in the queue by pod; None = the pod is no longer queued. The first entry of a
    term contains all positions."""
    ended: SchedulerError | SchedulerConfigured | None = None
    """The error or the new configuration that ended the term. Such an entry contains nothing else."""
    version: int = 0
    """The version of the last write, by any client, after the commit."""
    seq: int = 0
    """The number of the last trace event."""
    cycle: int = 0
    """The number of the last decision."""


class Recording(
    msgspec.Struct, frozen=True, tag=True, tag_field="kind", rename={"api_version": "apiVersion"}
):
    """The first line of a recording."""

    sandbox: str
    api_version: Literal["schedviz/v1"] = "schedviz/v1"


class Snapshot(msgspec.Struct, frozen=True, tag=True, tag_field="kind"):
    """The second line of a recording: the next ``objects`` lines are all objects at ``version``. All later
    writes are recorded."""

    version: int
    objects: int


class Write(msgspec.Struct, frozen=True, tag=True, tag_field="kind"):
    """A watch event, or an object of a snapshot. ``object`` has no resourceVersion; it is ``version``."""

    version: int
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    resource: str
    key: str
    object: Manifest

    def event(self) -> WatchEvent:
        """Return the watch event, whose object has its resourceVersion."""
        manifest = versioned(self.object, self.version)
        return WatchEvent(self.type, self.resource, self.key, manifest, self.version)


Record = Recording | Snapshot | Write | Entry

R = TypeVar("R")


class RecordDecoder(Generic[R]):
    """Decodes records. A later version may have more kinds of inputs: those that this one does not know are
    kept in ``Entry.inputs`` as they are, as lists, so that they are written again unchanged."""

    def __init__(self, record: Any, inputs: Any = TermInput) -> None:
        """record: the type of the records, or a union. inputs: the kinds of inputs that it knows."""
        self._decoder: msgspec.json.Decoder[R] = msgspec.json.Decoder(prepared(record))
        self._kinds = {kind.__struct_config__.tag for kind in get_args(inputs)}

    def decode(self, data: bytes) -> R:
        """Raises msgspec.ValidationError, msgspec.DecodeError."""
        try:
            return self._decoder.decode(data)
        except msgspec.ValidationError:
            given = msgspec.json.decode(data)
            unknown = self._unknown_places(given)
            if not unknown:
                raise
        known = [each for place, each in enumerate(given["inputs"]) if place not in unknown]
        record = self._decoder.decode(msgspec.json.encode({**given, "inputs": known}))
        assert isinstance(record, Entry), "only entries have inputs"
        for place, content in unknown.items():
            record.inputs.insert(place, content)
        return record

    def _unknown_places(self, given: Any) -> dict[int, Any]:
        """Return the inputs of kinds that are not known, by their places."""
        inputs = given.get("inputs") if isinstance(given, dict) else None
        return {
            place: each
            for place, each in enumerate(inputs if isinstance(inputs, list) else [])
            if isinstance(each, list) and each and isinstance(each[0], str) and each[0] not in self._kinds
        }


def unknown_kinds(entry: Entry) -> list[str]:
    """Return the kinds of the inputs that this version does not know."""
    inputs: Sequence[Any] = entry.inputs
    return sorted({each[0] for each in inputs if isinstance(each, list)})


record_decoder: RecordDecoder[Record] = RecordDecoder(Record)
"""Decodes one line of a recording."""


class RecordableSimulation(Protocol):
    """The part of the interface of :class:`simulator.simulation.Simulation` that is recorded."""

    def keep_queue(self, places: Iterable[QueuePlace]) -> None: ...
    def observe(self, events: Sequence[WatchEvent], wall: int | None = None) -> None: ...
    def relist(self, listed: Sequence[WatchEvent], version: int) -> None: ...
    def take_in(self, now: Micros) -> bool: ...
    def step(self, now: Micros, *, by_point: bool = False) -> bool: ...
    def try_each(self, now: Micros) -> None: ...
    def take_trace(self) -> list[Event]: ...
    def give_back_trace(self, trace: list[Event]) -> None: ...
    def take_decisions(self) -> list[Decision]: ...
    def take_queue_places(self) -> dict[str, QueuePlace | None]: ...


class LeaderTerm:
    """One term of a Simulation, with its inputs and outputs since the last commit."""

    def __init__(self, simulation: RecordableSimulation, began: TermStart) -> None:
        self._simulation = simulation
        self._began: TermStart | None = began
        self._inputs: list[TermInput] = []
        self._received: Micros = 0
        """The time at which the last events were received."""
        self.trace: list[Event] = [*began.events]
        self.decisions: list[Decision] = []
        self.lanes: dict[str, QueuePlace | None] = {}
        simulation.keep_queue(began.queue or ())

    # Inputs

    def relist(
        self, listed: Sequence[WatchEvent], version: int, now: Micros, *, at_once: bool = True
    ) -> None:
        """Pass all objects to the Simulation. at_once: see :meth:`observe`."""
        self._inputs.append(ListInput(version, now))
        self._simulation.relist(listed, version)
        self._receive(now, at_once=at_once)

    def observe(
        self, events: Sequence[WatchEvent], now: Micros, wall: int | None = None, *, at_once: bool = True
    ) -> None:
        """Pass the next watch events to the Simulation, which processes them. at_once: if not, the caller
        calls :meth:`take_in` until it returns False, before anything else."""
        version = events[-1].version
        self._inputs.append(WatchInput(version, now) if wall is None else TimedWatchInput(version, now, wall))
        self._simulation.observe(events, wall)
        self._receive(now, at_once=at_once)

    def take_in(self) -> bool:
        """Let the Simulation process some of the received events, at the time at which they were received;
        whether there were any. This needs no step, so a paused Simulation does it too."""
        return self._simulation.take_in(self._received)

    def step(self, now: Micros, *, by_point: bool = False) -> bool:
        """See :meth:`simulator.simulation.Simulation.step`."""
        # Record the step before it is made, because it may commit.
        last = self._inputs[-1] if self._inputs else None
        if isinstance(last, StepInput) and last.now == now and last.by_point == by_point:
            last.count += 1
        else:
            last = StepInput(now, by_point, 1)
            self._inputs.append(last)
        if self._simulation.step(now, by_point=by_point):
            return True
        last.count -= 1
        if last.count == 0:
            self._inputs.pop()
        return False

    def try_each(self, now: Micros) -> None:
        """See :meth:`simulator.simulation.Simulation.try_each`."""
        self._inputs.append(TryInput(now))
        self._simulation.try_each(now)

    def refused(self, error: ApiError) -> None:
        """Record that a commit was refused. Collected trace events are returned to the Simulation, which
        drops those that depend on the refused write."""
        self._inputs.append(RefusedInput(error.reason, error.resource, error.key))
        self._simulation.give_back_trace(self.trace)
        self.trace = []

    # Outputs

    def collect(self) -> list[Decision]:
        """Take the Simulation's outputs, to be stored with the next commit, and return the new decisions."""
        self.trace += self._simulation.take_trace()
        decisions = self._simulation.take_decisions()
        self.decisions += decisions
        self.lanes |= self._simulation.take_queue_places()
        return decisions

    @property
    def worth_storing(self) -> bool:
        """Whether outputs are collected, or MAX_INPUTS inputs."""
        return bool(self.trace or self.decisions or self.lanes) or len(self._inputs) >= MAX_INPUTS

    def entry(self, changes: int, now: Micros) -> Entry:
        """Return the journal entry for a commit of ``changes`` objects with the collected outputs."""
        return Entry(now=now, began=self._began, inputs=self._inputs, changes=changes, lanes=self.lanes)

    def stored(self) -> None:
        """Clear inputs and outputs, after the commit was stored."""
        self._began = None
        self._inputs = []
        self.trace, self.decisions, self.lanes = [], [], {}

    def _receive(self, now: Micros, *, at_once: bool) -> None:
        self._received = now
        while at_once and self.take_in():
            pass
