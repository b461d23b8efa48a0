"""Reads what other simulators recorded of a cluster: KWOK, kube-scheduler-simulator and SimKube. All are
lists of what happened to objects: created, changed, deleted."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import msgspec

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import find_built_in
from simulator.arrivals.arrival import Arrival, ArrivalError, What
from simulator.arrivals.fields import read_time
from simulator.arrivals.recorded_objects import (
    ENDING,
    Happened,
    Recorded,
    arrivals_of,
    as_object,
    checked,
    with_duration,
)
from simulator.dumps.documents import parse_documents

KWOK: Final = "action.kwok.x-k8s.io"
"""The API group of the entries of a recording by ``kwokctl snapshot record``."""
EXPORTED: Final = {
    "namespaces": ("v1", "Namespace"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "nodes": ("v1", "Node"),
    "pvs": ("v1", "PersistentVolume"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "pods": ("v1", "Pod"),
}
"""The lists of an export of kube-scheduler-simulator (ResourcesForSnap), owners before dependents, each with
the apiVersion and the kind of its objects."""
EXPORTED_CONFIG: Final = "schedulerConfig"
_LIST: Final = re.compile(rb"^(\w{1,63}):", re.MULTILINE)
"""The name of a list of an export in YAML."""
OLD_FIELDS: Final = ("healthzBindAddress", "metricsBindAddress")
"""Fields of KubeSchedulerConfiguration that ended with v1beta2, of which exports do not say that they are."""
OLD_PLUGINS: Final = ("AzureDiskLimits", "EBSLimits", "GCEPDLimits")
"""Plugins that ended when CSI drivers took over the volumes of these clouds."""
FIELDS: Final[dict[What, str]] = {"create": "applied_objs", "delete": "deleted_objs"}
"""The lists of an event of a SimKube trace."""
SIMKUBE_VERSION: Final = 2


def read_kwok(data: bytes) -> Recorded:
    """Return the arrivals of a recording by KWOK: the objects at its beginning as manifests, then their
    changes. Raises ManifestError, ArrivalError."""
    return arrivals_of(_kwok(data))


def _kwok(data: bytes) -> Iterator[Happened]:
    for number, document in enumerate(parse_documents(data), 1):
        place = f"document {number}"
        if not str(document.get("apiVersion")).startswith(f"{KWOK}/"):
            yield Happened(0, "create", checked(document, place), place)
            continue
        method, template = document.get("method"), document.get("template")
        time = document.get("durationNanosecond")
        if not isinstance(time, int | float):
            raise ArrivalError(f"{place}: durationNanosecond of a ResourcePatch is no number")
        at = int(time) // 1000
        if method == "create" and isinstance(template, dict):
            yield Happened(at, "create", checked(_kwok_object(document, template), place), place)
        elif method in ("patch", "delete"):
            whole = template if isinstance(template, dict) else {}
            changed = checked(_kwok_object(document, whole), place)
            if method == "delete":
                yield Happened(at, "delete", changed, place)
            else:
                resource = _kwok_resource(document)
                yield Happened(at, "change", changed, place, is_patch=True, resource=resource)


def _kwok_resource(document: Manifest) -> Resource | None:
    resource = as_object(document.get("resource"))
    return find_built_in(str(resource.get("group") or ""), str(resource.get("resource", "")))


def _kwok_object(document: Manifest, template: Manifest) -> Manifest:
    """Return what is known of the object of a ResourcePatch, with the kind of its resource."""
    resource, target = as_object(document.get("resource")), as_object(document.get("target"))
    group, version = resource.get("group") or "", resource.get("version") or "v1"
    known = _kwok_resource(document)
    kind = known.kind if known else str(resource.get("resource", "")).removesuffix("s").capitalize()
    metadata = {"name": target.get("name", ""), **as_object(template.get("metadata"))}
    if target.get("namespace"):
        metadata["namespace"] = target["namespace"]
    return {
        "apiVersion": f"{group}/{version}" if group else version,
        "kind": kind,
        **template,
        "metadata": metadata,
    }


def read_export(data: bytes) -> tuple[Recorded, Manifest | None]:
    """Return the objects of an export of kube-scheduler-simulator, and its KubeSchedulerConfiguration. It is
    JSON if the API exported it, YAML if the page did. Raises ManifestError, ArrivalError."""
    try:
        exported = msgspec.json.decode(data) if data.lstrip().startswith(b"{") else _yaml_export(data)
        happened = [
            Happened(0, "create", checked({"apiVersion": version, "kind": kind, **each}, place), place)
            for name, (version, kind) in EXPORTED.items()
            for number, each in enumerate(exported.get(name) or (), 1)
            for place in [f"{name} {number}"]
        ]
        config, old = _without_old(exported.get(EXPORTED_CONFIG))
    except (msgspec.DecodeError, TypeError, AttributeError, KeyError) as wrong:
        raise ArrivalError(f"no export of kube-scheduler-simulator: {wrong}") from None
    read = arrivals_of(happened)
    notes = [f"left out of {EXPORTED_CONFIG}, no longer in Kubernetes: {', '.join(old)}"] if old else []
    return read._replace(notes=notes + read.notes), config


def _yaml_export(data: bytes) -> Manifest:
    """Return the lists and the configuration of an export in YAML. Each list is read as one of its kind, so
    that its size has the bounds of a dump."""
    found: Manifest = {}
    for start, end in pairwise([*(each.start() for each in _LIST.finditer(data)), len(data)]):
        name, _, body = data[start:end].partition(b":")
        before = b"\n" * data.count(b"\n", 0, start)  # for the lines of faults
        version, kind = EXPORTED.get(name.decode(), ("", ""))
        if kind:
            listed = b"%sitems:%s\napiVersion: %s\nkind: %sList\n"
            listed %= (before, body, version.encode(), kind.encode())
            found[name.decode()] = [*parse_documents(listed)]
        elif name.decode() == EXPORTED_CONFIG:
            found |= next(parse_documents(before + data[start:end]))
    return found


def _without_old(config: Any) -> tuple[Manifest | None, list[str]]:
    """Return a configuration without what is no longer in Kubernetes, and the names of that."""
    if not isinstance(config, dict):
        return None, []
    left_out = [field for field in OLD_FIELDS if field in config]
    for profile in config.get("profiles") or ():
        for plugins in (profile.get("plugins") or {}).values():
            enabled = (plugins or {}).get("enabled") or []
            old = [each["name"] for each in enabled if each["name"] in OLD_PLUGINS]
            if old:
                left_out += [f"the plugin {name}" for name in old if f"the plugin {name}" not in left_out]
                plugins["enabled"] = [each for each in enabled if each["name"] not in old]
    return {field: value for field, value in config.items() if field not in OLD_FIELDS}, left_out


def read_records(data: bytes) -> Recorded:
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
        except (msgspec.DecodeError, KeyError, TypeError, ValueError) as wrong:
            raise ArrivalError(f"no record: {wrong}", number) from None
        place = f"line {number}"
        happened.append(Happened(time, what, checked(manifest, place), place, number))
    return arrivals_of(happened)


def read_simkube(data: bytes) -> Recorded:
    """Return the arrivals of a trace of SimKube (sk-store, MessagePack). Raises ArrivalError."""
    try:
        trace = msgspec.msgpack.decode(data)
        version = trace["version"]
        if version != SIMKUBE_VERSION:
            raise ArrivalError(f"a trace of SimKube of version {version}; version {SIMKUBE_VERSION} is read")
        happened = [
            Happened(event["ts"] * SECOND, what, checked(manifest, f"event {number}"), f"event {number}")
            for number, event in enumerate(trace["events"], 1)
            for what, field in FIELDS.items()
            for manifest in event[field]
        ]
        lifetimes = _simkube_lifetimes(trace.get("pod_lifecycles") or {})
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as wrong:
        raise ArrivalError(f"no trace of SimKube: {type(wrong).__name__}: {wrong}") from None
    found = arrivals_of(happened)
    return found._replace(arrivals=[_with_lifetime(each, lifetimes) for each in found.arrivals])


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
    """Return a CronJob, a Job or a pod with the time for which its pods run."""
    manifest = arrival.object
    if arrival.delete or arrival.change or manifest is None or manifest["kind"] not in ENDING:
        return arrival
    metadata = manifest["metadata"]
    duration = lifetimes.get(f"{metadata.get('namespace', 'default')}/{metadata['name']}")
    if duration is None:
        return arrival
    return msgspec.structs.replace(arrival, object=with_duration(manifest, duration))
