"""ResourceSlices.

Upstream: pkg/registry/resource/resourceslice/strategy.go, and ValidateResourceSlice and
ValidateResourceSliceUpdate in pkg/apis/resource/validation/validation.go.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_changes import dropping
from simulator.apiserver.field_checks import NOT_POSITIVE
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.devices.checks import BINDING_CONDITIONS, POOL_NAME
from simulator.apiserver.kinds.devices.device_validation import (
    DEVICE,
    LIST_ATTRIBUTES,
    SELECTIONS,
    SHARED_COUNTERS,
    check_selection_of_device,
    given_selections,
)
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
    named_by,
    needed,
    where,
)
from simulator.apiserver.status import Cause, invalid, required
from simulator.apiserver.strategy import Strategy, spec_of
from simulator.apiserver.update_shapes import immutable

_MAX_DEVICES: Final = 128
_MAX_SPECIAL_DEVICES: Final = 64
"""Maximum number of devices, if one has taints or consumes counters
(ResourceSliceMaxDevicesWithTaintsOrConsumesCounters)."""
_ONE_SELECTION: Final = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
)


def _check_one_term(selector: Manifest, path: str) -> Iterator[Cause]:
    if len(selector.get("nodeSelectorTerms") or []) != 1:
        shown = api_struct("core.v1.NodeSelector", selector)["NodeSelectorTerms"]
        detail = "must have exactly one node selector term"
        yield invalid(f"{path}.nodeSelectorTerms", shown, detail, whole=True)


def _check_one_selection(spec: Manifest, path: str) -> Iterator[Cause]:
    given = given_selections(spec, "perDeviceNodeSelection")
    if not given:
        yield required(path, _ONE_SELECTION)
    elif len(given) > 1:
        shown = "{" + ", ".join(given) + "}"
        yield invalid(path, shown, f"{_ONE_SELECTION}, but multiple fields are set")


def _check_devices(spec: Manifest, path: str) -> Iterable[Cause]:
    devices, path = spec.get("devices") or (), f"{path}.devices"
    by_device = bool(spec.get("perDeviceNodeSelection"))
    is_special = any(device.get("taints") or device.get("consumesCounters") for device in devices)

    def check(device: Manifest, at: str) -> Iterator[Cause]:
        yield from DEVICE(device, at)
        yield from check_selection_of_device(device, at, by_device=by_device)

    return items(check, most=_MAX_SPECIAL_DEVICES if is_special else _MAX_DEVICES, unique="name")(
        devices, path
    )


def _check_one_list(spec: Manifest, path: str) -> Iterator[Cause]:
    if spec.get("sharedCounters") and spec.get("devices"):
        yield invalid(path, "", "only one of `sharedCounters` or `devices` is allowed")


_SPEC: Final = all_of(
    field("driver", check_driver_name, default=""),
    needed("pool.name", POOL_NAME),
    field("pool.resourceSliceCount", in_range(1, detail=NOT_POSITIVE), default=0),
    field("pool.generation", in_range(0, detail="must be greater than or equal to zero")),
    field("nodeName", where(bool, "must be either unset or set to a non-empty string")),
    filled("nodeName", named_by(names.dns_subdomain)),
    field("nodeSelector", NODE_SELECTOR, _check_one_term),
    field("allNodes", where(bool, "must be either unset or set to true")),
    field("perDeviceNodeSelection", where(bool, "must be either unset or set to true")),
    _check_one_selection,
    _check_one_list,
    _check_devices,
    field("sharedCounters", SHARED_COUNTERS),
)


def of_devices(*names: str) -> list[str]:
    return [f"spec.devices[].{name}" for name in names]


RESOURCE_SLICE_STRATEGY: Final = Strategy(
    resource=built_in("resource.k8s.io/v1", "ResourceSlice", in_cluster=True),
    drop_disabled_fields=dropping(
        DRAConsumableCapacity=of_devices("allowMultipleAllocations", "capacity{}.requestPolicy"),
        DRADeviceBindingConditions=of_devices(*BINDING_CONDITIONS, "bindsToNode"),
        DRADeviceTaints=of_devices("taints"),
        DRAListTypeAttributes=of_devices(*(f"attributes{{}}.{kind}" for kind in LIST_ATTRIBUTES)),
        DRANodeAllocatableResources=of_devices("nodeAllocatableResourceMappings"),
        DRAPartitionableDevices=[
            *("spec.sharedCounters", "spec.perDeviceNodeSelection"),
            *of_devices("consumesCounters", *SELECTIONS),
        ],
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
