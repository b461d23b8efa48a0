"""An arrival: an object, or a number of equal pods, that is created at a time, and the manifests for it."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

import msgspec

from simulator.api import SECOND, Manifest, Micros
from simulator.controllers.kubelet.pod_status import RUN_SECONDS, TTL_SECONDS
from simulator.objects.metadata import key_of

MAX_COUNT: Final = 100_000
"""Maximum ``count`` of an arrival: as many pods as are played in memory."""

WORKLOADS: Final = {
    "Deployment": "apps/v1",
    "Job": "batch/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
}
"""The kinds that an arrival may have as its owner, each with its apiVersion."""

What = Literal["create", "change", "delete"]
"""What is done with an object."""

IMAGE: Final = "registry.example/played:1"


class ArrivalError(ValueError):
    """An arrivals file, or a file of nodes, cannot be used. The message names the line and the column."""

    def __init__(self, problem: str, line: int = 0, column: str = "") -> None:
        place = ", ".join(
            each for each in (f"line {line}" if line else "", f"column {column}" if column else "") if each
        )
        super().__init__(f"{place}: {problem}" if place else problem)


class Arrival(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a line of an arrivals file says. The fields are the columns."""

    time: Micros
    """The time since the beginning."""
    name: str = ""
    namespace: str = ""
    requests: dict[str, str] = {}
    """Amounts by resource."""
    priority: int | str = 0
    """The priority, or the name of a PriorityClass."""
    duration: Micros | None = None
    """The time for which the pods run, from when they are started; None = until they are deleted."""
    count: int = 1
    owner: str = ""
    """The kind of workload that creates the pods; "" = none does."""
    labels: dict[str, str] = {}
    node_labels: dict[str, list[str]] = {}
    """The values of labels of which a node must have one."""
    object: Manifest | None = None
    """The manifest of any object, in place of the fields from ``name`` on."""
    delete: bool = False
    """Whether the object is deleted: of ``object``, only the identity is used then."""
    change: bool = False
    """Whether the object is changed: ``object`` is its identity and a merge patch."""
    line: int = 0
    """The line of the file; 0 = unknown."""

    def pods(self, replicas: dict[tuple[str, str], int]) -> int:
        """Return the number of pods that come with it. ``replicas``: the number that each workload has, by
        its identity, which is brought up to date: of a change of scale, only further pods count."""
        if self.object is None:
            return self.count
        if self.delete:
            replicas.pop(identity(self.object), None)
            return 0
        spec = self.object.get("spec")
        kind = self.object.get("kind")
        if kind == "Pod":
            return int(not self.change)
        if kind not in WORKLOADS or not isinstance(spec, dict):
            return 0
        place = identity(self.object)
        before = replicas.get(place, 0)
        count = spec.get("parallelism" if kind == "Job" else "replicas", before if self.change else 1)
        replicas[place] = count if isinstance(count, int) else 1
        return max(0, replicas[place] - before)

    def entries(self) -> Iterator[tuple[Micros, What, Manifest]]:
        """Yield the time, what is done, and the manifest, of each object."""
        if self.object is not None:
            yield self.time, "change" if self.change else "delete" if self.delete else "create", self.object
        elif self.owner:
            manifest = self._workload()
            yield self.time, "create", manifest
            if self.duration is not None and self.owner != "Job":
                named = {field: manifest[field] for field in ("apiVersion", "kind", "metadata")}
                yield self.time + self.duration, "delete", named
        else:
            spec = self._pod_spec()
            for number in range(1, self.count + 1):
                name = self.name if self.count == 1 else f"{self.name}-{number}"
                metadata = {**self._metadata(), "name": name}
                yield (
                    self.time,
                    "create",
                    {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec},
                )

    def _workload(self) -> Manifest:
        labels = {"app": self.name, **self.labels}
        metadata = {"labels": labels} | self._annotations(owned=True)
        spec: dict[str, Any] = {"template": {"metadata": metadata, "spec": self._pod_spec()}}
        if self.owner == "Job":
            spec |= {"parallelism": self.count, "completions": self.count, "ttlSecondsAfterFinished": 0}
        else:
            spec |= {"replicas": self.count, "selector": {"matchLabels": {"app": self.name}}}
        if self.owner == "StatefulSet":
            spec |= {"serviceName": self.name, "podManagementPolicy": "Parallel"}
        placed = {"namespace": self.namespace} if self.namespace else {}
        own = {"labels": self.labels} if self.labels else {}
        named = {"name": self.name, **placed, **own}
        return {"apiVersion": WORKLOADS[self.owner], "kind": self.owner, "metadata": named, "spec": spec}

    def _pod_spec(self) -> Manifest:
        # Resources that cannot be overcommitted need limits that are equal to the requests.
        limits = {name: amount for name, amount in self.requests.items() if not is_overcommitted(name)}
        resources = {"requests": self.requests} | ({"limits": limits} if limits else {})
        container = {"name": "main", "image": IMAGE, "resources": resources}
        spec: dict[str, Any] = {"containers": [container], "terminationGracePeriodSeconds": 0}
        if self.owner in ("", "Job"):
            spec["restartPolicy"] = "Never"
        if self.priority:
            spec["priorityClassName"] = priority_class(self.priority)
        if self.node_labels:
            wanted = [
                {"key": key, "operator": "In", "values": values} for key, values in self.node_labels.items()
            ]
            terms = {"nodeSelectorTerms": [{"matchExpressions": wanted}]}
            spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        return spec

    def _metadata(self) -> Manifest:
        placed = {"namespace": self.namespace} if self.namespace else {}
        return placed | ({"labels": self.labels} if self.labels else {}) | self._annotations(owned=False)

    def _annotations(self, *, owned: bool) -> Manifest:
        """Return the annotations of the pods, as a field of their metadata."""
        if self.duration is None or (owned and self.owner != "Job"):
            return {}
        return {"annotations": run_annotations(self.duration, removed=not owned)}


def count_pods(arrivals: Iterable[Arrival]) -> int:
    """Return the number of pods of arrivals, in the order of their times, without those that DaemonSets and
    CronJobs make."""
    replicas: dict[tuple[str, str], int] = {}
    return sum(each.pods(replicas) for each in arrivals)


def encode(arrival: Arrival) -> bytes:
    """Return the line of JSON that is read as the arrival."""
    fields = msgspec.to_builtins(msgspec.structs.replace(arrival, line=0))
    for field in ("time", "duration"):
        if field in fields:
            fields[field] = fields[field] / SECOND
    return msgspec.json.encode(fields)


def run_annotations(duration: Micros, *, removed: bool) -> dict[str, str]:
    """Return the annotations of a pod that ends after a duration, in whole seconds, at least one.
    ``removed``: whether it is then removed."""
    ends = {RUN_SECONDS: str(max(1, round(duration / SECOND)))}
    return ends | ({TTL_SECONDS: "0"} if removed else {})


def is_overcommitted(resource: str) -> bool:
    """Whether a container may request less of a resource than its limit (IsOvercommitAllowed,
    pkg/apis/core/helper/helpers.go)."""
    return "/" not in resource and not resource.startswith("hugepages-")


def priority_class(priority: int | str) -> str:
    """Return the name of the PriorityClass of a priority."""
    if isinstance(priority, str):
        return priority
    return f"priority-{priority}" if priority >= 0 else f"priority-minus-{-priority}"


def identity(manifest: Manifest) -> tuple[str, str]:
    """Return the kind and the key of an object that has a name."""
    return str(manifest.get("kind")), key_of(manifest)
