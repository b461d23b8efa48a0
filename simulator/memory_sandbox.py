"""A sandbox in the memory of one process: an API server, the simulator, and time that moves only by its
methods. For lessons that are checked without a server, and for programs (:mod:`schedviz.client`)."""

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import msgspec

from simulator.api import SECOND, Admission, Change, Manifest, Micros, WatchEvent
from simulator.apiserver.admission import resource_of
from simulator.apiserver.commit import Written, write
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.overlay import ObjectList
from simulator.apiserver.patches.json_patch import apply_merge_patch
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.request_options import DeleteOptions, RequestOptions, WriteOptions
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import PODS
from simulator.apiserver.server import ApiServer
from simulator.cluster.cluster import Cluster
from simulator.decision import Decision
from simulator.memory import MemoryStorage
from simulator.objects.metadata import key_of
from simulator.plugins.registry import load
from simulator.queueing.queue_version import QueueVersion
from simulator.scheduler.stepping import Stride, Unit, Until
from simulator.simulation import Options, Simulation
from simulator.trace import Event, QueuePlace, SchedulerConfigured
from simulator.versions.features import DEFAULT_FEATURES, Features

START: Final[Micros] = 1_735_689_600 * SECOND
"""2025-01-01T00:00:00Z, at which simulated time begins where nothing else is asked for."""


class NotReached(Exception):
    """A run ended before its condition held. The message is one line."""


class SandboxOptions(msgspec.Struct, frozen=True):
    name: str
    """The name of the sandbox. UIDs and generated names are computed from it."""
    manifests: Sequence[Manifest] = ()
    """The objects that exist at the start."""
    imported: Sequence[Change] = ()
    """The creations of the objects of a whole cluster, which are not admitted again. The ``manifests`` are
    created after them. Empty = a new cluster."""
    seed: int = 0
    pace: Micros = 0
    config: Manifest | None = None
    """A KubeSchedulerConfiguration; None = the default one."""
    queue: QueueVersion = QueueVersion.KUBERNETES
    start: Micros = START
    features: Features = DEFAULT_FEATURES
    """The version of Kubernetes, with its feature gates."""
    keeps_decisions: bool = True
    """Whether :meth:`MemorySandbox.decision` has the decisions. On large clusters they take most of the
    memory."""


