"""The pod that ``explain`` and ``whatif`` are asked about: a Pod, or the pod of a workload's template."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from simulator.api import Change, Manifest
from simulator.apiserver import decoding
from simulator.apiserver.defaults import prepare_for_create, set_defaults
from simulator.apiserver.manifest import parse_manifests
from simulator.apiserver.overlay import CreatedObjects, Overlay
from simulator.apiserver.pod_admission import READ_OF_PODS, complete_pod
from simulator.apiserver.resources import PODS, Resource
from simulator.apiserver.validation import validate
from simulator.command_line.files import faults_of, list_kinds, read_text
from simulator.controllers.daemon_placement import add_daemon_tolerations
from simulator.controllers.pods import pod_from_template
from simulator.objects.metadata import key_of
from simulator.objects.pod import Pod

Item = tuple[Resource, Manifest]


def _template(manifest: Mapping[str, Any]) -> Any:
    return manifest["spec"]["template"]


TEMPLATES: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    **dict.fromkeys(
        ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController", "Job"), _template
    ),
    "CronJob": lambda manifest: manifest["spec"]["jobTemplate"]["spec"]["template"],
    "PodTemplate": lambda manifest: manifest["template"],
}
"""Kind of a workload -> its pod template."""


class AskedPod(NamedTuple):
    pod: Pod
    workload: str
    """The workload of whose template it is: ``Deployment web``; empty for a Pod."""


def read_pod(path: Path, items: Iterable[Item]) -> AskedPod:
    """Read a file with one Pod or one workload, and return the pod as the API server of the cluster would
    store it. items: the objects of the cluster. Raises InputError."""
    data = read_text(path)
    with faults_of(path):
        manifest, workload = find_pod(parse_manifests(data))
        return AskedPod(admit_pod(manifest, items), workload)


def find_pod(documents: list[Manifest]) -> tuple[Manifest, str]:
    """Return the pod, and the workload of whose template it is. Raises ValueError."""
    if len(documents) != 1 or documents[0]["kind"] not in ("Pod", *TEMPLATES):
        found = list_kinds(documents)
        raise ValueError(f"expected one Pod, or one workload with a pod template, found {found}")
    [manifest] = documents
    kind, metadata = manifest["kind"], manifest.get("metadata") or {}
    if kind == "Pod":
        return manifest, ""
    try:
        pod = pod_from_template(TEMPLATES[kind](manifest))
        spec = pod["spec"]
    except (LookupError, TypeError, AttributeError):
        raise ValueError(f"the {kind} has no pod template") from None
    if kind == "DaemonSet" and isinstance(spec, dict):
        add_daemon_tolerations(spec)
    pod["metadata"] |= {field: metadata[field] for field in ("namespace",) if field in metadata}
    name = str(metadata.get("name") or "")
    if kind == "StatefulSet":
        pod["metadata"]["name"] = f"{name}-0"
    else:
        pod["metadata"]["generateName"] = f"{name}-"
    return pod, f"{kind} {name}"


def admit_pod(manifest: Manifest, items: Iterable[Item]) -> Pod:
    """Return the pod as the API server of this cluster would store it. Raises StatusError or ValueError."""
    decoded, causes = decoding.decode(PODS, manifest)
    if not causes:
        _set_name(decoded.setdefault("metadata", {}))
        set_defaults(PODS, decoded)
        prepare_for_create(PODS, decoded, "")
        complete_pod(decoded, Overlay(CreatedObjects(_read_of_pods(items))), strict=False)
        causes = validate(PODS, decoded)
    if causes:
        raise ValueError("; ".join(f"{cause.field}: {cause.message}" for cause in causes))
    return Pod.parse(decoded)


def _set_name(metadata: dict[str, Any]) -> None:
    metadata.setdefault("namespace", "default")
    if "name" not in metadata:
        if not metadata.get("generateName"):
            raise ValueError("metadata.name: name or generateName is required")
        metadata["name"] = metadata["generateName"] + "xxxxx"


def _read_of_pods(items: Iterable[Item]) -> Iterator[Change]:
    """Yield the objects that admission reads for a new pod."""
    for resource, item in items:
        if resource.id in READ_OF_PODS:
            yield Change(resource.id, key_of(item), item, 0)
