"""The parts of an object that an update through each path may change: the rest is taken from the stored
object.

Upstream: PrepareForUpdate of the strategies in pkg/registry, v1.34.
"""

import copy
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.claim_status_validation import drop_statuses_of_released_devices
from simulator.apiserver.device_admin_access import RESOURCE_CLAIMS
from simulator.apiserver.resources import BUILT_IN_GROUPS, CRDS, NAMESPACES, PODS, Resource
from simulator.apiserver.status_defaults import complete_container_statuses, match_pod_ips

_STATUS_KEEPS_METADATA: Final = (
    RESOURCE_CLAIMS,
    "volumeattachments.storage.k8s.io",
)
"""Resources whose metadata an update of the status does not change (ResetObjectMetaForStatus). That of a
CustomResourceDefinition changes: its strategy resets the new metadata to itself."""
_STATUS_KEEPS: Final = {
    "deployments.apps": ("labels",),
    "pods": ("ownerReferences",),
}
"""The fields of the metadata that an update of the status does not change, of others."""
_PHASE_TIME: Final = "lastPhaseTransitionTime"
_RESIZED: Final = ("resources", "resizePolicy")


def prepare_update(resource: Resource, subresource: str, old: Manifest, new: Manifest) -> Manifest:
    """Return ``new`` with the fields of ``old`` that the path does not change. ``new`` is decoded."""
    match subresource:
        case "status" | "approval" if resource.has_status:
            return _status_of(resource, old, new)
        case "finalize":
            return _with(new, old, "status")
        case "ephemeralcontainers":
            containers = new.get("spec", {}).get("ephemeralContainers")
            spec = {**copy.deepcopy(old["spec"]), "ephemeralContainers": containers}
            return {**old, "spec": spec if containers else _without(spec, "ephemeralContainers")}
        case "resize":
            return _resized(old, new)
    if resource.has_status:
        new = _with(new, old, "status")
    if resource.id == CRDS:
        new = _with_stored_versions(new)
    if resource == NAMESPACES:
        finalizers = old.get("spec", {}).get("finalizers")
        spec = {**new.get("spec", {}), "finalizers": finalizers}
        new = {**new, "spec": spec if finalizers else _without(spec, "finalizers")}
    return new


def with_status_times(resource: Resource, new: Manifest, old: Manifest, now: str) -> Manifest:
    """Return the object with the times that the server sets in a new status."""
    return _with_phase_time(new, old, now) if resource.id == "persistentvolumes" else new


def _with_phase_time(new: Manifest, old: Manifest, now: str) -> Manifest:
    """Return the status of a PersistentVolume with the time at which it came into its phase, unless the
    update has another one (PrepareForUpdate of its status)."""
    status, before = new.get("status", {}), old.get("status", {})
    time, known = status.get(_PHASE_TIME), before.get(_PHASE_TIME)
    if status.get("phase") != before.get("phase"):
        time = now if time in (None, known) else time
    elif time is None:
        time = known
    return {**new, "status": {**status, _PHASE_TIME: time}} if time is not None else new


def _with_stored_versions(definition: Manifest) -> Manifest:
    """Return the definition with the version in which objects are stored now among those in which they
    were."""
    status = definition.get("status") or {}
    known = status.get("storedVersions") or []
    added = [
        version["name"]
        for version in definition["spec"].get("versions") or ()
        if version.get("storage") and version["name"] not in known
    ]
    return {**definition, "status": {**status, "storedVersions": [*known, *added]}} if added else definition


def _status_of(resource: Resource, old: Manifest, new: Manifest) -> Manifest:
    prepared = {**copy.deepcopy(old), "status": new.get("status", {})}
    if resource.id == RESOURCE_CLAIMS:
        drop_statuses_of_released_devices(old, prepared)
    if resource.group not in BUILT_IN_GROUPS or resource.id in _STATUS_KEEPS_METADATA:
        return prepared
    metadata = prepared["metadata"] = new["metadata"]
    for field in _STATUS_KEEPS.get(resource.id, ()):
        prepared["metadata"] = metadata = _with(metadata, old["metadata"], field)
    known = old.get("status", {}).get("qosClass")
    if resource == PODS:
        status = copy.deepcopy(prepared["status"])
        complete_container_statuses(status)
        match_pod_ips(status)
        prepared["status"] = {"qosClass": known, **status} if known else status
    return prepared


def _resized(old: Manifest, new: Manifest) -> Manifest:
    """Return the pod with the resources and resize policies of the containers. Where containers are added,
    removed, renamed or put in another order, they are as they were sent, for validation to refuse
    (dropNonResizeUpdates)."""
    lists = {
        kind: (old["spec"].get(kind, []), new["spec"].get(kind, []))
        for kind in ("containers", "initContainers")
    }
    if any(len(known) != len(given) for known, given in lists.values()):
        return new
    prepared = copy.deepcopy(old)
    for kind, (known, given) in lists.items():
        pairs = [*zip(known, given, strict=True)]
        if any(container["name"] != wanted["name"] for container, wanted in pairs):
            prepared["spec"][kind] = given
        elif pairs:
            prepared["spec"][kind] = [_with_resources(container, wanted) for container, wanted in pairs]
    return prepared


def _with_resources(container: Manifest, wanted: Manifest) -> Manifest:
    for field in _RESIZED:
        container = _with(container, wanted, field)
    return container


def _with(new: Manifest, old: Manifest, field: str) -> Manifest:
    """Return ``new`` with this field as ``old`` has it."""
    return {**new, field: copy.deepcopy(old[field])} if field in old else _without(new, field)


def _without(manifest: Manifest, field: str) -> Manifest:
    return {key: value for key, value in manifest.items() if key != field}
