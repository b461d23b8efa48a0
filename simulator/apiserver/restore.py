"""Objects that no request creates: those that another API server has stored, and pods that are only asked
about.

They keep their status, and their UID and times where they have them. What they lack is completed as by a
creation; nothing is refused for what is around them, but for pods whose PriorityClass does not exist.
"""

import uuid
from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver import decoding
from simulator.apiserver.admission_plugins.order import READ_OF_PODS, complete_pod
from simulator.apiserver.defaults import set_defaults, set_status_defaults
from simulator.apiserver.kinds.pods.preparation import drop_disabled_of_status, set_derived_fields
from simulator.apiserver.overlay import Overlay, Reader
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NODES, PODS
from simulator.apiserver.served_features import served_features
from simulator.apiserver.status import Cause
from simulator.apiserver.validation import validate, validate_metadata
from simulator.objects.node_status import joined_node
from simulator.objects.pod_requests import qos_class
from simulator.objects.timestamps import timestamp

__all__ = ["READ_OF_PODS", "asked_pod", "complete_restored_pod", "restored"]

_UIDS: Final = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")


def restored(
    resource: Resource,
    found: Manifest,
    now: Micros,
    own_metadata: Manifest | None = None,
    *,
    known_spec: bool = False,
) -> tuple[Manifest, list[Cause]]:
    """Return an object of another API server as it is stored here, and its faults. ``found`` fits its type,
    and is changed. A node is completed as its kubelet does; a pod is to be completed when all that is read
    for it is known (:func:`complete_restored_pod`). ``known_spec``: that of the pod is as it is stored, and
    known to have no fault with the annotations that the pod has. ``own_metadata``: the rest of its metadata
    is known to have no fault; None = nothing is known."""
    if known_spec:
        drop_disabled_of_status(found)
        set_status_defaults(resource.id, found)
    else:
        set_defaults(resource, found)
    metadata = found["metadata"]
    if resource.namespaced:
        metadata.setdefault("namespace", "default")
    else:
        metadata.pop("namespace", None)
    if "creationTimestamp" not in metadata:
        metadata["creationTimestamp"] = timestamp(now)
    if "uid" not in metadata:
        key = resource.key(metadata.get("namespace", ""), metadata["name"])
        metadata["uid"] = str(uuid.uuid5(_UIDS, f"{resource.id}/{key}"))
    if resource == NODES:
        found = joined_node(found, timestamp(now), served_features())
    elif resource == PODS:
        status = found.setdefault("status", {})
        status.setdefault("phase", "Pending")
        status["qosClass"] = qos_class(found)
    if known_spec:
        return found, validate_metadata(resource, metadata if own_metadata is None else own_metadata)
    return found, validate(resource, found)


def complete_restored_pod(pod: Manifest, reader: Reader | Overlay) -> None:
    """Complete a restored pod in place if no API server has admitted it. ``reader`` has the objects of
    READ_OF_PODS. Raises StatusError."""
    if "priority" not in pod["spec"]:
        complete_pod(pod, reader if isinstance(reader, Overlay) else Overlay(reader))
        pod["status"]["qosClass"] = qos_class(pod)


def asked_pod(manifest: Manifest, reader: Reader) -> tuple[Manifest, list[Cause]]:
    """Return a pod as it would be stored, and its faults. A generated name ends with ``xxxxx``. ``reader``
    has the objects of READ_OF_PODS. Raises StatusError, or ValueError for a pod without a name."""
    pod, faults = decoding.decode(PODS, manifest)
    if faults:
        return pod, faults
    metadata = pod.setdefault("metadata", {})
    metadata.setdefault("namespace", "default")
    if "name" not in metadata:
        if not metadata.get("generateName"):
            raise ValueError("metadata.name: name or generateName is required")
        metadata["name"] = metadata["generateName"] + "xxxxx"
    set_defaults(PODS, pod)
    complete_pod(pod, Overlay(reader))
    set_derived_fields(pod)
    return pod, validate(PODS, pod)
