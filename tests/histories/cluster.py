"""A cluster in memory, led in the way in which a worker leads a sandbox; all that comes out of it is kept as
lines.

The lines are JSON, each with its ``kind``:

- Recording, Snapshot, Write, Entry: those of :mod:`simulator.recording`, so that a history can be replayed;
- Event, Decision: the trace and the decisions of the Entry before;
- Operation: what is done next, by people or to the leader;
- State: what the Simulation says of itself, where that changed;
- UnderWay: the cycle that stands between two extension points, where that changed;
- Pipeline: what came in by the informer up to the end of an operation;
- Refused: a request that admission refused.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from simulator.api import SECOND, ApiError, Change, Manifest, Micros, WatchEvent, bare
from simulator.apiserver.admission import admit
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.new_cluster import bootstrap
from simulator.apiserver.resources import find_by_kind
from simulator.apiserver.served_features import serving
from simulator.apiserver.server import ApiServer
from simulator.apiserver.status import StatusError
from simulator.decision import UnderWay
from simulator.decision_columns import plain_encoder
from simulator.framework.extender import Transport
from simulator.memory import MemoryStorage
from simulator.recording import Entry, LeaderTerm, Recording, Snapshot, TermStart, Write
from simulator.simulation import Options, Simulation
from simulator.trace import AnyEvent, CycleCutOff, LeaderElected, SchedulerConfigured

START: Micros = 1_735_689_600 * SECOND
MAX_STEPS = 20_000
"""More steps than any operation needs. More steps mean an endless loop."""


class Cluster:
    """It is the :class:`simulator.api.Storage` of its Simulation.

    What others write (:meth:`write` and what uses it) reaches the Simulation with the next :meth:`observe`;
    what it wrote itself does before its next step."""

    def __init__(
        self, options: Options, changes: Sequence[Change] = (), *, transport: Transport | None = None
    ) -> None:
        """``changes`` are committed before the first leader begins."""
        self.lines: list[bytes] = []
        self.now = START
        self.options = options
        self.full = False
        """Whether the API server has no room for what the Simulation would create."""
        self._api = MemoryStorage()
        self._transport = transport
        self._unseen: list[WatchEvent] = []
        self._operations = self._epoch = self._seq = self._cycle = 0
        self._state: Manifest = {}
        self._under_way: UnderWay | None = None
        self._pipeline: Any = None
        self._line("", Recording("history"))
        self._line("", Snapshot(0, 0))
        self.write(*(changes or bootstrap(START)))
        self.elect()

    # Reads

    def objects(self, resource: str) -> dict[str, Manifest]:
        return self._api.objects.get(resource, {})

    @property
    def in_cycle(self) -> bool:
        return self._simulation.in_cycle

    # Writes of others

    def operation(self, what: str) -> None:
        """Name what is done next."""
        self._end_operation()
        self._operations += 1
        self._line("Operation", {"number": self._operations, "now": self.now, "what": what})

    def create(self, *manifests: Manifest) -> None:
        """Through admission, all or none."""
        source = f"history/{self._operations}"
        try:
            with serving(self.options.features()):
                admitted = admit(manifests, self._api, self.now, source=source)
            self.write(*admitted.changes)
        except (StatusError, ApiError) as refusal:
            self._line("Refused", {"message": str(refusal)})

    def change(self, resource: str, key: str, changed: Callable[[Manifest], Manifest]) -> None:
        self.write(Change(resource, key, changed(self.objects(resource)[key])))

    def delete(self, resource: str, key: str, **options: Any) -> None:
        """As the API server deletes: with a pod's grace period, and with finalizers."""
        old = self.objects(resource)[key]
        kind = find_by_kind(old["apiVersion"], old["kind"])
        assert kind, f"{old['kind']} is not known"
        change = admit_delete(kind, old, self.now, **options)
        if change is not None:
            self.write(change)

    def write(self, *changes: Change) -> None:
        self._api.commit(changes)
        self._note_writes()

    # Leaders

    def elect(self) -> None:
        """A new leader begins with what is stored. The memory of its predecessor is lost."""
        self._epoch += 1
        events: list[AnyEvent] = [LeaderElected(t=self.now, holder="leader", epoch=self._epoch)]
        if self._under_way:
            lost = self._under_way
            events.append(CycleCutOff(t=self.now, cycle=lost.cycle, pod=lost.pod, point=lost.point))
        options = replace(self.options, first_cycle=self._cycle + 1)
        self._simulation = Simulation(self, ApiServer, options, transport=self._transport)
        self._term = LeaderTerm(self._simulation, TermStart(options, events))
        self.relist()

    def configure(self, options: Options) -> None:
        """The leader ends, and the next one runs with these."""
        self.options = options
        ended = SchedulerConfigured(t=self.now, fields=["profiles"])
        self._seq += 1
        entry = Entry(now=self.now, ended=ended, version=self._api.version, seq=self._seq, cycle=self._cycle)
        self._line("", entry)
        self._line("Event", ended, seq=self._seq)
        self.elect()

    def relist(self) -> None:
        """The watch is interrupted, and everything is listed again."""
        self._unseen.clear()
        listed = [
            WatchEvent("ADDED", resource, key, manifest, int(manifest["metadata"]["resourceVersion"]))
            for resource, objects in self._api.objects.items()
            for key, manifest in objects.items()
        ]
        listed.sort(key=lambda event: event.version)
        self._term.relist(listed, self._api.version, self.now)
        self._after()

    def observe(self) -> bool:
        """Let the Simulation observe what was written. Returns whether there was anything."""
        events, self._unseen = self._unseen, []
        if not events:
            return False
        self._term.observe(events, self.now)
        self._after()
        return True

    # Time

    def step(self, *, by_point: bool = False) -> bool:
        """Do one step of work that is due. Returns whether there was one."""
        if not self._term.step(self.now, by_point=by_point):
            return False
        self._after()
        return True

    def run(self, seconds: float, *, by_point: bool = False) -> None:
        """Let this much time pass, and do all work when it is due."""
        end = self.now + round(seconds * SECOND)
        for _ in range(MAX_STEPS):
            if self.step(by_point=by_point) or self.observe():
                continue
            due = self._simulation.next_due()
            if due is None or due > end:
                self.now = end
                return
            self.now = max(self.now, due)
        raise AssertionError("the simulation goes round in circles")

    def run_late(self, seconds: float) -> None:
        """Let this much time pass at once. Work that was due meanwhile is done after it."""
        self.now += round(seconds * SECOND)
        for _ in range(MAX_STEPS):
            if not (self.step() or self.observe()):
                return
        raise AssertionError("the simulation goes round in circles")

    def end(self) -> list[bytes]:
        """All the lines."""
        self._end_operation()
        return self.lines

    # What the Simulation writes

    def commit(self, changes: Sequence[Change]) -> list[int]:
        """See :class:`simulator.api.Storage`."""
        self._collect()
        try:
            created = next((change for change in changes if change.expected == 0), None)
            if self.full and created is not None:
                raise ApiError("TooManyRequests", created.resource, created.key)
            versions = self._api.commit(changes)
        except ApiError as refusal:
            self._term.refused(refusal)
            raise
        self._note_writes()
        self._wrote = True
        self._store(len(changes))
        return versions

    _wrote = False
    """Whether the Simulation has written something that it has not observed yet."""

    def _note_writes(self) -> None:
        events = self._api.take_events()
        for event in events:
            write = Write(event.version, event.type, event.resource, event.key, bare(event.object))
            self._line("", write)
        self._unseen += events

    def _after(self) -> None:
        """Store the output, and let the Simulation observe its own writes."""
        self._collect()
        if self._term.worth_storing:
            self._store(0)
        self._note_state()
        if self._wrote:
            self._wrote = False
            self.observe()

    def _collect(self) -> None:
        decisions = self._term.collect()
        if decisions:
            self._cycle = decisions[-1].cycle

    def _store(self, changes: int) -> None:
        term = self._term
        first, self._seq = self._seq + 1, self._seq + len(term.trace)
        entry = term.entry(changes, self.now)
        self._line("", replace(entry, version=self._api.version, seq=self._seq, cycle=self._cycle))
        for seq, event in enumerate(term.trace, start=first):
            self._line("Event", event, seq=seq)
        for decision in term.decisions:
            self._line("Decision", decision)
        term.stored()

    def _note_state(self) -> None:
        simulation = self._simulation
        state = {
            "now": simulation.now,
            "due": simulation.next_due(),
            "cycles": simulation.cycles,
            "inCycle": simulation.in_cycle,
            "rests": simulation.rests,
            "nothingPending": simulation.nothing_pending,
        }
        if state != self._state:
            self._state = state
            self._line("State", state)
        under_way = simulation.under_way
        if under_way != self._under_way:
            self._under_way = under_way
            self._line("UnderWay", under_way)

    def _end_operation(self) -> None:
        pipeline = self._simulation.pipeline()
        if pipeline != self._pipeline:
            self._pipeline = pipeline
            self._line("Pipeline", pipeline)

    def _line(self, kind: str, record: Any, **fields: int) -> None:
        """``kind`` "": the record has one."""
        body = plain_encoder.encode({} if record is None else record)
        if kind:
            head = msgspec.json.encode({"kind": kind, **fields})
            body = head if body == b"{}" else head[:-1] + b"," + body[1:]
        self.lines.append(body)
