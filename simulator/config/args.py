"""Arguments of in-tree plugins: pkg/scheduler/apis/config/v1 (defaults) and validation_pluginargs.go, v1.34.

Decoding is strict; what the types cannot say, each plugin's ``validate`` function says, with field paths
below ``args``.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec

from simulator.api import Manifest

Cause = tuple[str, str]
"""Field path and message."""

MAX_WEIGHT = 100
MAX_UTILIZATION = 100
MAX_CUSTOM_PRIORITY_SCORE = 10
BIND_TIMEOUT_SECONDS = 600


class Args(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    api_version: str = ""
    kind: str = ""


class ResourceSpec(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    name: str
    weight: int = 1


class UtilizationShapePoint(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    utilization: int = 0
    """Percent."""
    score: int = 0
    """0 to 10."""


class RequestedToCapacityRatioParam(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    shape: list[UtilizationShapePoint] = []


def cpu_and_memory() -> list[ResourceSpec]:
    return [ResourceSpec("cpu", 1), ResourceSpec("memory", 1)]


class ScoringStrategy(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    type: Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"] = "LeastAllocated"
    resources: list[ResourceSpec] = msgspec.field(default_factory=list)
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None


class NodeResourcesFitArgs(Args):
    ignored_resources: list[str] = []
    ignored_resource_groups: list[str] = []
    scoring_strategy: ScoringStrategy | None = None


class NodeResourcesBalancedAllocationArgs(Args):
    resources: list[ResourceSpec] = []


class NodeAffinityArgs(Args):
    added_affinity: Manifest | None = None


class InterPodAffinityArgs(Args):
    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class PodTopologySpreadArgs(Args):
    default_constraints: list[Manifest] = []
    defaulting_type: Literal["", "System", "List"] = ""


class VolumeBindingArgs(Args):
    bind_timeout_seconds: int = BIND_TIMEOUT_SECONDS
    shape: list[UtilizationShapePoint] = []


class DefaultPreemptionArgs(Args):
    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100


class DynamicResourcesArgs(Args):
    filter_timeout: str = "10s"


def _validate_fit(args: NodeResourcesFitArgs) -> Iterator[Cause]:
    for i, name in enumerate(args.ignored_resources):
        if not name:
            yield f"ignoredResources[{i}]", "name part must be non-empty"
    for i, group in enumerate(args.ignored_resource_groups):
        if "/" in group:
            yield f"ignoredResourceGroups[{i}]", "resource group name can't contain '/'"
    strategy = args.scoring_strategy
    if strategy is None:
        args.scoring_strategy = strategy = ScoringStrategy()
    if not strategy.resources:
        strategy.resources = cpu_and_memory()
    yield from _validate_resources("scoringStrategy.resources", strategy.resources)
    if strategy.type == "RequestedToCapacityRatio":
        shape = strategy.requested_to_capacity_ratio
        yield from _validate_shape(
            "scoringStrategy.requestedToCapacityRatio.shape",
            shape.shape if shape else [],
            MAX_CUSTOM_PRIORITY_SCORE,
        )


def _validate_resources(path: str, resources: list[ResourceSpec]) -> Iterator[Cause]:
    for i, resource in enumerate(resources):
        resource.weight = resource.weight or 1
        if not 1 <= resource.weight <= MAX_WEIGHT:
            yield (
                f"{path}[{i}].weight",
                f"resource weight of {resource.name} not in valid range [1, {MAX_WEIGHT}]",
            )


def _validate_shape(path: str, shape: list[UtilizationShapePoint], highest: int) -> Iterator[Cause]:
    if not shape:
        yield path, "at least one point must be specified"
    for i, point in enumerate(shape):
        if not 0 <= point.utilization <= MAX_UTILIZATION:
            yield f"{path}[{i}].utilization", "not in valid range [0, 100]"
        if i and point.utilization <= shape[i - 1].utilization:
            yield f"{path}[{i}].utilization", "utilization values must be sorted in increasing order"
        if not 0 <= point.score <= highest:
            yield f"{path}[{i}].score", f"not in valid range [0, {highest}]"


def _validate_balanced(args: NodeResourcesBalancedAllocationArgs) -> Iterator[Cause]:
    args.resources = args.resources or cpu_and_memory()
    seen: set[str] = set()
    for i, resource in enumerate(args.resources):
        resource.weight = resource.weight or 1
        if resource.weight != 1:
            yield f"resources[{i}].weight", f"resource weight of {resource.name} should be 1"
        if resource.name in seen:
            yield f"resources[{i}].name", "duplicate value"
        seen.add(resource.name)


def _validate_node_affinity(args: NodeAffinityArgs) -> Iterator[Cause]:
    added = args.added_affinity or {}
    for key in added:
        if key not in (
            "requiredDuringSchedulingIgnoredDuringExecution",
            "preferredDuringSchedulingIgnoredDuringExecution",
        ):
            yield f"addedAffinity.{key}", "unknown field"
    required = added.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is not None and not (isinstance(required, dict) and required.get("nodeSelectorTerms")):
        yield (
            "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
            "must have at least one node selector term",
        )


def _validate_inter_pod(args: InterPodAffinityArgs) -> Iterator[Cause]:
    if not 0 <= args.hard_pod_affinity_weight <= 100:
        yield "hardPodAffinityWeight", "not in valid range [0, 100]"


def _validate_spread(args: PodTopologySpreadArgs) -> Iterator[Cause]:
    args.defaulting_type = args.defaulting_type or "System"
    if args.defaulting_type == "System" and args.default_constraints:
        yield "defaultingType", "when .defaultingType is System, .defaultConstraints must be empty"
    seen: set[tuple[Any, Any]] = set()
    for i, constraint in enumerate(args.default_constraints):
        path = f"defaultConstraints[{i}]"
        skew = constraint.get("maxSkew")
        if not isinstance(skew, int) or skew <= 0:
            yield f"{path}.maxSkew", "not in valid range (0, inf)"
        if not constraint.get("topologyKey"):
            yield f"{path}.topologyKey", "can not be empty"
        if constraint.get("whenUnsatisfiable") not in ("DoNotSchedule", "ScheduleAnyway"):
            yield f"{path}.whenUnsatisfiable", 'supported values: "DoNotSchedule", "ScheduleAnyway"'
        if constraint.get("labelSelector") is not None:
            yield (
                f"{path}.labelSelector",
                "constraint must not define a selector, as they deduced for each pod",
            )
        pair = (constraint.get("topologyKey"), constraint.get("whenUnsatisfiable"))
        if pair in seen:
            yield f"{path}", "duplicate topologyKey and whenUnsatisfiable"
        seen.add(pair)


def _validate_volume_binding(args: VolumeBindingArgs) -> Iterator[Cause]:
    if args.bind_timeout_seconds < 0:
        yield "bindTimeoutSeconds", "invalid BindTimeoutSeconds, should not be a negative value"
    if args.shape:
        yield "shape", "unexpected field `shape`: the StorageCapacityScoring feature is off"


def _validate_preemption(args: DefaultPreemptionArgs) -> Iterator[Cause]:
    if not 0 <= args.min_candidate_nodes_percentage <= 100:
        yield "minCandidateNodesPercentage", "not in valid range [0, 100]"
    if args.min_candidate_nodes_absolute < 0:
        yield "minCandidateNodesAbsolute", "not in valid range [0, inf)"
    if not args.min_candidate_nodes_percentage and not args.min_candidate_nodes_absolute:
        yield "minCandidateNodesPercentage", "cannot be zero at the same time as minCandidateNodesAbsolute"


ARGS: dict[str, tuple[type[Args], Callable[[Any], Iterator[Cause]]]] = {
    "NodeResourcesFit": (NodeResourcesFitArgs, _validate_fit),
    "NodeResourcesBalancedAllocation": (NodeResourcesBalancedAllocationArgs, _validate_balanced),
    "NodeAffinity": (NodeAffinityArgs, _validate_node_affinity),
    "InterPodAffinity": (InterPodAffinityArgs, _validate_inter_pod),
    "PodTopologySpread": (PodTopologySpreadArgs, _validate_spread),
    "VolumeBinding": (VolumeBindingArgs, _validate_volume_binding),
    "DefaultPreemption": (DefaultPreemptionArgs, _validate_preemption),
    "DynamicResources": (DynamicResourcesArgs, lambda _: iter(())),
}


def decode(plugin: str, manifest: Any) -> tuple[Any, list[Cause]]:
    """A plugin's arguments, defaulted, and what is wrong with them (paths below ``args``)."""
    if plugin not in ARGS:
        return manifest, []
    kind, validate = ARGS[plugin]
    try:
        args = msgspec.convert(manifest if manifest is not None else {}, kind)
    except msgspec.ValidationError as failure:
        return None, [convert_error(failure)]
    causes = list(validate(args))
    if args.kind not in ("", f"{plugin}Args"):
        causes.append(("kind", f"expected {plugin}Args"))
    return args, causes


def convert_error(failure: msgspec.ValidationError) -> Cause:
    """msgspec's "... - at `$.a[0].b`" as path and message."""
    message, _, place = str(failure).partition(" - at `$")
    return place.rstrip("`").lstrip("."), message
