"""The kinds by which CSI drivers are known: CSIDrivers, CSINodes, CSIStorageCapacities, VolumeAttachments.

Upstream: strategy.go of their folders in pkg/registry/storage, pkg/apis/storage/v1/defaults.go and
pkg/apis/storage/validation/validation.go.
"""

from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest, Micros
from simulator.apiserver import names
from simulator.apiserver.field_changes import dropping
from simulator.apiserver.field_checks import IMMUTABLE, NOT_NEGATIVE, check_name
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.volumes.validation import (
    TOKEN_SECONDS,
    check_driver_name,
    validate_volume_spec,
)
from simulator.apiserver.printers.column import AGE, NAME, NONE, UNSET, Column, count, printer_of
from simulator.apiserver.repeated import repeats
from simulator.apiserver.resource import built_in
from simulator.apiserver.selector_validation import DEPRECATED_LABELS, term_warnings, validate_label_selector
from simulator.apiserver.shapes import all_of, each, field, must_have, named_by, not_negative, one_of, where
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, required
from simulator.apiserver.strategy import WHOLE_METADATA, Strategy, status_strategy
from simulator.apiserver.update_shapes import all_of_update, immutable, immutable_struct
from simulator.objects import quantity

_MAX_NODE_ID: Final = 192
_LONG_NODE_ID: Final = f"must be {_MAX_NODE_ID} characters or less"
_DRIVER: Final = all_of(
    field("name", check_driver_name),
    must_have("nodeID"),
    field("nodeID", where(lambda node: len(node.encode()) <= _MAX_NODE_ID, _LONG_NODE_ID)),
    not_negative("allocatable.count"),
)
_GROUP_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLE_MODES: Final = ("Persistent", "Ephemeral")
_CHANGEABLE: Final = ("tokenRequests", "requiresRepublish", "seLinuxMount")
"""The fields in the spec of a CSIDriver with whose changes the generation grows."""
_ONE_SOURCE: Final = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
_DRIVER_DEFAULTS: Final = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "storageCapacity": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "requiresRepublish": False,
    "seLinuxMount": False,
}