class MemorySandbox:
    """A sandbox in memory, with the methods of a :class:`schedviz.store.Sandbox` that read. The same calls
    give the same trace."""

    steps_at_most: int | None = None
    """The maximum number of steps of the Simulation in one run; None = no bound."""
    stops_at: int | None = None
    """The number of the trace event after which time does not go on; None = none."""

    def __init__(self, options: SandboxOptions) -> None:
        """Raises StatusError for a manifest that admission refuses, ConfigError for a configuration with
        which the scheduler would not start."""
        self.options = options
        self.name = options.name
        self._config = options.config
        self.features = options.features
        self._api = MemoryStorage()
        self._now: Micros = options.start
        if options.imported:
            self._api.commit(options.imported)
            server = ApiServer(self, self.now, options.features)
            self._api.commit(server.create_all(options.manifests, source="new").changes)
        else:
            self._api.commit(new_cluster(options.manifests, options.start, options.features))
        self._edits = 0
        self._queue_places: dict[str, QueuePlace] = {}
        self._trace: list[tuple[int, Event]] = []
        self._decisions: dict[int, Decision] = {}
        self._simulation = self._elect()

    # Reading

    def now(self) -> Micros:
        return self._now

    def version(self) -> int:
        return self._api.version

    def edits(self) -> int:
        """Return the number of objects that were written from outside."""
        return self._edits

    def config(self) -> Manifest | None:
        return self._config

    def get(self, resource: str, key: str) -> Manifest | None:
        return self._api.get(resource, key)

    def list(self, resource: str, namespace: str = "") -> ObjectList:
        found = self._api.objects.get(resource, {})
        return ObjectList.of({key: found[key] for key in sorted(found)}, self._api.version, namespace)

    def find(self, resource: str, key: str) -> ObjectList:
        return self._api.find(resource, key)

    def names(self, resource: str) -> builtins.list[str]:
        return self._api.names(resource)

    def list_all(self) -> dict[str, dict[str, Manifest]]:
        """Return every object as resource -> key -> manifest."""
        return self._api.objects

    def resources(self) -> builtins.list[str]:
        return sorted(self._api.objects)

    def queue(self) -> tuple[Mapping[str, QueuePlace], int]:
        return self._queue_places, 0

    def queue_place(self, pod: str) -> QueuePlace | None:
        return self._queue_places.get(pod)

    def trace_tail(self, count: int) -> Sequence[tuple[int, Event]]:
        return self._trace[-count:] if count else []

    def trace(self, after: int = 0) -> Sequence[tuple[int, Event]]:
        """Return the trace events after a number, which are numbered from 1."""
        return self._trace[after:]

    def decision(self, cycle: int) -> Decision | None:
        return self._decisions.get(cycle)

    def last_cycle(self) -> int:
        return max(self._decisions, default=0)

    def is_bound(self, pod: str) -> bool:
        return self._simulation.is_bound(pod)

    @property
    def cluster(self) -> Cluster:
        """The cluster as the scheduler sees it, for a caller that changes nothing in it."""
        return self._simulation.cluster

    def take_in(self) -> Iterator[None]:
        """Let the components see what was written, and do nothing else. Yields often."""
        while self._simulation.take_in(self._now):
            yield

    # Writing, as :mod:`schedviz.api.write` does. All raise StatusError.

    def create(self, documents: Sequence[Manifest]) -> Sequence[Manifest]:
        """Create the objects of these manifests, all or none, and return them as they were stored."""
        return self._write(lambda server: server.create_all(documents)).objects

    def delete(self, resource: Resource, key: str, *, grace_seconds: int | None = None) -> None:
        place, options = RequestPlace.of(resource, key), DeleteOptions(grace_seconds=grace_seconds)
        self._write(lambda server: server.delete(place, options))

    def evict(self, pod: str) -> None:
        """Delete a pod (``namespace/name``) if its disruption budgets allow it."""
        self._write(lambda server: server.evict(RequestPlace.of(PODS, pod), DeleteOptions()))

    def patch(self, resource: Resource, key: str, changes: Manifest) -> Manifest:
        """Apply a JSON merge patch (RFC 7386) to an object."""
        place, options = RequestPlace.of(resource, key), WriteOptions()
        return self._write(
            lambda server: server.update(place, lambda old: apply_merge_patch(old, changes), options)
        ).object

    def patch_named(self, changes: Manifest) -> Manifest:
        """Patch the object that the changes name by their apiVersion, kind and metadata, as :meth:`patch`
        does."""
        resource = resource_of(changes, self)
        metadata = changes["metadata"]
        key = resource.key(metadata.get("namespace", "default"), metadata["name"])
        return self.patch(resource, key, changes)

    def configure(self, configuration: Manifest | None) -> None:
        """Restart the scheduler with another KubeSchedulerConfiguration. Raises ConfigError."""
        self._restart(configuration, self.features)

    def set_gates(self, gates: Mapping[str, bool]) -> None:
        """Restart the components with these feature gates set, the others at their default. Raises
        FeatureGateError, and ConfigError where the configuration needs a gate."""
        self._restart(self._config, Features(self.features.version, gates))

    def _restart(self, configuration: Manifest | None, features: Features) -> None:
        load(configuration, features=features)
        self._config, self.features = configuration, features
        self._note([SchedulerConfigured(t=self._now, fields=[])])
        self._queue_places = {}
        self._simulation = self._elect()

    # Time

    def run(self, condition: str, after_step: Callable[[], object] = lambda: None) -> None:
        """Let simulated time run until a condition holds (:class:`simulator.scheduler.stepping.Until`), or
        nothing is due any more. ``after_step`` is called after each step of the Simulation. Raises NotReached
        after ``steps_at_most`` steps."""
        for _ in self.steps(condition):
            after_step()

    def steps(self, condition: str) -> Iterator[None]:
        """Do what :meth:`run` does, and yield after each step. A caller may stop between two of them."""
        until, steps = Until(condition), 0
        if until.tries_each:
            self._simulation.try_each(self._now)
        while not until.holds(self._simulation):
            if self._is_stopped():
                return
            due = self._simulation.next_due()
            if due is None:
                break
            if self.steps_at_most is not None and steps >= self.steps_at_most:
                raise NotReached(f"more than {self.steps_at_most:,} steps in one run")
            steps += 1
            self._now = max(self._now, due)
            self._simulation.step(self._now)
            until.saw(self._observe())
            yield
        self.move_to(until.stop_time or self._now)

    def step(self, unit: Unit, count: int = 1) -> None:
        """Take steps, as a user of the page does (:class:`simulator.scheduler.stepping.Stride`)."""
        for _ in range(count):
            stride = Stride(self._simulation, unit, self._now)
            while not self._is_stopped() and (at := stride.next()) is not None:
                self._now = max(self._now, at)
                self._simulation.step(self._now, by_point=stride.by_point)
                self._observe()

    def move_to(self, time: Micros) -> None:
        """Move time forward to where nothing is due before."""
        self._now = max(self._now, time)

    def _is_stopped(self) -> bool:
        return self.stops_at is not None and len(self._trace) >= self.stops_at

    def _write(self, decide: Callable[[ApiServer], Admission]) -> Written:
        written = write(self, decide, RequestOptions())
        self._simulation.observe(self._api.take_events())
        # A paused leader takes in what was written, too.
        for _ in self.take_in():
            pass
        self._take_outputs()
        return written

    # A :class:`simulator.apiserver.commit.ServedStorage`

    def serve(self) -> ApiServer:
        return ApiServer(self, self.now, self.features, lambda: f"{self.name}/{self._api.version}")

    def store(self, admitted: Admission) -> Sequence[int]:
        versions = self._api.commit(admitted.changes)
        self._edits += len({(change.resource, change.key) for change in admitted.changes})
        return versions

    def hold(self) -> AbstractContextManager[object]:
        return nullcontext()

    def _elect(self) -> Simulation:
        """Return a new Simulation with all objects."""
        options = Options(
            seed=self.options.seed,
            pace=self.options.pace,
            config=self._config,
            first_cycle=self.last_cycle() + 1,
            queue=self.options.queue,
            kubernetes=self.features.version.patch,
            feature_gates=self.features.gates,
        )
        simulation = Simulation(self._api, ApiServer, options)
        if not self.options.keeps_decisions:
            simulation.make_no_decisions()
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

    def _observe(self) -> builtins.list[Decision]:
        """Let the Simulation observe its own writes, and take its outputs; the new decisions."""
        self._simulation.observe(self._api.take_events())
        return self._take_outputs()

    def _take_outputs(self) -> builtins.list[Decision]:
        self._note(self._simulation.take_trace())
        decisions = self._simulation.take_decisions()
        self._decisions |= {decision.cycle: decision for decision in decisions}
        for pod, entry in self._simulation.take_queue_places().items():
            if entry is None:
                self._queue_places.pop(pod, None)
            else:
                self._queue_places[pod] = entry
        return decisions

    def _note(self, events: Sequence[Event]) -> None:
        first = len(self._trace) + 1
        self._trace += enumerate(events, first)
