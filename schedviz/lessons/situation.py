"""The variables of a lesson's conditions: the state of a sandbox with its trace, under the names of
docs/LESSONS.md."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol

import msgspec

from schedviz.lessons.conditions import OBJECT_BYTES, OBJECTS_AT_MOST, Condition, Values
from schedviz.lessons.progress import Progress
from schedviz.store import Clock, Listing, Meta
from schedviz.store.changes import TRACE_READ
from simulator.api import SECOND, Manifest, Micros
from simulator.decision import Decision
from simulator.trace import CycleStarted, Event, QueuePlace, SchedulerConfigured, VictimDeleted

OBJECTS: Final = {
    "pods": "pods",
    "nodes": "nodes",
    "priorityclasses": "priorityclasses.scheduling.k8s.io",
    "poddisruptionbudgets": "poddisruptionbudgets.policy",
    "deployments": "deployments.apps",
    "jobs": "jobs.batch",
}
"""Variable -> resource. At most OBJECTS_AT_MOST objects of each are shown, none of more than OBJECT_BYTES."""
KINDS: Final = {
    "pods": "Pod",
    "nodes": "Node",
    "priorityclasses": "PriorityClass",
    "poddisruptionbudgets": "PodDisruptionBudget",
    "deployments": "Deployment",
    "jobs": "Job",
}
"""Variable -> kind of its objects."""
_TIMES: Final = ("backoff_until", "restart_at", "until")
"""The fields of trace events, besides ``t``, that are simulated times."""
_GOES_ON: Final = ("activeQ", "backoffQ", "inFlight")
"""The lanes that a pod leaves when time goes on, without an event."""


class Source(Protocol):
    """The source of a Situation: a :class:`schedviz.cache.Present`, a :class:`schedviz.store.Sandbox`, or
    the simulator (:mod:`schedviz.lessons.offline`)."""

    def meta(self) -> Meta: ...
    def now(self) -> Micros: ...
    def clock(self) -> Clock: ...
    def list(self, resource: str) -> Listing: ...
    def queue(self) -> tuple[Mapping[str, QueuePlace], int]: ...
    def trace_tail(self, count: int) -> Sequence[tuple[int, Event]]: ...
    def decision(self, cycle: int) -> Decision | None: ...
    def edits(self) -> int:
        """Return the number of objects that others than the leader wrote. The store counts them: in
        commit.lua, commits of the leader carry its lease. The simulator's source counts the actions."""
        ...


