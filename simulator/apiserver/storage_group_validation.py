"""Validation of the kinds of storage.k8s.io, beyond their schemas.

Upstream: pkg/apis/storage/validation/validation.go, v1.34."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import BINDING_MODES
from simulator.apiserver.field_checks import NOT_NEGATIVE, check_name, check_not_negative
from simulator.apiserver.repeated import repeats
from simulator.apiserver.selector_validation import validate_label_selector
from simulator.apiserver.status import (
    Cause,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from simulator.apiserver.storage_validation import (
    validate_persistent_volume,
    validate_persistent_volume_claim,
    validate_volume_spec,
)
from simulator.apiserver.volume_plugin_validation import check_driver_name
from simulator.objects import quantity

_RECLAIM_POLICIES: Final = ("Delete", "Retain")
_MAX_PARAMETERS: Final = 512
_MAX_PARAMETERS_BYTES: Final = 256 * 1024
_MAX_NODE_ID: Final = 192
_GROUP_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLE_MODES: Final = ("Ephemeral", "Persistent")
_ONE_SOURCE: Final = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


def _validate_storage_class(manifest: Manifest) -> Iterator[Cause]:
    yield from check_provisioner(manifest["provisioner"], "provisioner")
    yield from check_parameters(manifest.get("parameters", {}), "parameters")
    for field, choices in (("reclaimPolicy", _RECLAIM_POLICIES), ("volumeBindingMode", BINDING_MODES)):
        if manifest[field] not in choices and (manifest[field] or field == "volumeBindingMode"):
            yield not_supported(field, manifest[field], choices)
    yield from _allowed_topologies(manifest.get("allowedTopologies", ()), "allowedTopologies")


def check_provisioner(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validateProvisioner reports."""
    if not name:
        yield required(path)
    else:
        yield from check_name(names.qualified_name, name.lower(), path)


def check_parameters(parameters: dict[str, str], path: str) -> Iterator[Cause]:
    """Yield the faults that validateParameters reports."""
    if len(parameters) > _MAX_PARAMETERS:
        yield too_long(path, _MAX_PARAMETERS)
        return
    if "" in parameters:
        yield invalid(path, "", "field can not be empty.")
    if (
        sum(len(key.encode()) + len(value.encode()) for key, value in parameters.items())
        > _MAX_PARAMETERS_BYTES
    ):
        yield too_long(path, _MAX_PARAMETERS_BYTES)


def _allowed_topologies(terms: list[Manifest], path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateTopologySelectorTerm reports."""
    # Upstream compares each term with as many empty ones, too.
    seen = Counter({frozenset[tuple[str, frozenset[str]]](): len(terms)})
    for index, term in enumerate(terms):
        wanted: dict[str, frozenset[str]] = {}
        for number, each in enumerate(term.get("matchLabelExpressions", ())):
            at, values = f"{path}[{index}].matchLabelExpressions[{number}]", each.get("values", [])
            if not values:
                yield required(f"{at}.values")
            for place, (value, is_repeated) in enumerate(zip(values, repeats(values), strict=True)):
                if is_repeated:
                    yield duplicate(f"{at}.values[{place}]", value)
            yield from check_name(names.qualified_name, each["key"], f"{at}.key")
            if each["key"] in wanted:
                yield duplicate(f"{at}.key", each["key"])
            wanted[each["key"]] = frozenset(values)
        term_identity = frozenset(wanted.items())
        yield from repeat(duplicate(f"{path}[{index}].matchLabelExpressions", ""), seen[term_identity])
        seen[term_identity] += 1


def _validate_csi_node(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that validateCSINodeDrivers reports."""
    seen: set[str] = set()
    for index, driver in enumerate(manifest["spec"].get("drivers") or ()):
        path, name, node = f"spec.drivers[{index}]", driver["name"], driver["nodeID"]
        yield from check_driver_name(name, f"{path}.name")
        if not node:
            yield required(f"{path}.nodeID")
        if len(node.encode()) > _MAX_NODE_ID:
            yield invalid(f"{path}.nodeID", node, f"must be {_MAX_NODE_ID} characters or less")
        yield from check_not_negative(driver.get("allocatable", {}), ("count",), f"{path}.allocatable")
        if name in seen:
            yield duplicate(f"{path}.name", name)
        seen.add(name)
        keys = driver.get("topologyKeys") or []
        for number, key in enumerate(keys):
            if not key:
                yield required(path)
            if key in keys[:number]:
                yield duplicate(path, key)
            yield from check_name(names.qualified_name, key, path)


def _validate_csi_driver(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest["spec"]
    if spec.get("fsGroupPolicy", "None") not in _GROUP_POLICIES:
        yield not_supported("spec.fsGroupPolicy", spec["fsGroupPolicy"], _GROUP_POLICIES)
    seen: set[str] = set()
    for index, request in enumerate(spec.get("tokenRequests", ())):
        path, audience = f"spec.tokenRequests[{index}]", request.get("audience", "")
        if audience in seen:
            yield duplicate(f"{path}.audience", audience)
            continue
        seen.add(audience)
        if "expirationSeconds" in request:
            at, seconds = f"{path}.expirationSeconds", request["expirationSeconds"]
            if seconds < 600:
                yield invalid(at, seconds, "may not specify a duration less than 10 minutes")
            elif seconds > 1 << 32:
                yield invalid(at, seconds, "may not specify a duration larger than 2^32 seconds")
    for mode in spec.get("volumeLifecycleModes", ()):
        if mode not in _LIFECYCLE_MODES:
            yield not_supported("spec.volumeLifecycleModes", mode, ("Persistent", "Ephemeral"), as_given=True)


def _validate_capacity(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateCSIStorageCapacity reports."""
    yield from validate_label_selector(manifest.get("nodeTopology"), "nodeTopology")
    name = manifest.get("storageClassName", "")
    yield from check_name(names.dns_subdomain, name, "storageClassName")
    if "capacity" in manifest and quantity.parse_text(manifest["capacity"]) < 0:
        yield invalid("capacity", manifest["capacity"], NOT_NEGATIVE)


def _validate_attachment(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateVolumeAttachment and ValidateVolumeAttachmentV1 reports."""
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
    yield from check_name(names.dns_subdomain, spec["nodeName"], "spec.nodeName")
    yield from check_driver_name(spec["attacher"], "spec.attacher")
    if name is not None:
        yield from check_name(names.dns_subdomain, name, f"{path}.persistentVolumeName")


def _validate_attributes_class(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateVolumeAttributesClass reports."""
    yield from check_provisioner(manifest["driverName"], "driverName")
    parameters = manifest.get("parameters", {})
    if not parameters:
        yield required("parameters", "must contain at least one key/value pair")
    yield from check_parameters(parameters, "parameters")


STORAGE_CHECKS: Final[dict[str, Callable[[Manifest], Iterator[Cause]]]] = {
    "persistentvolumes": validate_persistent_volume,
    "persistentvolumeclaims": validate_persistent_volume_claim,
    "csidrivers.storage.k8s.io": _validate_csi_driver,
    "csinodes.storage.k8s.io": _validate_csi_node,
    "csistoragecapacities.storage.k8s.io": _validate_capacity,
    "storageclasses.storage.k8s.io": _validate_storage_class,
    "volumeattachments.storage.k8s.io": _validate_attachment,
    "volumeattributesclasses.storage.k8s.io": _validate_attributes_class,
}
