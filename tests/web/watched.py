"""A sandbox in memory, and the picture that a hub keeps of it."""

from collections.abc import Iterator

from schedviz.web.picture.picture import WATCHED, Picture
from simulator.api import Change, Manifest, Micros
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.server import ApiServer
from simulator.commands.run import START
from simulator.memory import MemoryStorage
from simulator.scenario import DEFAULT_PACE
from simulator.simulation import Options, Simulation
from simulator.trace import Event


class Watched:
    """A sandbox in memory, and the picture of it that a hub keeps."""

    def __init__(self, nodes: int, cpu: str = "64") -> None:
        self.api = MemoryStorage()
        self.api.commit(new_cluster([node(number, cpu) for number in range(nodes)], START))
        self.simulation = Simulation(self.api, ApiServer, Options(pace=DEFAULT_PACE))
        self.picture = Picture()
        self.picture.leader = "worker-1"
        self.now = START
        self._take_in([])

    def create(self, name: str, cpu: str = "500m", priority: int = 0) -> None:
        manifest = pod(name, cpu, priority)
        manifest["metadata"]["uid"] = f"00000000-0000-4000-8000-{name:0>12}"
        self.api.commit([Change("pods", f"default/{name}", manifest, 0)])

    def until(self, end: Micros) -> Iterator[list[Event]]:
        """Yield the trace events of each moment, with the picture at that moment."""
        while self.now <= end:
            happened: list[Event] = []
            while self.simulation.step(self.now):
                self._take_in(happened)
            self._take_in(happened)
            yield happened
            due = self.simulation.next_due()
            self.now = end + 1 if due is None else max(due, self.now + 1)
        self.now = end

    def _take_in(self, happened: list[Event]) -> None:
        events = self.api.take_events()
        self.simulation.observe(events)
        for event in events:
            if event.resource in WATCHED:
                self.picture.watch_event(event)
        for trace_event in self.simulation.take_trace():
            happened.append(trace_event)
            self.picture.trace_event(self.picture.seq + 1, trace_event)
        moved = self.simulation.take_queue_places()
        lanes = {**self.picture.queue_places, **moved}
        self.picture.queue_places = {key: entry for key, entry in lanes.items() if entry is not None}
        self.picture.moves += len(moved)
        for decision in self.simulation.take_decisions():
            self.picture.decided(decision)
        self.picture.under_way = self.simulation.under_way
        self.picture.pipeline = self.simulation.pipeline()


def node(number: int, cpu: str) -> Manifest:
    resources = {"cpu": cpu, "memory": "256Gi", "pods": "250"}
    labels = {
        "topology.kubernetes.io/zone": f"zone-{'abc'[number % 3]}",
        "kubernetes.io/hostname": f"node-{number}",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"node-{number}", "labels": labels},
        "status": {"allocatable": resources, "capacity": resources},
    }


def pod(name: str, cpu: str, priority: int) -> Manifest:
    requests = {"cpu": cpu, "memory": "1Gi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "priority": priority,
            "containers": [{"name": "main", "image": "app", "resources": {"requests": requests}}],
        },
        "status": {"phase": "Pending"},
    }
