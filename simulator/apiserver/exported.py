"""A sandbox's objects as manifests that somebody could have written: for kubectl apply, at a real cluster or
at another sandbox."""

from collections.abc import Iterable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.admission import BUILT_IN_NAMESPACES
from simulator.apiserver.defaults import UNREACHABLE_SECONDS
from simulator.apiserver.own_kinds import OWN_KINDS
from simulator.apiserver.validation import SYSTEM_CLASSES

MADE: Final = frozenset({"Event", "Lease", "ControllerRevision", "EndpointSlice", "Endpoints", "CSINode"})
"""Kinds whose objects components make by themselves."""
KEPT: Final = ("name", "generateName", "namespace", "labels", "annotations")
"""Of metadata; the server gives the rest."""
OTHERS: Final = ("deployment.kubernetes.io/", "pv.kubernetes.io/", "volume.kubernetes.io/")
"""Annotations that begin so are the controllers' own."""
NODE_STATUS: Final = ("capacity", "allocatable")
"""Of a node's status: at a real cluster its kubelet writes it, here the manifest does."""
POD: Final = ("nodeName", "priority", "preemptionPolicy")
"""What admission and the scheduler give to a pod's spec."""


def to_apply(objects: Iterable[Manifest]) -> Iterator[Manifest]:
    """What is to be applied of these objects: not what every cluster has, nor what a controller makes of
    others, nor our own kinds. Pods are not bound: a scheduler is to do that."""
    for manifest in objects:
        if _is_to_apply(manifest):
            yield _written(manifest)


def _is_to_apply(manifest: Manifest) -> bool:
    metadata, kind = manifest["metadata"], manifest["kind"]
    if kind in MADE or (manifest["apiVersion"], kind) in OWN_KINDS:
        return False
    if metadata.get("ownerReferences") or "deletionTimestamp" in metadata:
        return False
    if kind == "Pod" and (manifest.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return False
    everywhere = {"Namespace": BUILT_IN_NAMESPACES, "PriorityClass": SYSTEM_CLASSES}
    return metadata["name"] not in everywhere.get(kind, ())


def _written(manifest: Manifest) -> Manifest:
    metadata = {field: manifest["metadata"][field] for field in KEPT if field in manifest["metadata"]}
    annotations = {
        key: text for key, text in metadata.pop("annotations", {}).items() if not key.startswith(OTHERS)
    }
    if annotations:
        metadata["annotations"] = annotations
    found = {field: value for field, value in manifest.items() if field not in ("metadata", "status")}
    found = {"apiVersion": found.pop("apiVersion"), "kind": found.pop("kind"), "metadata": metadata, **found}
    spec = manifest.get("spec") or {}
    match manifest["kind"]:
        case "Pod":
            found["spec"] = {field: value for field, value in spec.items() if field not in POD}
            found["spec"]["tolerations"] = [t for t in spec.get("tolerations", ()) if not _is_default(t)]
        case "Node":
            status = manifest.get("status") or {}
            found["status"] = {field: status[field] for field in NODE_STATUS if field in status}
        case "PersistentVolume":
            found["spec"] = {field: value for field, value in spec.items() if field != "claimRef"}
        case "Job" if "controller-uid" in str(spec.get("selector")):
            # The server chooses it, by a uid that the new Job will not have.
            template = spec["template"]
            labels = (template.get("metadata") or {}).get("labels") or {}
            own = {key: text for key, text in labels.items() if "controller-uid" not in key}
            rest = {field: value for field, value in spec.items() if field != "selector"}
            found["spec"] = {**rest, "template": {**template, "metadata": {"labels": own}}}
    return {field: value for field, value in found.items() if value not in ({}, None)}


def _is_default(toleration: Manifest) -> bool:
    """Whether admission adds it to every pod."""
    return toleration.get("tolerationSeconds") == UNREACHABLE_SECONDS and toleration.get("key") in (
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    )