class Situation:
    """The values of the variables, each computed when it is first read. To be used by one thread."""

    def __init__(self, source: Source, guesses: Mapping[str, Sequence[str]]) -> None:
        """guesses: the chosen ids by the id of the step."""
        self._source = source
        self._start: Micros = int(source.meta().created) * SECOND
        self.guesses = {step: [*picks] for step, picks in guesses.items()}

    def holds(self, wanted: Condition) -> bool:
        return wanted.holds(self.values([wanted]))

    def values(self, conditions: Iterable[Condition]) -> Values:
        """Return the values that these conditions read, to evaluate them one after the other."""
        conditions = [*conditions]
        names = {name for each in conditions for name in each.variables}
        values: dict[str, object] = {
            name: self.objects(name) if name in OBJECTS else getattr(self, name) for name in names
        }
        if "evicted" in names and any(each.reads_budgets for each in conditions):
            values["evicted"] = self._evicted_with_budgets
        return Values(values)

    @property
    def seconds(self) -> float:
        """Simulated seconds since the beginning of the lesson."""
        return self._seconds(self._source.now())

    @property
    def edits(self) -> int:
        return self._source.edits()

    @cached_property
    def changes(self) -> int:
        """Number of the edits and of the other configurations that the scheduler was given: what Undo can
        take back."""
        return self.edits + sum(isinstance(event, SchedulerConfigured) for event in self._events)

    @cached_property
    def configuration(self) -> str:
        """The scheduler's configuration, as text."""
        return msgspec.json.encode(self._source.meta().config, order="deterministic").decode()

    @cached_property
    def paused(self) -> bool:
        return self._source.clock().paused

    @cached_property
    def settled(self) -> bool:
        """Whether no pod waits to be tried, or terminates: what has happened shows what the learner's acts
        lead to."""
        return not any(map(self._goes_on, self.objects("pods").values()))

    def _goes_on(self, pod: Manifest) -> bool:
        metadata, spec = pod["metadata"], pod["spec"]
        if "deletionTimestamp" in metadata or spec.get("nodeName"):
            return "deletionTimestamp" in metadata
        entry = self._queue_places.get(f"{metadata['namespace']}/{metadata['name']}")
        if entry is None:  # it was created a moment ago, or no profile has its name
            return spec.get("schedulerName") in self._profiles
        return entry.lane in _GOES_ON and not entry.retried_since

    @cached_property
    def _profiles(self) -> frozenset[str]:
        """The names of the scheduler's profiles."""
        profiles = (self._source.meta().config or {}).get("profiles") or [{}]
        return frozenset(each.get("schedulerName", "default-scheduler") for each in profiles)

    @cached_property
    def bound(self) -> dict[str, str]:
        """Pod -> node, of each pod that has a node and is not being deleted."""
        return {
            name: node
            for name, pod in self.objects("pods").items()
            if (node := pod["spec"].get("nodeName")) and "deletionTimestamp" not in pod["metadata"]
        }

    @cached_property
    def nominated(self) -> dict[str, str]:
        """Pod -> nominated node, of each pod that has one and is not bound."""
        return {
            name: node
            for name, pod in self.objects("pods").items()
            if (node := pod.get("status", {}).get("nominatedNodeName")) and not pod["spec"].get("nodeName")
        }

    @cached_property
    def waiting(self) -> dict[str, str]:
        """Pod -> its lane in the queue."""
        return {short_name(pod): entry.lane for pod, entry in self._queue_places.items()}

    @cached_property
    def attempts(self) -> dict[str, int]:
        """Pod -> number of its scheduling cycles."""
        counts: dict[str, int] = {}
        for event in self._events:
            if isinstance(event, CycleStarted):
                name = short_name(event.pod)
                counts[name] = counts.get(name, 0) + 1
        return counts

    @cached_property
    def evicted(self) -> list[dict[str, object]]:
        """The victims of preemption, in order, with ``breaks_budget`` false: a condition that reads it gets
        the victims of :attr:`_evicted_with_budgets`."""
        return self._victims(lambda _: False)

    @cached_property
    def trace(self) -> list[dict[str, Any]]:
        return [self._record(event) for event in self._events]

    @cached_property
    def _queue_places(self) -> Mapping[str, QueuePlace]:
        return self._source.queue()[0]

    @cached_property
    def _events(self) -> list[Event]:
        return [event for _, event in self._source.trace_tail(TRACE_READ)]

    @cached_property
    def _listed(self) -> dict[str, dict[str, Manifest]]:
        return {}

    def objects(self, name: str) -> dict[str, Manifest]:
        """Return the objects of a variable, by name."""
        if name not in self._listed:
            items = self._source.list(OBJECTS[name]).items[:OBJECTS_AT_MOST]
            self._listed[name] = {
                _name_of(item["metadata"]): item
                for item in items
                if len(msgspec.json.encode(item)) <= OBJECT_BYTES
            }
        return self._listed[name]

    @cached_property
    def _evicted_with_budgets(self) -> list[dict[str, object]]:
        """The victims, each with its part of the Decision of the preemptor's cycle. A Decision may have
        to be read from the store."""
        return self._victims(self._breaks_budget)

    def _victims(self, breaks_budget: Callable[[VictimDeleted], bool]) -> list[dict[str, object]]:
        return [
            {
                "pod": short_name(event.pod),
                "node": event.node,
                "preemptor": short_name(event.preemptor),
                "breaks_budget": breaks_budget(event),
                "seconds": self._seconds(event.t),
            }
            for event in self._events
            if isinstance(event, VictimDeleted)
        ]

    def _breaks_budget(self, event: VictimDeleted) -> bool:
        if event.cycle not in self._decisions:
            self._decisions[event.cycle] = self._source.decision(event.cycle)
        decision = self._decisions[event.cycle]
        preemption = decision.preemption if decision else None
        return preemption is not None and any(
            victim.violates_pdb
            for candidate in preemption.candidates
            if candidate.node == event.node
            for victim in candidate.victims
            if victim.pod == event.pod
        )

    @cached_property
    def _decisions(self) -> dict[int, Decision | None]:
        return {}

    def _record(self, event: Event) -> dict[str, Any]:
        """Return a trace event as conditions see it."""
        record: dict[str, Any] = msgspec.to_builtins(event)
        record["seconds"] = self._seconds(record.pop("t"))
        for field in _TIMES:
            if record.get(field) is not None:
                record[field] = self._seconds(record[field])
        for field in ("pod", "preemptor"):
            if field in record:
                record[field] = short_name(record[field])
        if "victims" in record:
            record["victims"] = [short_name(victim) for victim in record["victims"]]
        return record

    def _seconds(self, time: Micros) -> float:
        return (time - self._start) / SECOND


def situation_of(source: Source, progress: Progress) -> Situation:
    """Return the variables of the lesson's conditions for a sandbox."""
    return Situation(source, {step: guess.picks for step, guess in progress.guesses.items()})


def short_name(key: str) -> str:
    """Return the name of a pod in conditions: ``web`` for ``default/web``."""
    return key.removeprefix("default/")


def _name_of(metadata: Manifest) -> str:
    namespace = metadata.get("namespace", "default")
    name: str = metadata["name"]
    return name if namespace == "default" else f"{namespace}/{name}"
