"""Reads what other simulators recorded of a cluster: KWOK, kube-scheduler-simulator and SimKube.

All are lists of what happened to objects: created, changed, deleted. Objects that a controller of the sandbox
makes from recorded ones are left out, as it makes them again. So are changes, except that a pod ended."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.resources import find_built_in
from simulator.arrivals.arrival import Arrival, ArrivalError, identity, run_annotations
from simulator.arrivals.fields import read_time
from simulator.dumps.documents import parse_documents
from simulator.objects.metadata import key_of
from simulator.objects.owner_references import owner_references

KWOK: Final = "action.kwok.x-k8s.io"
"""The API group of the entries of a recording by ``kwokctl snapshot record``."""
EXPORTED: Final = ("namespaces", "priorityClasses", "storageClasses", "nodes", "pvs", "pvcs", "pods")
"""The lists of an export of kube-scheduler-simulator (ResourcesForSnap), owners before dependents."""
KINDS: Final = {
    "namespaces": ("v1", "Namespace"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "nodes": ("v1", "Node"),
    "pvs": ("v1", "PersistentVolume"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "pods": ("v1", "Pod"),
}
LEFT_OUT: Final = ("Event", "Lease", "Endpoints", "EndpointSlice", "Secret", "ConfigMap", "ServiceAccount")
"""Kinds that do not matter to a scheduler, and of which a cluster has many."""
SYSTEM: Final = ("default", "kube-system", "kube-public", "kube-node-lease", "kubernetes")
OF_SERVER: Final = (
    *("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"),
    *("ownerReferences", "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers"),
)
"""The fields of metadata that the server of the sandbox sets."""
What = Literal["create", "change", "delete"]
FIELDS: Final[dict[What, str]] = {"create": "applied_objs", "delete": "deleted_objs"}
"""The lists of an event of a SimKube trace."""
SIMKUBE_VERSION: Final = 2


class Happened(msgspec.Struct, frozen=True):
    """One entry of a recording."""

    time: Micros
    what: What
    object: Manifest
    line: int = 0


def read_kwok(data: bytes) -> list[Arrival]:
    """Return the arrivals of a recording by KWOK. Raises ManifestError, ArrivalError."""
    return arrivals_of(_kwok(data))


def _kwok(data: bytes) -> Iterator[Happened]:
    for document in parse_documents(data):
        if not document["apiVersion"].startswith(f"{KWOK}/"):
            yield Happened(0, "create", document)
            continue
        method, template = document.get("method"), document.get("template")
        time = document.get("durationNanosecond")
        if not isinstance(time, int | float):
            raise ArrivalError("durationNanosecond of a ResourcePatch is no number")
        at = int(time) // 1000
        if method == "create" and isinstance(template, dict):
            yield Happened(at, "create", _kwok_object(document, template))
        elif method in ("patch", "delete"):
            whole = template if isinstance(template, dict) else {}
            yield Happened(at, "change" if method == "patch" else "delete", _kwok_object(document, whole))


def _kwok_object(document: Manifest, template: Manifest) -> Manifest:
    """Return what is known of the object of a ResourcePatch, with the kind of its resource."""
    resource, target = document.get("resource") or {}, document.get("target") or {}
    group, version = resource.get("group") or "", resource.get("version") or "v1"
    plural = str(resource.get("resource", ""))
    known = find_built_in(group, plural)
    kind = known.kind if known else plural.removesuffix("s").capitalize()
    metadata = {"name": target.get("name", ""), **(template.get("metadata") or {})}
    if target.get("namespace"):
        metadata["namespace"] = target["namespace"]
    return {
        "apiVersion": f"{group}/{version}" if group else version,
        "kind": kind,
        **template,
        "metadata": metadata,
    }


def read_export(exported: Manifest) -> tuple[list[Arrival], Manifest | None]:
    """Return the objects of an export of kube-scheduler-simulator, and its KubeSchedulerConfiguration."""
    happened = [
        Happened(0, "create", {"apiVersion": KINDS[name][0], "kind": KINDS[name][1], **each})
        for name in EXPORTED
        for each in exported.get(name) or ()
    ]
    config = exported.get("schedulerConfig")
    return arrivals_of(happened), config if isinstance(config, dict) else None


def read_records(data: bytes) -> list[Arrival]:
    """Return the arrivals of a record of kube-scheduler-simulator, JSON Lines. Raises ArrivalError."""
    happened = []
    words: dict[str, Any] = {"Add": "create", "Update": "change", "Delete": "delete"}
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = msgspec.json.decode(line)
            what, time = words[record["event"]], read_time(record["time"])
            manifest = record["resource"]
            manifest["metadata"]["name"], manifest["kind"], manifest["apiVersion"]
        except (msgspec.DecodeError, KeyError, TypeError, ValueError) as wrong:
            raise ArrivalError(f"no record: {wrong}", number) from None
        happened.append(Happened(time, what, manifest, number))
    return arrivals_of(happened)


def read_simkube(data: bytes) -> list[Arrival]:
    """Return the arrivals of a trace of SimKube (sk-store, MessagePack). Raises ArrivalError."""
    try:
        trace = msgspec.msgpack.decode(data)
        version = trace["version"]
        if version != SIMKUBE_VERSION:
            raise ArrivalError(f"a trace of SimKube of version {version}; version {SIMKUBE_VERSION} is read")
        happened = [
            Happened(event["ts"] * SECOND, what, manifest)
            for event in trace["events"]
            for what, field in FIELDS.items()
            for manifest in event[field]
        ]
        lifetimes = _simkube_lifetimes(trace.get("pod_lifecycles") or {})
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as wrong:
        raise ArrivalError(f"no trace of SimKube: {type(wrong).__name__}: {wrong}") from None
    return [_with_lifetime(each, lifetimes) for each in arrivals_of(happened)]


def _simkube_lifetimes(lifecycles: Any) -> dict[str, Micros]:
    """Return the mean lifetime of the ended pods of each owner, by its key. The trace has those of each pod;
    the pods of a workload have one template here."""
    found = {}
    for (_, key), by_hash in lifecycles.items():
        ended = [
            each["Finished"][1] - each["Finished"][0]
            for lifetimes in by_hash.values()
            for each in lifetimes
            if isinstance(each, dict) and "Finished" in each
        ]
        if ended:
            found[str(key)] = sum(ended) * SECOND // len(ended)
    return found


def _with_lifetime(arrival: Arrival, lifetimes: dict[str, Micros]) -> Arrival:
    """Return a Job, or a pod, with the time for which its pods run."""
    manifest = arrival.object
    if arrival.delete or manifest is None or manifest["kind"] not in ("Job", "Pod"):
        return arrival
    metadata = manifest["metadata"]
    duration = lifetimes.get(f"{metadata.get('namespace', 'default')}/{metadata['name']}")
    if duration is None:
        return arrival
    return msgspec.structs.replace(arrival, object=with_duration(manifest, duration))


def with_duration(manifest: Manifest, duration: Micros) -> Manifest:
    """Return a Pod or a Job whose pods end after a duration."""
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


def arrivals_of(happened: Iterable[Happened]) -> list[Arrival]:
    """Return the arrivals of a recording, which begins at its first entry."""
    entries = sorted(happened, key=lambda each: each.time)
    first = entries[0].time if entries else 0
    kept: dict[tuple[str, str], int] = {}
    running: dict[tuple[str, str], Micros] = {}
    found: list[Arrival] = []
    owners = {identity(each.object) for each in entries if each.what == "create"}
    for each in entries:
        manifest = each.object
        if manifest["kind"] in LEFT_OUT or manifest["metadata"].get("name") in SYSTEM:
            continue
        place = identity(manifest)
        if each.what == "delete" and place in kept:
            del kept[place]
            named = {field: manifest[field] for field in ("apiVersion", "kind")}
            namespace = manifest["metadata"].get("namespace")
            where = {"namespace": namespace} if namespace else {}
            named["metadata"] = {"name": manifest["metadata"]["name"], **where}
            found.append(Arrival(each.time - first, object=named, delete=True, line=each.line))
        elif each.what != "delete" and place not in kept:
            if each.what == "change" or _made_by_controller(manifest, owners):
                continue
            kept[place] = len(found)
            running[place] = each.time
            found.append(Arrival(each.time - first, object=recorded(manifest), line=each.line))
        elif place in kept and manifest["kind"] == "Pod":
            phase = (manifest.get("status") or {}).get("phase")
            if phase == "Running":
                running[place] = each.time
            elif phase in ("Succeeded", "Failed"):
                arrival = found[kept[place]]
                assert arrival.object is not None
                ended = with_duration(arrival.object, each.time - running[place])
                found[kept[place]] = msgspec.structs.replace(arrival, object=ended)
    return found


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
    """Return an object without what the server, the scheduler and the kubelets of the recorded cluster wrote.
    A node keeps its status, by which it has resources."""
    metadata = {
        field: value for field, value in manifest["metadata"].items() if field not in OF_SERVER and value
    }
    kept = {field: value for field, value in manifest.items() if field != "status"} | {"metadata": metadata}
    if manifest["kind"] == "Node":
        status = manifest.get("status") or {}
        kept["status"] = {field: status[field] for field in ("allocatable", "capacity") if field in status}
    if manifest["kind"] == "Pod" and isinstance(kept.get("spec"), dict):
        given = kept["spec"]
        kept["spec"] = {
            field: value
            for field, value in given.items()
            if field not in ("nodeName", "priority", "preemptionPolicy")
        }
    return kept
