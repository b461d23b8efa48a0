"""A whole simulated cluster in memory, which the tests of the simulation control."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from simulator.api import SECOND, Change, Manifest, Micros, WatchEvent
from simulator.apiserver.admission import Entry, admit
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.new_cluster import bootstrap
from simulator.apiserver.resources import PODS
from simulator.apiserver.server import ApiServer
from simulator.decision import Decision
from simulator.framework.extender import Transport
from simulator.framework.interface import Plugin
from simulator.memory import MemoryStorage
from simulator.simulation import Options, Simulation
from simulator.trace import Event, QueueMoved, QueuePlace

START: Micros = 1_735_689_600 * SECOND
MAX_STEPS = 20_000
"""More steps than any of these tests needs. More steps mean an endless loop."""

E = TypeVar("E", bound=Event)


class Lab:
    """``api`` may be one that an earlier lab left behind: a worker takes over what another one led."""

    def __init__(
        self,
        options: Options | None = None,
        api: MemoryStorage | None = None,
        now: Micros = START,
        plugins: Mapping[str, type[Plugin]] | None = None,
        transport: Transport | None = None,
        *,
        by_point: bool = False,
    ) -> None:
        self.now = now
        self.by_point = by_point
        self.wall: int | None = None
        self.trace: list[Event] = []
        self.decisions: list[Decision] = []
        self.lanes: dict[str, QueuePlace] = {}
        self.api = api or MemoryStorage()
        if api is None:
            self.api.commit(bootstrap(START))
        self.api.take_events()
        self.simulation = Simulation(
            self.api, ApiServer, options or Options(), plugins=plugins, transport=transport
        )
        listed = [
            WatchEvent("ADDED", resource, key, manifest, int(manifest["metadata"]["resourceVersion"]))
            for resource, objects in self.api.objects.items()
            for key, manifest in objects.items()
        ]
        self.simulation.observe(sorted(listed, key=lambda event: event.version))

    # Acts of users

    def create(self, *manifests: Manifest, entry: Entry = "page") -> None:
        """Create all of them in one commit, at this moment."""
        source = f"lab/{self.api.version}"
        admission = admit(manifests, self.api, self.now, source=source, entry=entry)
        self.api.commit(admission.changes)
        self.simulation.observe(self.api.take_events(), self.wall)

    def update(self, resource: str, key: str, change: Callable[[Manifest], Manifest]) -> None:
        manifest = self.api.objects[resource][key]
        self.api.commit([Change(resource, key, change(manifest))])
        self.simulation.observe(self.api.take_events(), self.wall)

    def delete(self, resource: str, key: str) -> None:
        self.api.commit([Change(resource, key, None)])
        self.simulation.observe(self.api.take_events(), self.wall)

    def delete_pod(self, name: str) -> None:
        """As ``kubectl delete pod`` does: with the pod's grace period."""
        change = admit_delete(PODS, self.pod(name), self.now)
        if change is not None:
            self.api.commit([Change(change.resource, change.key, change.object)])
        self.simulation.observe(self.api.take_events(), self.wall)

    # Time

    def run(self, seconds: float = 3600) -> "Lab":
        """Let this much time pass, and do all work that is due."""
        end = self.now + round(seconds * SECOND)
        for _ in range(MAX_STEPS):
            if self.simulation.step(self.now, by_point=self.by_point):
                self.collect()
                continue
            due = self.simulation.next_due()
            if due is None or due > end:
                self.now = end
                return self
            self.now = max(self.now, due)
        raise AssertionError("the simulation goes round in circles")

    def collect(self) -> None:
        """Take the simulation's trace and decisions, and let it observe what was written."""
        self.trace += self.simulation.take_trace()
        self.decisions += self.simulation.take_decisions()
        for key, entry in self.simulation.take_queue_places().items():
            if entry is None:
                del self.lanes[key]
            else:
                self.lanes[key] = entry
        self.simulation.observe(self.api.take_events(), self.wall)

    # Results

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind, in order."""
        return [event for event in self.trace if isinstance(event, kind)]

    def moves(self, name: str) -> list[tuple[str, str, str]]:
        """A pod's moves through the queue: source, target, cause."""
        return [(e.source, e.target, e.event) for e in self.of(QueueMoved) if e.pod == f"default/{name}"]

    def seconds(self, event: Event) -> float:
        return (event.t - START) / SECOND

    def exists(self, name: str) -> bool:
        return f"default/{name}" in self.api.objects.get("pods", {})

    def pod(self, name: str) -> Manifest:
        return self.api.objects["pods"][f"default/{name}"]

    def node_of(self, name: str) -> str:
        node: str = self.pod(name)["spec"].get("nodeName", "")
        return node

    def condition(self, name: str, kind: str) -> Manifest:
        conditions = {c["type"]: c for c in self.pod(name)["status"].get("conditions", ())}
        found: Manifest = conditions.get(kind, {})
        return found

    def lane(self, name: str) -> str | None:
        entry = self.lanes.get(f"default/{name}")
        return entry.lane if entry else None


def node(name: str, cpu: str = "4", **spec: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "spec": spec,
        "status": {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}},
    }


def pod(name: str, cpu: str = "1", *, annotations: dict[str, str] | None = None, **spec: Any) -> Manifest:
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}, "annotations": annotations or {}},
        "spec": {"containers": [container], **spec},
    }


def priority_class(name: str, value: int) -> Manifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }
