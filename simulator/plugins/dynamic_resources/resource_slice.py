"""ResourceSlices as the allocator reads them (staging/src/k8s.io/api/resource/v1/types.go), and the
node selectors of slices and of allocations, with the errors that the scheduler finds in them
(NewNodeSelector in staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go).
The API server refuses such selectors."""

from collections.abc import Iterator
from typing import NamedTuple

from simulator.api import Manifest
from simulator.cel.device_value import DeviceValue
from simulator.objects.labels import parse_int64
from simulator.objects.node_selector import NodeSelector, node_selector


class NodeSelectorError(ValueError):
    """The error of an invalid node selector. The message has all causes."""


def checked_node_selector(manifest: Manifest) -> NodeSelector:
    """Parse a node selector. Raises NodeSelectorError."""
    causes = [
        f"nodeSelectorTerms[{i}].matchExpressions[{j}].{cause}"
        for i, term in enumerate(manifest.get("nodeSelectorTerms") or ())
        for j, expression in enumerate(term.get("matchExpressions") or ())
        for cause in _causes(expression)
    ]
    if causes:
        raise NodeSelectorError(causes[0] if len(causes) == 1 else f"[{', '.join(causes)}]")
    parsed = node_selector(manifest)
    assert parsed is not None
    return parsed


def _causes(expression: Manifest) -> Iterator[str]:
    values = expression.get("values") or []
    match expression.get("operator"):
        case "In" | "NotIn":
            if not values:
                yield ("values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty")
        case "Exists" | "DoesNotExist":
            if values:
                yield (
                    f"values: Invalid value: {_go_strings(values)}: "
                    "values set must be empty for exists and does not exist"
                )
        case "Gt" | "Lt":
            if len(values) != 1:
                given = _go_strings(values) if values else "null"
                yield (
                    f"values: Invalid value: {given}: for 'Gt', 'Lt' operators, exactly one value is required"
                )
            elif parse_int64(values[0]) is None:
                yield (
                    f'values[0]: Invalid value: "{values[0]}": '
                    "for 'Gt', 'Lt' operators, the value must be an integer"
                )


def _go_strings(values: list[str]) -> str:
    return "[" + ",".join(f'"{value}"' for value in values) + "]"


class Device(NamedTuple):
    name: str
    value: DeviceValue
    """The device as selectors see it."""
    attributes: Manifest
    capacity: Manifest
    consumes_counters: bool
    has_binding_conditions: bool


class ResourceSlice(NamedTuple):
    """A ResourceSlice. ``node_name``, ``all_nodes`` and ``node_selector`` decide for which nodes the slice
    counts; the first that is set decides."""

    name: str
    driver: str
    pool: str
    generation: int
    slice_count: int
    """The value of ``pool.resourceSliceCount``."""
    node_name: str
    all_nodes: bool
    selector_manifest: Manifest | None
    node_selector: NodeSelector | None
    fault: str
    """The reason for which ``node_selector`` could not be parsed."""
    devices: tuple[Device, ...]


def parse_slice(manifest: Manifest) -> ResourceSlice | None:
    """Parse a slice; None for one that counts for no node. A selection for each device needs the feature
    DRAPartitionableDevices, which is off."""
    spec, name = manifest["spec"], manifest["metadata"]["name"]
    if spec.get("perDeviceNodeSelection") is not None:
        return None
    if not spec.get("nodeName") and not spec.get("allNodes") and spec.get("nodeSelector") is None:
        return None
    selector: NodeSelector | None = None
    fault = ""
    if spec.get("nodeSelector") is not None:
        try:
            selector = checked_node_selector(spec["nodeSelector"])
        except NodeSelectorError as error:
            fault = f"node selector in resource slice {name}: {error}"
    pool, driver = spec["pool"], spec["driver"]
    return ResourceSlice(
        name,
        driver,
        pool["name"],
        pool.get("generation") or 0,
        pool.get("resourceSliceCount") or 0,
        spec.get("nodeName") or "",
        bool(spec.get("allNodes")),
        spec.get("nodeSelector"),
        selector,
        fault,
        tuple(_device(driver, each) for each in spec.get("devices") or ()),
    )


def _device(driver: str, manifest: Manifest) -> Device:
    return Device(
        manifest["name"],
        DeviceValue.of(driver, manifest),
        manifest.get("attributes") or {},
        manifest.get("capacity") or {},
        bool(manifest.get("consumesCounters")),
        bool(manifest.get("bindingConditions")),
    )
