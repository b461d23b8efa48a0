"""ResourceSlices.

Upstream: pkg/registry/resource/resourceslice/strategy.go, and ValidateResourceSlice and
ValidateResourceSliceUpdate in pkg/apis/resource/validation/validation.go, v1.34.
"""

import re
from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import IMMUTABLE, check_name
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.devices.checks import (
    check_list,
    check_pool_name,
    check_qualified_name,
    check_unique,
    key_path,
)
from simulator.apiserver.kinds.volumes.validation import check_driver_name
from simulator.apiserver.printers.column import AGE, NAME, NONE, Column, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.selector_validation import NODE_SELECTOR
from simulator.apiserver.status import NIL, Cause, invalid, required, too_long
from simulator.apiserver.strategy import Strategy, spec_of

_DISABLED: Final = (
    "taints",  # DRADeviceTaints
    *("consumesCounters", "nodeName", "nodeSelector", "allNodes"),  # DRAPartitionableDevices
    *("bindingConditions", "bindingFailureConditions", "bindsToNode"),  # DRADeviceBindingConditions
    "allowMultipleAllocations",  # DRAConsumableCapacity
)
"""The fields of a device whose feature gate is off by default."""
_MAX_DEVICES: Final = 128
_MAX_ATTRIBUTES: Final = 32
_MAX_VALUE: Final = 64
_ATTRIBUTE_TYPES: Final = ("int", "bool", "string", "version")
_ONE_VALUE: Final = "exactly one value must be specified"
_ONE_SELECTION: Final = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
)
_NUMBER: Final = r"(0|[1-9]\d*)"
_PRE_RELEASE: Final = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD: Final = "[0-9a-zA-Z-]+"
_SEMVER: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE_RELEASE}(\.{_PRE_RELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?",
    re.ASCII,
)


def _validate(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest["spec"]
    yield from check_driver_name(spec.get("driver", ""), "spec.driver")
    pool = spec.get("pool") or {}
    yield from check_pool_name(pool.get("name", ""), "spec.pool.name")
    count, generation = pool.get("resourceSliceCount") or 0, pool.get("generation") or 0
    if count <= 0:
        yield invalid("spec.pool.resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        yield invalid("spec.pool.generation", generation, "must be greater than or equal to zero")
    yield from _node_selection(spec)
    yield from check_list(spec.get("devices"), _MAX_DEVICES, "spec.devices", _device)
    yield from check_unique(spec.get("devices"), "name", "spec.devices")


def _node_selection(spec: Manifest) -> Iterator[Cause]:
    given = []
    node, selector, all_nodes = (spec.get(field) for field in ("nodeName", "nodeSelector", "allNodes"))
    if node:
        given.append("`nodeName`")
        yield from check_name(names.dns_subdomain, node, "spec.nodeName")
    elif node is not None:
        yield invalid("spec.nodeName", node, "must be either unset or set to a non-empty string")
    if selector is not None:
        given.append("`nodeSelector`")
        yield from NODE_SELECTOR(selector, "spec.nodeSelector")
        terms = selector.get("nodeSelectorTerms") or []
        if len(terms) != 1:
            shown = api_struct("core.v1.NodeSelector", selector)["NodeSelectorTerms"]
            detail = "must have exactly one node selector term"
            yield invalid("spec.nodeSelector.nodeSelectorTerms", shown, detail, whole=True)
    if all_nodes:
        given.append("`allNodes`")
    elif all_nodes is not None:
        yield invalid("spec.allNodes", all_nodes, "must be either unset or set to true")
    if not given:
        yield required("spec", _ONE_SELECTION)
    elif len(given) > 1:
        shown = "{" + ", ".join(given) + "}"
        yield invalid("spec", shown, f"{_ONE_SELECTION}, but multiple fields are set")


def _device(device: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateDevice reports."""
    yield from check_name(names.dns_label, device.get("name", ""), f"{path}.name")
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    count = len(attributes) + len(capacity)
    if count > _MAX_ATTRIBUTES:
        detail = f"the total number of attributes and capacities must not exceed {_MAX_ATTRIBUTES}"
        yield invalid(path, count, detail)
    for key, attribute in sorted(attributes.items()):
        at = key_path(f"{path}.attributes", key)
        yield from check_qualified_name(key, at)
        yield from _attribute(attribute, at)
    for key in sorted(capacity):
        yield from check_qualified_name(key, key_path(f"{path}.capacity", key))


def _attribute(attribute: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateDeviceAttribute reports."""
    text, version = attribute.get("string"), attribute.get("version")
    if text is not None and len(text.encode()) > _MAX_VALUE:
        yield too_long(f"{path}.string", _MAX_VALUE)
    if version is not None:
        if not _SEMVER.fullmatch(version):
            detail = "must be a string compatible with semver.org spec 2.0.0"
            yield invalid(f"{path}.version", version, detail)
        if len(version.encode()) > _MAX_VALUE:
            yield too_long(f"{path}.version", _MAX_VALUE)
    given = sum(attribute.get(kind) is not None for kind in _ATTRIBUTE_TYPES)
    if not given:
        yield required(path, _ONE_VALUE)
    elif given > 1:
        yield invalid(path, api_struct("resource.v1.DeviceAttribute", attribute), _ONE_VALUE, whole=True)


def _validate_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults of changes to fields of a slice that may not change."""
    after, before = new["spec"], old["spec"]
    pool, pool_before = after.get("pool") or {}, before.get("pool") or {}
    if pool.get("name") != pool_before.get("name"):
        yield invalid("spec.pool.name", pool.get("name", ""), IMMUTABLE)
    for field, zero in (("driver", ""), ("nodeName", NIL)):
        if after.get(field) != before.get(field):
            yield invalid(f"spec.{field}", after.get(field, zero), IMMUTABLE)


def _drop_disabled_fields(manifest: Manifest) -> None:
    spec = manifest.get("spec") or {}
    for name in ("sharedCounters", "perDeviceNodeSelection"):
        spec.pop(name, None)  # DRAPartitionableDevices
    for device in spec.get("devices", ()):
        for name in _DISABLED:
            device.pop(name, None)
        for capacity in device.get("capacity", {}).values():
            capacity.pop("requestPolicy", None)  # DRAConsumableCapacity


RESOURCE_SLICE_STRATEGY: Final = Strategy(
    resource=built_in("resource.k8s.io/v1", "ResourceSlice", in_cluster=True),
    drop_disabled_fields=_drop_disabled_fields,
    validate=_validate,
    validate_update=_validate_update,
    update_order="USC",
    desired_state=spec_of,
    printer=printer_of(
        NAME,
        Column(
            "Node", "ResourceSliceSpec.nodeName", cell=lambda item, _: item["spec"].get("nodeName") or NONE
        ),
        Column("Driver", "ResourceSliceSpec.driver", cell="spec.driver"),
        Column("Pool", "ResourcePool.name", cell="spec.pool.name"),
        AGE,
    ),
    fields=("spec.nodeName", "spec.driver"),
    field_error="field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}",
)
