"""Watch events made by hand, as those of a real cluster."""

from collections.abc import Sequence
from typing import Any

from simulator.api import SECOND, Manifest, Micros, WatchEvent, versioned
from simulator.memory_sandbox import START
from simulator.objects.metadata import key_of
from simulator.trace import Event
from simulator.verdicts.followed_cluster import HISTORY
from simulator.verdicts.judge import Judge
from simulator.verdicts.judged_scheduler import JudgedScheduler
from simulator.versions.features import DEFAULT_FEATURES

RESOURCES = {"Pod": "pods", "Node": "nodes", "Event": "events"}


class Stream:
    """A cluster of which a judge sees what the test writes, after it was followed for a while."""

    def __init__(self, *manifests: Manifest, scheduler: JudgedScheduler | None = None) -> None:
        self.judge = Judge(scheduler or JudgedScheduler(DEFAULT_FEATURES))
        self.now: Micros = START
        self.version = 0
        self.objects: dict[tuple[str, str], Manifest] = {}
        for manifest in manifests:
            self.write(manifest)
        self.judge.listed()
        self.now += HISTORY

    def write(self, manifest: Manifest) -> list[Event]:
        return self.observe([self.written(manifest)])

    def written(self, manifest: Manifest) -> WatchEvent:
        """The watch event of a write, which the judge has not seen yet."""
        self.version += 1
        resource, key = RESOURCES[manifest["kind"]], key_of(manifest)
        kind = "MODIFIED" if (resource, key) in self.objects else "ADDED"
        self.objects[resource, key] = manifest
        return WatchEvent(kind, resource, key, versioned(manifest, self.version), self.version)  # type: ignore[arg-type]

    def delete(self, resource: str, key: str) -> list[Event]:
        self.version += 1
        last = self.objects.pop((resource, key))
        return self.observe([WatchEvent("DELETED", resource, key, last, self.version)])

    def bind(self, name: str, node: str) -> list[Event]:
        return self.write(self.bound(name, node))

    def bound(self, name: str, node: str) -> Manifest:
        pod = self.pod(name)
        return {**pod, "spec": {**pod["spec"], "nodeName": node}}

    def fail(self, name: str, message: str, **status: Any) -> list[Event]:
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
        }
        return self.write(
            {**self.pod(name), "status": {"phase": "Pending", "conditions": [condition], **status}}
        )

    def pod(self, name: str) -> Manifest:
        return self.objects["pods", f"default/{name}"]

    def observe(self, events: Sequence[WatchEvent]) -> list[Event]:
        acts = [made for event in events for made in self.judge.observe(event, self.now)]
        return acts + self.judge.settle(self.now)

    def wait(self, seconds: float = 2) -> list[Event]:
        self.now += round(seconds * SECOND)
        return self.judge.settle(self.now)


def node(name: str, cpu: str = "4", **fields: Any) -> Manifest:
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {"allocatable": amounts, "capacity": amounts},
        **fields,
    }


def pod(name: str, cpu: str = "1", *, owner: str = "", created: int = 0, **spec: Any) -> Manifest:
    metadata: Manifest = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    metadata["creationTimestamp"] = f"2025-01-01T00:00:{created:02}Z"
    if owner:
        reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": f"uid-{owner}"}
        metadata["ownerReferences"] = [{**reference, "controller": True}]
    requests = {"cpu": cpu, "memory": "1Gi"}
    container = {"name": "main", "image": "app:1", "resources": {"requests": requests}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], "schedulerName": "default-scheduler", **spec},
        "status": {"phase": "Pending"},
    }


def event(reason: str, regarding: Manifest, note: str, **fields: Any) -> Manifest:
    metadata = regarding["metadata"]
    named = {field: metadata[field] for field in ("name", "namespace", "uid")}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{reason.lower()}", "namespace": "default"},
        "reason": reason,
        "message": note,
        "involvedObject": {"kind": "Pod", **named},
        "reportingComponent": "default-scheduler",
        **fields,
    }


def bare(made: Manifest) -> Manifest:
    """Return the manifest as a user writes it."""
    metadata = {field: made["metadata"][field] for field in ("name", "namespace")}
    return {**made, "metadata": metadata, "status": {}}
