"""The workloads of pod groups for measuring throughput: gangs of 16 pods, and the same pods without a group.

Only the scheduling cycles are measured, from the popped pod to the assumed pods, in a Simulation without
controllers and records."""

import gc
import time
from collections.abc import Callable
from typing import Final

from simulator import trace
from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.server import ApiServer
from simulator.harness.workloads import make_node, make_pod
from simulator.memory import MemoryStorage
from simulator.objects.pod_group import POD_GROUPS
from simulator.simulation import Options, Simulation
from simulator.versions.feature_gates import GANG_GATES

SIZE: Final = 16
"""Number of pods of a gang."""
PLACEMENTS: Final = 50
GROUPS: Final = 12
"""Gangs that are measured."""
WARM_UP: Final = 2
START: Final[Micros] = 1_735_689_600 * SECOND
GANGS: Final = {"gang": True, "gang-placements": True, "gang-single": False}
"""The workloads: gangs, gangs that are tried in PLACEMENTS placements, and their pods without a group."""
_GATES: Final = dict.fromkeys(GANG_GATES, True)


def measure_gangs(name: str, node_count: int) -> list[float]:
    """Return the seconds of process time of each gang's cycle, or of the cycles of as many single pods."""
    cluster = _GangCluster(node_count, divided=name == "gang-placements")
    for i in range(WARM_UP):
        cluster.add_gang(i, grouped=GANGS[name])
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    return [cluster.add_gang(WARM_UP + i, grouped=GANGS[name]) for i in range(GROUPS)]


class _GangCluster:
    def __init__(self, node_count: int, *, divided: bool) -> None:
        """``divided``: gangs are tried in each of PLACEMENTS racks."""
        self._divided = divided
        gates = {**_GATES, "TopologyAwareWorkloadScheduling": True} if divided else _GATES
        self._api = MemoryStorage()
        options = Options(kubernetes="v1.36", feature_gates=gates, controllers=False)
        self._simulation = Simulation(self._api, ApiServer, options)
        self._simulation.make_no_decisions()
        self._now = START
        for i in range(node_count):
            node = {"apiVersion": "v1", "kind": "Node", **make_node(i)}
            node["metadata"]["labels"]["rack"] = f"rack-{i % PLACEMENTS}"
            self._write("nodes", node)

    def _write(self, resource: str, manifest: Manifest) -> None:
        self._api.commit([ApiServer.create_by_component(resource, manifest)])

    def add_gang(self, number: int, *, grouped: bool) -> float:
        group = f"gang-{number}"
        if grouped:
            self._write(POD_GROUPS, self._pod_group(group))
        for i in range(SIZE):
            pod = make_pod(f"{group}-{i}")
            if grouped:
                pod["spec"]["schedulingGroup"] = {"podGroupName": group}
            self._write("pods", {"apiVersion": "v1", "kind": "Pod", **pod, "status": {}})
        self._now += SECOND
        ends = trace.PodGroupCycleEnded if grouped else trace.CycleStarted
        return self._run(lambda event: isinstance(event, ends))

    def _pod_group(self, name: str) -> Manifest:
        spec: Manifest = {"schedulingPolicy": {"gang": {"minCount": SIZE}}}
        if self._divided:
            spec["schedulingConstraints"] = {"topology": [{"key": "rack"}]}
        metadata = {"name": name, "namespace": "default"}
        return {
            "apiVersion": "scheduling.k8s.io/v1alpha2",
            "kind": "PodGroup",
            "metadata": metadata,
            "spec": spec,
        }

    def _run(self, marks: Callable[[trace.Event], bool]) -> float:
        """Run until nothing is due. Return the seconds of the steps that are cycles, by an event that each
        of them has."""
        simulation, seconds = self._simulation, 0.0
        while True:
            simulation.observe(self._api.take_events())
            start = time.process_time()
            done = simulation.step(self._now)
            end = time.process_time()
            if any(map(marks, simulation.take_trace())):
                seconds += end - start
            if not done:
                return seconds