def _set_driver_defaults(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    for name, value in _DRIVER_DEFAULTS.items():
        spec.setdefault(name, value)
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def _token_requests(requests: list[Manifest], path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, request in enumerate(requests):
        at, audience = f"{path}[{index}]", request.get("audience", "")
        if audience in seen:
            yield duplicate(f"{at}.audience", audience)
        else:
            seen.add(audience)
            yield from TOKEN_SECONDS(request, at)


def _set_node_defaults(manifest: Manifest) -> None:
    """Set the drivers: Go writes them even if there are none."""
    spec = manifest.setdefault("spec", {})
    spec["drivers"] = spec.get("drivers") or None


def _node_drivers(drivers: list[Manifest], path: str) -> Iterator[Cause]:
    """Yield the faults that validateCSINodeDrivers reports."""
    seen: set[str] = set()
    for index, driver in enumerate(drivers):
        at, name = f"{path}[{index}]", driver["name"]
        yield from _DRIVER(driver, at)
        if name in seen:
            yield duplicate(f"{at}.name", name)
        seen.add(name)
        keys = driver.get("topologyKeys") or []
        for key, is_repeated in zip(keys, repeats(keys), strict=True):
            if not key:
                yield required(at)
            if is_repeated:
                yield duplicate(at, key)
            yield from check_name(names.qualified_name, key, at)


def _validate_node_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """ValidateCSINodeUpdate: drivers can be added and removed (MutableCSINodeAllocatableCount is off)."""
    drivers = {driver["name"]: driver for driver in new["spec"].get("drivers") or ()}
    for known in old["spec"].get("drivers") or ():
        driver = drivers.get(known["name"], known)
        if driver != known:
            shown = api_struct("storage.v1.CSINodeDriver", driver)
            yield invalid("spec.drivers", shown, IMMUTABLE, whole=True)


def _capacity_warnings(manifest: Manifest, _: object = None) -> Iterator[str]:
    topology = manifest.get("nodeTopology") or {}
    yield from term_warnings(topology, "nodeTopology")
    for key in sorted(topology.get("matchLabels") or ()):
        if key in DEPRECATED_LABELS:
            yield f"nodeTopology.matchLabels.{key}: {DEPRECATED_LABELS[key]}"


def _validate_attachment(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateVolumeAttachment and ValidateVolumeAttachmentV1 report."""
    spec: dict[str, Any] = manifest["spec"]
    source, path = spec.get("source") or {}, "spec.source"
    name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if not spec["attacher"]:
        yield required("spec.attacher")
    if name is None and inline is None:
        yield required(path, _ONE_SOURCE)
    elif name is not None and inline is not None:
        yield forbidden(path, _ONE_SOURCE)
    elif name == "":
        yield required(f"{path}.persistentVolumeName", "must specify non empty persistentVolumeName")
    elif inline is not None:
        yield from validate_volume_spec(inline, f"{path}.inlineVolumeSpec", is_inline=True)
    yield from _ATTACHMENT(manifest)


_SUBDOMAIN: Final = named_by(names.dns_subdomain)
_ATTACHMENT: Final = all_of(
    field("spec.nodeName", _SUBDOMAIN),
    field("spec.attacher", check_driver_name),
    field("spec.source.persistentVolumeName", _SUBDOMAIN),
)


def _audiences(item: Manifest, _: Micros) -> str:
    requests = item["spec"].get("tokenRequests")
    return UNSET if requests is None else ",".join(each.get("audience", "") for each in requests)


CSI_DRIVER_STRATEGY: Final = Strategy(
    resource=built_in("storage.k8s.io/v1", "CSIDriver", in_cluster=True),
    drop_disabled_fields=dropping(
        CSIServiceAccountTokenSecrets=["spec.serviceAccountTokenInSecrets"],
        MutableCSINodeAllocatableCount=["spec.nodeAllocatableUpdatePeriodSeconds"],
        VolumeLimitScaling=["spec.preventPodSchedulingIfMissing"],
    ),
    set_defaults=_set_driver_defaults,
    validate=all_of(
        field("spec.fsGroupPolicy", one_of(_GROUP_POLICIES)),
        field("spec.tokenRequests", _token_requests),
        each("spec.volumeLifecycleModes", one_of(_LIFECYCLE_MODES, as_given=True), indexed=False),
    ),
    needs_version=True,
    # ValidateCSIDriverUpdate misspells a field.
    validate_update=all_of_update(
        immutable("spec.attachRequired", shown="spec.attachedRequired"),
        immutable("spec.volumeLifecycleModes"),
    ),
    update_order="MSUSC",
    desired_state=lambda manifest: [manifest["spec"].get(name) for name in _CHANGEABLE],
    begins_with_generation=False,
    is_shown_when_deleted=True,
    printer=printer_of(
        NAME,
        Column("AttachRequired", "CSIDriverSpec.attachRequired", "boolean", absent=True),
        Column("PodInfoOnMount", "CSIDriverSpec.podInfoOnMount", "boolean", absent=False),
        Column("StorageCapacity", "CSIDriverSpec.storageCapacity", "boolean", absent=False),
        Column("TokenRequests", "CSIDriverSpec.tokenRequests", cell=_audiences),
        Column("RequiresRepublish", "CSIDriverSpec.requiresRepublish", "boolean", absent=False),
        Column(
            "Modes",
            "CSIDriverSpec.volumeLifecycleModes",
            cell=lambda item, _: ",".join(item["spec"].get("volumeLifecycleModes") or ()) or NONE,
        ),
        AGE,
    ),
)
CSI_NODE_STRATEGY: Final = Strategy(
    resource=built_in("storage.k8s.io/v1", "CSINode", in_cluster=True),
    set_defaults=_set_node_defaults,
    validate=field("spec.drivers", _node_drivers),
    needs_version=True,
    validate_update=_validate_node_update,
    update_order="MSMSC",
    is_shown_when_deleted=True,
    printer=printer_of(
        NAME,
        Column(
            "Drivers",
            "Drivers indicates the number of CSI drivers registered on the node",
            "integer",
            cell="spec.drivers",
            show=count,
        ),
        AGE,
    ),
)
CSI_CAPACITY_STRATEGY: Final = Strategy(
    resource=built_in("storage.k8s.io/v1", "CSIStorageCapacity"),
    validate=all_of(
        field("nodeTopology", validate_label_selector),
        field("storageClassName", _SUBDOMAIN, default=""),
        field("capacity", where(lambda text: quantity.parse_text(text) >= 0, NOT_NEGATIVE)),
    ),
    warnings=_capacity_warnings,
    needs_version=True,
    validate_update=immutable("nodeTopology", "storageClassName"),
    printer=printer_of(
        NAME,
        Column("StorageClassName", "CSIStorageCapacity.storageClassName"),
        Column("Capacity", "CSIStorageCapacity.capacity", absent=UNSET),
    ),
)
ATTACHMENT_STRATEGY: Final = Strategy(
    resource=built_in("storage.k8s.io/v1", "VolumeAttachment", in_cluster=True, has_status=True),
    validate=_validate_attachment,
    needs_version=True,
    validate_update=immutable_struct("spec", "storage.v1.VolumeAttachmentSpec"),
    update_order="MSMSC",
    subresources={"status": status_strategy(keeps_metadata=WHOLE_METADATA)},
    is_shown_when_deleted=True,
    printer=printer_of(
        NAME,
        Column("Attacher", "VolumeAttachmentSpec.attacher", format="name"),
        Column("PV", "VolumeAttachmentSource.persistentVolumeName", cell="spec.source.persistentVolumeName"),
        Column("Node", "VolumeAttachmentSpec.nodeName"),
        Column("Attached", "VolumeAttachmentStatus.attached", "boolean", absent=False),
        AGE,
    ),
)
