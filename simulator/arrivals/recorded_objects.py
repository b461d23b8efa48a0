"""The objects of a recording: what happened to them, as arrivals.

Objects that a controller of the sandbox makes from recorded ones are left out, as it makes them again.
:mod:`simulator.arrivals.recorded_changes` says which changes are played."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import msgspec

from simulator.api import Manifest, Micros
from simulator.apiserver.patches.json_patch import apply_merge_patch
from simulator.apiserver.patches.strategic_merge_patch import apply_strategic_merge_patch
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import StatusError
from simulator.apiserver.types.schema_types import type_of
from simulator.arrivals.arrival import Arrival, ArrivalError, What, identity, run_annotations
from simulator.arrivals.recorded_changes import left_out, played_change
from simulator.objects.metadata import key_of
from simulator.objects.owner_references import owner_references
from simulator.objects.status import FINISHED_PHASES
from simulator.objects.volumes import BIND_COMPLETED, BOUND_BY_CONTROLLER, SELECTED_NODE

LEFT_OUT: Final = ("Event", "Lease", "Endpoints", "EndpointSlice", "Secret", "ConfigMap", "ServiceAccount")
"""Kinds that do not matter to a scheduler, and of which a cluster has many."""
SYSTEM: Final = ("default", "kube-system", "kube-public", "kube-node-lease", "kubernetes")
OF_SERVER: Final = (
    *("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"),
    *("ownerReferences", "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers"),
)
"""The fields of metadata that the server of the sandbox sets."""
ENDING: Final = ("CronJob", "Job", "Pod")
"""The kinds whose pods end by themselves."""
SERVICE_ACCOUNT_VOLUME: Final = "kube-api-access-"
"""The beginning of the name of the volume that the admission plugin ServiceAccount adds to a pod."""
CONDITION_TAINT: Final = "node.kubernetes.io/"
"""The beginning of the keys of the taints that controllers set by conditions and ``unschedulable``."""


BINDINGS: Final = (BIND_COMPLETED, BOUND_BY_CONTROLLER, SELECTED_NODE)
"""The annotations by which the controllers and the scheduler of a cluster know what they have bound."""


class Happened(msgspec.Struct, frozen=True):
    """One entry of a recording."""

    time: Micros
    what: What
    object: Manifest
    """The object; of a change, the new object, or a patch."""
    place: str = ""
    """The place in the file, in words."""
    line: int = 0
    is_patch: bool = False
    resource: Resource | None = None
    """Of a patch, the resource that says how lists are merged; None = it is a merge patch."""


class Recorded(NamedTuple):
    arrivals: list[Arrival]
    notes: list[str]
    """The changes that are not played, each as a line."""


def as_object(value: Any) -> dict[str, Any]:
    """Return a value if it is an object of JSON, else an empty one."""
    return value if isinstance(value, dict) else {}


@contextmanager
def faults_at(place: str) -> Iterator[None]:
    """Raise what a manifest with fields of wrong types causes as ArrivalError."""
    try:
        yield
    except (AttributeError, KeyError, TypeError) as wrong:
        raise ArrivalError(f"{place}: no object of Kubernetes: {wrong}") from None


def checked(manifest: Any, place: str) -> Manifest:
    """Return a manifest that has an apiVersion, a kind, a name and, if it has one, a namespace. Raises
    ArrivalError."""
    given = as_object(manifest)
    metadata = as_object(given.get("metadata"))
    fields = (
        given.get("apiVersion"),
        given.get("kind"),
        metadata.get("name"),
        metadata.get("namespace") or "",
    )
    if not all(isinstance(each, str) for each in fields):
        raise ArrivalError(f"{place}: no manifest with apiVersion, kind and metadata.name")
    return given


def arrivals_of(happened: Iterable[Happened]) -> Recorded:
    """Return the arrivals of a recording, which begins at its first entry. Raises ArrivalError."""
    entries = sorted(happened, key=lambda each: each.time)
    reading = _Reading({identity(each.object) for each in entries if each.what == "create"})
    for each in entries:
        manifest = each.object
        if manifest["kind"] not in LEFT_OUT and manifest["metadata"].get("name") not in SYSTEM:
            with faults_at(each.place):
                reading.add(each, each.time - entries[0].time)
    return Recorded(reading.arrivals, reading.notes)


class _Reading:
    """The arrivals of the entries so far."""

    def __init__(self, owners: Collection[tuple[str, str]]) -> None:
        """``owners``: the identities of the recorded objects."""
        self.arrivals: list[Arrival] = []
        self.notes: list[str] = []
        self._owners = owners
        self._there: dict[tuple[str, str], Manifest] = {}
        """The objects as they were recorded last."""
        self._created: dict[tuple[str, str], int] = {}
        """The indices of their arrivals."""
        self._started: dict[tuple[str, str], Micros] = {}

    def add(self, entry: Happened, time: Micros) -> None:
        manifest = entry.object
        place = identity(manifest)
        old = self._there.get(place)
        if entry.what == "delete":
            if old is not None:
                del self._there[place]
                self._append(time, _identity_of(manifest), "delete", entry)
        elif old is not None:
            self._change(entry, place, old, time)
        elif entry.what == "create" and not _made_by_controller(manifest, self._owners):
            if place[0] == "Pod" and _phase(manifest) in FINISHED_PHASES:
                self.notes.append(f"{entry.place}: left out: Pod {place[1]}, which has ended")
                return
            self._there[place], self._started[place] = manifest, time
            self._created[place] = len(self.arrivals)
            self._append(time, recorded(manifest), "create", entry)

    def _append(self, time: Micros, manifest: Manifest, what: What, entry: Happened) -> None:
        deletes, changes = what == "delete", what == "change"
        self.arrivals.append(Arrival(time, object=manifest, delete=deletes, change=changes, line=entry.line))

    def _change(self, entry: Happened, place: tuple[str, str], old: Manifest, time: Micros) -> None:
        new = self._there[place] = _changed(entry, old)
        before, after = without_writes(old), without_writes(new)
        change = played_change(before, after)
        if change is not None:
            self._append(time, change, "change", entry)
        fields = ", ".join(left_out(before, after))
        if fields:
            self.notes.append(f"{entry.place}: left out: {fields} of {place[0]} {place[1]}")
        if place[0] == "Pod":
            self._run(place, new, time)

    def _run(self, place: tuple[str, str], pod: Manifest, time: Micros) -> None:
        """Note that a pod runs, or has ended."""
        phase = _phase(pod)
        if phase == "Running":
            self._started[place] = time
        elif phase in FINISHED_PHASES:
            arrival = self.arrivals[self._created[place]]
            assert arrival.object is not None
            ended = with_duration(arrival.object, time - self._started[place])
            self.arrivals[self._created[place]] = msgspec.structs.replace(arrival, object=ended)


def _phase(manifest: Manifest) -> Any:
    return as_object(manifest.get("status")).get("phase")


def _changed(entry: Happened, old: Manifest) -> Manifest:
    """Return the object after a change."""
    if not entry.is_patch:
        return entry.object
    try:
        new: Manifest
        if entry.resource is None:
            new = apply_merge_patch(old, entry.object)
        else:
            new = apply_strategic_merge_patch(type_of(entry.resource), old, entry.object)
    except StatusError as wrong:
        raise ArrivalError(f"{entry.place}: {wrong}") from None
    return new


def _identity_of(manifest: Manifest) -> Manifest:
    metadata = {
        field: manifest["metadata"][field]
        for field in ("name", "namespace")
        if manifest["metadata"].get(field)
    }
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": metadata}


def _made_by_controller(manifest: Manifest, recorded_objects: Collection[tuple[str, str]]) -> bool:
    namespace = manifest["metadata"].get("namespace")
    return any(
        (
            str(reference.get("kind")),
            key_of({"metadata": {"name": reference.get("name"), "namespace": namespace}}),
        )
        in recorded_objects
        for reference in _controllers(manifest)
    )


def _controllers(manifest: Manifest) -> Sequence[Manifest]:
    return [each for each in owner_references(manifest) if each.get("controller")]


def recorded(manifest: Manifest) -> Manifest:
    """Return an object without what the components of the recorded cluster wrote. A node keeps its status, by
    which it has resources. Volumes and claims that were bound name each other, and are bound again."""
    found = without_writes(manifest)
    status = found.pop("status", None) or {}
    if manifest["kind"] == "Node":
        found["status"] = {field: status[field] for field in ("allocatable", "capacity") if field in status}
    elif manifest["kind"] in ("PersistentVolume", "PersistentVolumeClaim"):
        _unbind(found, bound=status.get("phase", "Bound") == "Bound")
    return found


def _unbind(found: Manifest, *, bound: bool) -> None:
    """Take out of a volume or a claim what says that they are bound. The UIDs of claims are new ones in the
    sandbox; a volume that was released keeps the old one, so that no claim gets it."""
    annotations = found["metadata"].get("annotations")
    if annotations:
        kept = {name: value for name, value in annotations.items() if name not in BINDINGS}
        found["metadata"]["annotations"] = kept
    reference = as_object(found.get("spec")).get("claimRef")
    if reference and bound:
        named = {field: reference[field] for field in ("namespace", "name") if field in reference}
        found["spec"] = {**found["spec"], "claimRef": named}


def without_writes(manifest: Manifest) -> Manifest:
    """Return an object without what components of the recorded cluster wrote into its metadata and spec."""
    metadata = {
        field: value for field, value in manifest["metadata"].items() if field not in OF_SERVER and value
    }
    kept = {**manifest, "metadata": metadata}
    given = kept.get("spec")
    if not isinstance(given, dict):
        return kept
    if manifest["kind"] == "Node" and given.get("taints"):
        taints = [each for each in given["taints"] if not str(each.get("key")).startswith(CONDITION_TAINT)]
        kept["spec"] = {**given, "taints": taints}
    elif manifest["kind"] == "Pod":
        kept["spec"] = _pod_spec(given)
    return kept


def _pod_spec(given: Manifest) -> Manifest:
    """Return the spec of a pod without its node and what admission added."""
    spec = {
        field: value
        for field, value in given.items()
        if field not in ("nodeName", "priority", "preemptionPolicy")
    }
    if spec.get("volumes"):
        spec["volumes"] = _others(spec["volumes"])
    for containers in ("containers", "initContainers"):
        if spec.get(containers):
            spec[containers] = [
                {**each, "volumeMounts": _others(each["volumeMounts"])} if each.get("volumeMounts") else each
                for each in spec[containers]
            ]
    return spec


def _others(volumes: Sequence[Manifest]) -> list[Manifest]:
    """Return volumes, or mounts of volumes, without those of service accounts."""
    return [each for each in volumes if not str(each.get("name")).startswith(SERVICE_ACCOUNT_VOLUME)]


def with_duration(manifest: Manifest, duration: Micros) -> Manifest:
    """Return a Pod, a Job or a CronJob whose pods end after a duration."""
    if manifest["kind"] == "CronJob":
        job = with_duration({"kind": "Job", **manifest["spec"]["jobTemplate"]}, duration)
        del job["kind"]
        return {**manifest, "spec": {**manifest["spec"], "jobTemplate": job}}
    if manifest["kind"] == "Pod":
        metadata = manifest["metadata"]
        given = metadata.get("annotations") or {}
        return {
            **manifest,
            "metadata": {**metadata, "annotations": given | run_annotations(duration, removed=True)},
        }
    template = manifest["spec"]["template"]
    metadata = template.get("metadata") or {}
    annotations = (metadata.get("annotations") or {}) | run_annotations(duration, removed=False)
    template = {**template, "metadata": {**metadata, "annotations": annotations}}
    return {**manifest, "spec": {**manifest["spec"], "template": template}}
