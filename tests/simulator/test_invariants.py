"""Invariants of the simulated cluster after any operations in any order."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from simulator.api import SECOND, ApiError, Change, Manifest
from simulator.memory import MemoryStorage
from simulator.objects import quantity
from simulator.queueing.queue_version import QueueVersion
from simulator.simulation import Options
from simulator.trace import Bound, QueueMoved
from tests import amounts
from tests.simulator.lab import Lab, node, pod, priority_class

pytestmark = pytest.mark.sampled

NODE_CPUS = {"n0": 2, "n1": 3, "n2": 4, "n3": 8}
NAMES = [f"p{i}" for i in range(8)]
CLASSES = {"low": 10, "middle": 100, "high": 1000}
TODAY = Options(seed=3, pace=SECOND // 4)
FIFO = msgspec.structs.replace(TODAY, queue=QueueVersion.FIFO)
V1_10 = msgspec.structs.replace(TODAY, queue=QueueVersion.V1_10)

Operation = tuple[str, tuple[Any, ...]]


class Story:
    """Operations on a lab, which can be replayed."""

    def __init__(self, options: Options, api: MemoryStorage, *, by_point: bool = False) -> None:
        self.options = options
        self.lab = Lab(options, api=api, by_point=by_point)
        self.lab.create(*(priority_class(name, value) for name, value in CLASSES.items()))
        self.operations: list[Operation] = []
        self.trace: list[bytes] = []
        self.places: dict[str, str] = {}

    def perform(self, operation: str, *arguments: Any) -> None:
        self.operations.append((operation, arguments))
        getattr(self, operation)(*arguments)
        self.lab.run(0)
        for found in self.pods():
            if found["spec"].get("nodeName"):
                before = self.places.setdefault(found["metadata"]["uid"], found["spec"]["nodeName"])
                assert before == found["spec"]["nodeName"], "a pod was bound twice"

    def add_node(self, name: str) -> None:
        if name not in self.lab.api.objects.get("nodes", {}):
            self.lab.create(node(name, cpu=str(NODE_CPUS[name])))

    def remove_node(self, name: str) -> None:
        if name in self.lab.api.objects.get("nodes", {}):
            self.lab.delete("nodes", name)

    def cordon(self, name: str, cordoned: bool) -> None:
        if name in self.lab.api.objects.get("nodes", {}):
            self.lab.update("nodes", name, lambda n: {**n, "spec": {**n["spec"], "unschedulable": cordoned}})

    def add_pod(self, name: str, manifest: Manifest) -> None:
        if not self.lab.exists(name):
            self.lab.create(manifest)

    def delete_pod(self, name: str) -> None:
        if self.lab.exists(name):
            self.lab.delete_pod(name)

    def ungate(self, name: str) -> None:
        if self.lab.exists(name):
            spec = {key: v for key, v in self.lab.pod(name)["spec"].items() if key != "schedulingGates"}
            self.lab.update("pods", f"default/{name}", lambda p: {**p, "spec": spec})

    def relabel(self, name: str, label: str) -> None:
        if self.lab.exists(name):
            self.lab.update(
                "pods",
                f"default/{name}",
                lambda p: {**p, "metadata": {**p["metadata"], "labels": {"app": label}}},
            )

    def wait(self, seconds: float) -> None:
        self.lab.run(seconds)

    def take_over(self) -> None:
        """The worker is killed, and a new leader continues from what is stored."""
        self.trace.append(msgspec.json.encode(self.lab.trace))
        self.lab = Lab(self.options, api=self.lab.api, now=self.lab.now, by_point=self.lab.by_point)

    def pods(self) -> list[Manifest]:
        return [*self.lab.api.objects.get("pods", {}).values()]


def cpu(pod: Manifest) -> int:
    [container] = pod["spec"]["containers"]
    return quantity.milli_value(quantity.parse_quantity(container["resources"]["requests"]["cpu"]))


def host_ports(pod: Manifest) -> list[int]:
    return [port["hostPort"] for c in pod["spec"]["containers"] for port in c.get("ports", ())]


@st.composite
def pods(draw: st.DrawFn) -> tuple[str, Manifest]:
    name = draw(st.sampled_from(NAMES))
    spec: dict[str, Any] = {
        "priorityClassName": draw(st.sampled_from([*CLASSES])),
        "terminationGracePeriodSeconds": draw(st.sampled_from([0, 1, 4])),
    }
    if draw(st.integers(0, 5)) == 0:
        spec["schedulingGates"] = [{"name": "example.com/gate"}]
    if draw(st.integers(0, 5)) == 0:
        term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    seconds = draw(st.sampled_from([None, "2", "15"]))
    annotations = {"schedviz/run-seconds": seconds, "schedviz/ttl-seconds-after-finished": "1"}
    made = pod(name, draw(st.sampled_from(["500m", "1", "2", "3"])), **spec)
    made["metadata"]["annotations"] = annotations if seconds else {}
    made["metadata"]["labels"] = {"app": draw(st.sampled_from(["x", "y"]))}
    if draw(st.integers(0, 3)) == 0:
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    return name, made


class Cluster(RuleBasedStateMachine):
    options = TODAY
    api: type[MemoryStorage] = MemoryStorage

    def __init__(self) -> None:
        super().__init__()
        self.story = Story(self.options, self.api())

    @initialize(names=st.sets(st.sampled_from([*NODE_CPUS]), min_size=1))
    def nodes_are_there(self, names: set[str]) -> None:
        for name in sorted(names):
            self.story.perform("add_node", name)

    @rule(made=st.lists(pods(), min_size=1, max_size=4))
    def pods_come(self, made: list[tuple[str, Manifest]]) -> None:
        for name, manifest in made:
            self.story.perform("add_pod", name, manifest)

    @rule(seconds=st.sampled_from([0.1, 0.25, 1, 3, 12, 40]))
    def time_passes(self, seconds: float) -> None:
        self.story.perform("wait", seconds)

    @rule(
        name=st.sampled_from(NAMES),
        happening=st.sampled_from([("delete_pod",), ("ungate",), ("relabel", "x"), ("relabel", "y")]),
    )
    def something_happens_to_a_pod(self, name: str, happening: tuple[str, ...]) -> None:
        operation, *arguments = happening
        self.story.perform(operation, name, *arguments)

    @rule(
        name=st.sampled_from([*NODE_CPUS]),
        happening=st.sampled_from([("add_node",), ("cordon", True), ("cordon", False), ("remove_node",)]),
    )
    def something_happens_to_a_node(self, name: str, happening: tuple[Any, ...]) -> None:
        operation, *arguments = happening
        self.story.perform(operation, name, *arguments)

    @rule(worker=st.integers(0, 3))
    def the_worker_lives_or_dies(self, worker: int) -> None:
        if worker == 0:
            self.story.perform("take_over")

    @invariant()
    def every_pending_pod_is_in_one_lane(self) -> None:
        pending = {
            f"default/{pod['metadata']['name']}": pod["metadata"]["uid"]
            for pod in self.story.pods()
            if not pod["spec"].get("nodeName")
        }
        assert {key: entry.uid for key, entry in self.story.lab.lanes.items()} == pending

    @invariant()
    def no_node_is_over_its_allocatable(self) -> None:
        asked: Counter[str] = Counter()
        ports: Counter[tuple[str, int]] = Counter()
        for found in self.story.pods():
            if found["spec"].get("nodeName") and found["status"]["phase"] != "Succeeded":
                asked[found["spec"]["nodeName"]] += cpu(found)
                ports.update((found["spec"]["nodeName"], port) for port in host_ports(found))
        assert all(asked[name] <= 1000 * cpus for name, cpus in NODE_CPUS.items()), asked
        assert all(users == 1 for users in ports.values()), ports

    @invariant()
    def every_move_starts_where_the_last_one_ended(self) -> None:
        places: dict[str, str] = {}
        for move in self.story.lab.of(QueueMoved):
            assert move.source == places.get(move.pod, ""), move
            assert move.source != move.target, move
            places[move.pod] = move.target
        lanes = {key: entry.lane for key, entry in self.story.lab.lanes.items()}
        assert {pod: place for pod, place in places.items() if place} == lanes

    @invariant()
    def every_binding_is_in_the_trace_once(self) -> None:
        bound = Counter((event.pod, event.cycle) for event in self.story.lab.of(Bound))
        assert not bound or max(bound.values()) == 1

    def teardown(self) -> None:
        """The replay of the operations, with a step for each extension point, gives the same trace."""
        again = Story(self.options, self.api(), by_point=True)
        for operation, arguments in self.story.operations:
            again.perform(operation, *arguments)
        assert again.trace == self.story.trace
        assert msgspec.json.encode(again.lab.trace) == msgspec.json.encode(self.story.lab.trace)


class ContestedApi(MemoryStorage):
    """Every third write of a pod is a conflict with another write, and every ninth finds the pod deleted."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0

    def commit(self, changes: Sequence[Change]) -> list[int]:
        [change, *others] = changes
        current = self.get(change.resource, change.key)
        if change.resource == "pods" and change.expected and not others and current is not None:
            self.writes += 1
            if self.writes % 9 == 0 and not current["spec"].get("nodeName"):
                super().commit([Change("pods", change.key, None)])
            elif self.writes % 3 == 0:
                annotations = {**current["metadata"].get("annotations", {}), "writes": str(self.writes)}
                metadata = {**current["metadata"], "annotations": annotations}
                super().commit([Change("pods", change.key, {**current, "metadata": metadata})])
            if self.writes % 3 == 0:
                raise ApiError("Conflict", "pods", change.key)
        return super().commit(changes)


class ContestedCluster(Cluster):
    api = ContestedApi


class ClusterWithFifo(Cluster):
    options = FIFO


class ClusterWithV1_10(Cluster):  # noqa: N801  # the version's own name
    options = V1_10


def examples(number: int) -> settings:
    return settings(
        max_examples=amounts.examples(number),
        stateful_step_count=40,
        deadline=None,
        derandomize=True,
        print_blob=False,
    )


Cluster.TestCase.settings = examples(150)
ContestedCluster.TestCase.settings = examples(50)
ClusterWithFifo.TestCase.settings = ClusterWithV1_10.TestCase.settings = examples(50)
TestAnyOperations = Cluster.TestCase
TestAnyOperationsWithConflicts = ContestedCluster.TestCase
TestAnyOperationsWithFifo = ClusterWithFifo.TestCase
TestAnyOperationsWithQueueOf1_10 = ClusterWithV1_10.TestCase
