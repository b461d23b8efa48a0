"""A lesson's sandbox without a store and without time that passes: the simulator plays the actions of
solutions and wrong answers."""

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from schedviz.lessons.action_rules import split_target
from schedviz.lessons.catalogue import scenario_of
from schedviz.lessons.lesson import Action, Lesson, Run
from schedviz.lessons.read_cluster import START
from schedviz.store import Listing, Meta
from simulator.api import SECOND, ApiError, Change, Manifest, Micros, WatchEvent
from simulator.apiserver.admission import admit, new_cluster, resource_of
from simulator.apiserver.deletion import admit_delete, deletion_changes
from simulator.apiserver.patches.merge_patch import apply_merge_patch
from simulator.apiserver.status import AlreadyExists, NotFound
from simulator.apiserver.update import admit_update
from simulator.decision import Decision
from simulator.memory import MemoryApi
from simulator.objects.metadata import key_of
from simulator.simulation import Options, Simulation
from simulator.trace import Event, LaneEntry, SchedulerConfigured

STEPS_AT_MOST: Final = 100_000
"""Steps of the Simulation in one run: a cluster in which more happens is not one of a lesson."""


class NotReached(Exception):
    """A run ended before its condition held. The message is one line."""


class OfflineSandbox:
    """It has the methods of a sandbox that a :class:`~schedviz.lessons.situation.Situation` reads."""

    def __init__(self, lesson: Lesson, created: float = START / SECOND, seed: int | None = None) -> None:
        """created: ``Meta.created``, with which simulated time begins. seed: None = the lesson's."""
        cluster, start = lesson.cluster, int(created) * SECOND
        self._meta = Meta(
            name=lesson.name,
            scenario=scenario_of(lesson),
            created=created,
            seed=cluster.seed if seed is None else seed,
            pace=cluster.pace,
            config=cluster.config,
            queue=cluster.queue,
        )
        self._api = MemoryApi()
        self._api.commit(new_cluster(cluster.manifests, start))
        self._now: Micros = start
        self._edits = 0
        self._lanes: dict[str, LaneEntry] = {}
        self._trace: list[tuple[int, Event]] = []
        self._decisions: dict[int, Decision] = {}
        self._simulation = self._elect()

    # What a Situation reads

    def meta(self) -> Meta:
        return self._meta

    def now(self) -> Micros:
        return self._now

    def edits(self) -> int:
        return self._edits

    def get(self, resource: str, key: str) -> Manifest | None:
        return self._api.get(resource, key)

    def list(self, resource: str) -> Listing:
        found = self._api.objects.get(resource, {})
        return Listing([found[key] for key in sorted(found)], self._api.version)

    def queue(self) -> tuple[Mapping[str, LaneEntry], int]:
        return self._lanes, 0

    def trace_tail(self, count: int) -> Sequence[tuple[int, Event]]:
        return self._trace[-count:]

    def decision(self, cycle: int) -> Decision | None:
        return self._decisions.get(cycle)

    def list_all(self) -> dict[str, dict[str, Manifest]]:
        """Every object as resource -> key -> manifest."""
        return self._api.objects

    def last_cycle(self) -> int:
        return max(self._decisions, default=0)

    # Actions

    def play(self, action: Action, after_step: Callable[[], object] = lambda: None) -> None:
        """Play an action; a guess does nothing here. ``after_step`` is called after each change of the
        sandbox. Raises StatusError if the API refuses the action, NotReached."""
        if action.create is not None:
            source = f"{self._meta.name}/{self._api.version}"
            self._write(admit([action.create], self, self._now, source=source).changes)
        elif action.apply is not None:
            self._apply(action.apply)
        elif action.delete:
            resource, key = split_target(action.delete)
            old = self._existing(resource.id, key)
            deletion = admit_delete(resource, old, self._now)
            self._write(deletion_changes(resource, old, deletion, self._now) if deletion else [])
        elif action.scheduler is not None:
            self._configure(action.scheduler)
        after_step()
        if action.run is not None:
            self._run(action.run, after_step)

    def _apply(self, changes: Manifest) -> None:
        resource = resource_of(changes, self)
        metadata = changes["metadata"]
        old = self._existing(
            resource.id, resource.key(metadata.get("namespace", "default"), metadata["name"])
        )
        self._write(admit_update(resource, old, apply_merge_patch(old, changes), self).changes)

    def _existing(self, resource: str, key: str) -> Manifest:
        found = self.get(resource, key)
        if found is None:
            raise NotFound(resource, key.rpartition("/")[2])
        return found

    def _write(self, changes: builtins.list[Change]) -> None:
        try:
            self._api.commit(changes)
        except ApiError as error:  # the other reasons are found before
            raise AlreadyExists(error.resource, error.key.rpartition("/")[2]) from None
        self._edits += len({(change.resource, change.key) for change in changes})
        self._simulation.observe(self._api.take_events())
        # A paused leader takes in what was written, too.
        while self._simulation.take_in(self._now):
            pass
        self._take_outputs()

    def _configure(self, configuration: Manifest) -> None:
        self._meta = replace(self._meta, config=configuration)
        self._note([SchedulerConfigured(t=self._now, fields=[])])
        self._lanes = {}
        self._simulation = self._elect()

    def _elect(self) -> Simulation:
        """A new Simulation with all objects."""
        meta = self._meta
        options = Options(
            seed=meta.seed,
            pace=meta.pace,
            config=meta.config,
            first_cycle=self.last_cycle() + 1,
            queue=meta.queue,
            stands_down=True if meta.stands_down else UNSET,
        )
        simulation = Simulation(self._api, options)
        self._api.take_events()
        simulation.relist([*self._listed()], self._api.version)
        return simulation

    def _listed(self) -> Iterator[WatchEvent]:
        found = [
            (int(manifest["metadata"]["resourceVersion"]), resource, manifest)
            for resource, objects in self._api.objects.items()
            for manifest in objects.values()
        ]
        for version, resource, manifest in sorted(found, key=lambda each: each[0]):
            yield WatchEvent("ADDED", resource, key_of(manifest), manifest, version)

    def _run(self, run: Run, after_step: Callable[[], object]) -> None:
        end = self._now + round(run.seconds * SECOND)
        pod = run.until.removeprefix("bound ") if run.until not in ("", "idle") else ""
        key = pod if "/" in pod else f"default/{pod}"
        for _ in range(STEPS_AT_MOST):
            if pod and self._simulation.is_bound(key):
                return
            due = self._simulation.next_due()
            if due is None or due > end:
                break
            self._now = max(self._now, due)
            self._simulation.step(self._now)
            self._simulation.observe(self._api.take_events())
            self._take_outputs()
            after_step()
        else:
            raise NotReached(f"more than {STEPS_AT_MOST:,} steps in {run.seconds:g} s")
        if pod:
            raise NotReached(f"{pod} is not bound after {run.seconds:g} s")
        if run.until == "":
            self._now = end
            after_step()

    def _take_outputs(self) -> None:
        self._note(self._simulation.take_trace())
        self._decisions |= {decision.cycle: decision for decision in self._simulation.take_decisions()}
        for pod, entry in self._simulation.take_lanes().items():
            if entry is None:
                self._lanes.pop(pod, None)
            else:
                self._lanes[pod] = entry

    def _note(self, events: Sequence[Event]) -> None:
        first = len(self._trace) + 1
        self._trace += enumerate(events, first)
