"""Export of a sandbox's objects as manifests for kubectl apply, without the fields that components set."""

from collections.abc import Iterable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.admission_plugins.default_toleration_seconds import UNREACHABLE_SECONDS
from simulator.apiserver.kinds.namespaces import BUILT_IN_NAMESPACES
from simulator.apiserver.kinds.priority_classes import SYSTEM_CLASSES
from simulator.apiserver.resources import find_by_kind
from simulator.apiserver.types.schema_types import OWN_KINDS, decoded_type
from simulator.objects.status import FINISHED_PHASES, phase_of

GENERATED_KINDS: Final = frozenset(
    {"Event", "Lease", "ControllerRevision", "EndpointSlice", "Endpoints", "CSINode"}
)
"""Kinds whose objects are only created by components."""
KEPT_METADATA: Final = ("name", "generateName", "namespace", "labels", "annotations")
"""Exported fields of metadata. The API server sets the other fields."""
CONTROLLER_ANNOTATIONS: Final = ("deployment.kubernetes.io/", "pv.kubernetes.io/", "volume.kubernetes.io/")
"""Prefixes of annotations that controllers set."""
KEPT_NODE_STATUS: Final = ("capacity", "allocatable")
"""Exported fields of a node's status. In a sandbox the manifest sets them; in a real cluster the kubelet
does."""
REMOVED_POD_FIELDS: Final = ("nodeName", "priority", "preemptionPolicy")
"""Fields of a pod's spec that admission and the scheduler set."""


def manifests_to_apply(objects: Iterable[Manifest]) -> Iterator[Manifest]:
    """Yield the manifests to apply: without the objects of every cluster, those that controllers created, and
    schedviz's own kinds. Pods have no node, so that a scheduler places them."""
    for manifest in objects:
        if _is_applicable(manifest):
            yield _without_generated_fields(manifest)


def _is_applicable(manifest: Manifest) -> bool:
    metadata, kind = manifest["metadata"], manifest["kind"]
    if kind in GENERATED_KINDS or (manifest["apiVersion"], kind) in OWN_KINDS:
        return False
    if metadata.get("ownerReferences") or "deletionTimestamp" in metadata:
        return False
    if kind == "Pod" and phase_of(manifest) in FINISHED_PHASES:
        return False
    everywhere = {"Namespace": BUILT_IN_NAMESPACES, "PriorityClass": SYSTEM_CLASSES}
    return metadata["name"] not in everywhere.get(kind, ())


def _without_generated_fields(manifest: Manifest) -> Manifest:
    metadata = {
        field: manifest["metadata"][field] for field in KEPT_METADATA if field in manifest["metadata"]
    }
    annotations = {
        key: text
        for key, text in metadata.pop("annotations", {}).items()
        if not key.startswith(CONTROLLER_ANNOTATIONS)
    }
    if annotations:
        metadata["annotations"] = annotations
    found = {field: value for field, value in manifest.items() if field not in ("metadata", "status")}
    found = {"apiVersion": found.pop("apiVersion"), "kind": found.pop("kind"), "metadata": metadata, **found}
    spec = manifest.get("spec") or {}
    match manifest["kind"]:
        case "Pod":
            found["spec"] = {field: value for field, value in spec.items() if field not in REMOVED_POD_FIELDS}
            found["spec"]["tolerations"] = [t for t in spec.get("tolerations", ()) if not _is_default(t)]
        case "Node":
            status = manifest.get("status") or {}
            found["status"] = {field: status[field] for field in KEPT_NODE_STATUS if field in status}
        case "PodGroup":
            found["spec"] = {field: value for field, value in spec.items() if field != "priority"}
        case "PersistentVolume":
            found["spec"] = {field: value for field, value in spec.items() if field != "claimRef"}
        case "Job" if "controller-uid" in str(spec.get("selector")):
            # The selector is generated from the Job's UID. The API server generates it again for the new Job.
            template = spec["template"]
            labels = (template.get("metadata") or {}).get("labels") or {}
            own = {key: text for key, text in labels.items() if "controller-uid" not in key}
            rest = {field: value for field, value in spec.items() if field != "selector"}
            found["spec"] = {**rest, "template": {**template, "metadata": {"labels": own}}}
    resource = find_by_kind(manifest["apiVersion"], manifest["kind"])
    fields = decoded_type(resource).fields if resource is not None else {}
    kept = [name for name, field in fields.items() if field.is_required]
    return {field: value for field, value in found.items() if field in kept or value not in ({}, None)}


def _is_default(toleration: Manifest) -> bool:
    """Whether admission adds this toleration to every pod."""
    return toleration.get("tolerationSeconds") == UNREACHABLE_SECONDS and toleration.get("key") in (
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    )
