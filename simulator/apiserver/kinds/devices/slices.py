"""ResourceSlices.

Upstream: pkg/registry/resource/resourceslice/strategy.go, and ValidateResourceSlice and
ValidateResourceSliceUpdate in pkg/apis/resource/validation/validation.go.
"""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_changes import dropping
from simulator.apiserver.field_checks import NOT_POSITIVE
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.devices.checks import POOL_NAME, check_qualified_name, key_path
from simulator.apiserver.kinds.volumes.validation import check_driver_name
from simulator.apiserver.printers.column import AGE, NAME, Column, printer_of, text_or_none
from simulator.apiserver.resource import built_in
from simulator.apiserver.selector_validation import NODE_SELECTOR
from simulator.apiserver.shapes import (
    all_of,
    field,
    filled,
    in_range,
    items,
    matches,
    max_bytes,
    named_by,
    needed,
    where,
)
from simulator.apiserver.status import Cause, invalid, required
from simulator.apiserver.strategy import Strategy, spec_of
from simulator.apiserver.update_shapes import immutable

_DISABLED: Final = (
    "taints",  # DRADeviceTaints
    *("consumesCounters", "nodeName", "nodeSelector", "allNodes"),  # DRAPartitionableDevices
    *("bindingConditions", "bindingFailureConditions", "bindsToNode"),  # DRADeviceBindingConditions
    *("allowMultipleAllocations", "capacity{}.requestPolicy"),  # DRAConsumableCapacity
)
"""The fields of a device whose feature gate is off by default."""
_MAX_DEVICES: Final = 128
_MAX_ATTRIBUTES: Final = 32
_MAX_VALUE: Final = max_bytes(64)
_ATTRIBUTE_TYPES: Final = ("int", "bool", "string", "version")
_ONE_VALUE: Final = "exactly one value must be specified"
_SELECTIONS: Final = ("nodeName", "nodeSelector", "allNodes")
_ONE_SELECTION: Final = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
)
_NUMBER: Final = "(0|[1-9][0-9]*)"
_PRE_RELEASE: Final = "(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD: Final = "[0-9a-zA-Z-]+"
_SEMVER: Final = (
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE_RELEASE}(\.{_PRE_RELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?"
)


def _check_one_term(selector: Manifest, path: str) -> Iterator[Cause]:
    if len(selector.get("nodeSelectorTerms") or []) != 1:
        shown = api_struct("core.v1.NodeSelector", selector)["NodeSelectorTerms"]
        detail = "must have exactly one node selector term"
        yield invalid(f"{path}.nodeSelectorTerms", shown, detail, whole=True)


def _check_one_selection(spec: Manifest, path: str) -> Iterator[Cause]:
    given = [f"`{name}`" for name in _SELECTIONS if spec.get(name) or spec.get(name) == {}]
    if not given:
        yield required(path, _ONE_SELECTION)
    elif len(given) > 1:
        shown = "{" + ", ".join(given) + "}"
        yield invalid(path, shown, f"{_ONE_SELECTION}, but multiple fields are set")


def _check_attributes(device: Manifest, path: str) -> Iterator[Cause]:
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    count = len(attributes) + len(capacity)
    if count > _MAX_ATTRIBUTES:
        detail = f"the total number of attributes and capacities must not exceed {_MAX_ATTRIBUTES}"
        yield invalid(path, count, detail)
    for key, attribute in sorted(attributes.items()):
        at = key_path(f"{path}.attributes", key)
        yield from check_qualified_name(key, at)
        yield from _ATTRIBUTE(attribute, at)
    for key in sorted(capacity):
        yield from check_qualified_name(key, key_path(f"{path}.capacity", key))


def _check_one_value(attribute: Manifest, path: str) -> Iterator[Cause]:
    given = sum(attribute.get(kind) is not None for kind in _ATTRIBUTE_TYPES)
    if not given:
        yield required(path, _ONE_VALUE)
    elif given > 1:
        yield invalid(path, api_struct("resource.v1.DeviceAttribute", attribute), _ONE_VALUE, whole=True)


_ATTRIBUTE: Final = all_of(
    field("string", _MAX_VALUE),
    field(
        "version",
        matches(_SEMVER, "must be a string compatible with semver.org spec 2.0.0"),
        _MAX_VALUE,
    ),
    _check_one_value,
)
"""validateDeviceAttribute."""
_SPEC: Final = all_of(
    field("driver", check_driver_name, default=""),
    needed("pool.name", POOL_NAME),
    field("pool.resourceSliceCount", in_range(1, detail=NOT_POSITIVE), default=0),
    field("pool.generation", in_range(0, detail="must be greater than or equal to zero")),
    field("nodeName", where(bool, "must be either unset or set to a non-empty string")),
    filled("nodeName", named_by(names.dns_subdomain)),
    field("nodeSelector", NODE_SELECTOR, _check_one_term),
    field("allNodes", where(bool, "must be either unset or set to true")),
    _check_one_selection,
    field(
        "devices",
        items(
            field("name", named_by(names.dns_label), default=""),
            _check_attributes,
            most=_MAX_DEVICES,
            unique="name",
        ),
    ),
)
RESOURCE_SLICE_STRATEGY: Final = Strategy(
    resource=built_in("resource.k8s.io/v1", "ResourceSlice", in_cluster=True),
    drop_disabled_fields=dropping(
        *("spec.sharedCounters", "spec.perDeviceNodeSelection"),  # DRAPartitionableDevices
        *(f"spec.devices[].{name}" for name in _DISABLED),
    ),
    validate=field("spec", _SPEC),
    validate_update=immutable("spec.pool.name", "spec.driver", "spec.nodeName"),
    update_order="USC",
    desired_state=spec_of,
    printer=printer_of(
        NAME,
        Column("Node", "ResourceSliceSpec.nodeName", show=text_or_none),
        Column("Driver", "ResourceSliceSpec.driver"),
        Column("Pool", "ResourcePool.name", cell="spec.pool.name"),
        AGE,
    ),
    fields=("spec.nodeName", "spec.driver"),
    field_error="field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}",
)
