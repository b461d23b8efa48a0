"""Scores from requested and allocatable resources: resource_allocation.go, least_allocated.go,
most_allocated.go, requested_to_capacity_ratio.go and balanced_allocation.go in
pkg/scheduler/framework/plugins/noderesources.

Computed in int64 with truncating division, or in float64 where upstream does, in upstream's order.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from simulator.cluster.columns import Bools, Ints
from simulator.config.args import Cause
from simulator.framework.interface import MAX_NODE_SCORE
from simulator.framework.node_batch import NodeBatch
from simulator.framework.score_explanation import ScoreInput
from simulator.objects.pod_requests import BASIC_RESOURCES, CPU, MEMORY
from simulator.plugins.dynamic_resources.device_totals import DeviceTotals

MAX_WEIGHT = 100
MAX_UTILIZATION = 100
MAX_CUSTOM_PRIORITY_SCORE = 10


class ResourceSpec(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    name: str
    weight: int = 1


class UtilizationShapePoint(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    utilization: int = 0
    """Percent."""
    score: int = 0
    """The score, 0 to 10."""


def cpu_and_memory() -> list[ResourceSpec]:
    return [ResourceSpec("cpu", 1), ResourceSpec("memory", 1)]


def validate_resources(path: str, resources: list[ResourceSpec]) -> Iterator[Cause]:
    for i, resource in enumerate(resources):
        resource.weight = resource.weight or 1
        if not 1 <= resource.weight <= MAX_WEIGHT:
            yield (
                f"{path}[{i}].weight",
                f"resource weight of {resource.name} not in valid range [1, {MAX_WEIGHT}]",
            )


def validate_shape(path: str, shape: list[UtilizationShapePoint], highest: int) -> Iterator[Cause]:
    if not shape:
        yield path, "at least one point must be specified"
    for i, point in enumerate(shape):
        if not 0 <= point.utilization <= MAX_UTILIZATION:
            yield f"{path}[{i}].utilization", "not in valid range [0, 100]"
        if i and point.utilization <= shape[i - 1].utilization:
            yield f"{path}[{i}].utilization", "utilization values must be sorted in increasing order"
        if not 0 <= point.score <= highest:
            yield f"{path}[{i}].score", f"not in valid range [0, {highest}]"


class PreScoreState(NamedTuple):
    """What PreScore finds for Score (preScoreState)."""

    requests: tuple[int, ...]
    """The pod's request of each resource that is scored."""
    devices: DeviceTotals | None
    """Those of the resources that DeviceClasses serve. They change without the node, so that results which
    depend on them are not kept."""


class Allocation(NamedTuple):
    """One resource on the n nodes of a batch."""

    weight: int
    allocatable: Ints
    """int64[n]."""
    requested: Ints
    """int64[n]: by the pods on the node and the incoming pod."""
    request: int = 0
    """That of the incoming pod."""
    resource: str = ""


def score_inputs(
    nodes: NodeBatch,
    resources: Sequence[ResourceSpec],
    pod_requests: Sequence[int],
    *,
    non_zero: bool,
    devices: DeviceTotals | None,
) -> list[ScoreInput]:
    """Return the result of :func:`list_allocations` in the types of the decision record."""
    return [
        ScoreInput(found.resource, found.weight, found.requested.tolist(), found.allocatable.tolist())
        for found in list_allocations(nodes, resources, pod_requests, non_zero=non_zero, devices=devices)
    ]


Scorer = Callable[[Sequence[Allocation], int], Ints]
"""``scorer(allocations, n)`` returns int64[n], scores from 0 to 100."""


def list_allocations(
    nodes: NodeBatch,
    resources: Sequence[ResourceSpec],
    pod_requests: Sequence[int],
    *,
    non_zero: bool,
    devices: DeviceTotals | None,
) -> list[Allocation]:
    """Return the allocations of ``resources``, without scalar resources that the pod does not request and
    resources that no node has. ``pod_requests[k]`` is the pod's request of ``resources[k]``. ``non_zero``:
    use defaults for containers that request no cpu or memory (NonZeroRequested). ``devices``: count where a
    node has none of a resource that a DeviceClass serves."""
    cluster = nodes.cluster
    with_defaults = dict(zip((CPU, MEMORY), nodes.non_zero, strict=True)) if non_zero else {}
    allocations = []
    for spec, request in zip(resources, pod_requests, strict=True):
        name = spec.name
        if name not in BASIC_RESOURCES and not (request and (name in cluster.allocatable or devices)):
            continue
        requested = with_defaults[name] if name in with_defaults else nodes.requested(name)
        allocatable = nodes.take(cluster.allocatable.column(name))
        if devices is not None and name not in BASIC_RESOURCES:
            total, allocated = devices.of(name, nodes.rows)
            counts = (allocatable == 0) & (total > 0)
            allocatable = np.where(counts, total, allocatable)
            requested = np.where(counts, allocated, requested)
        allocations.append(Allocation(spec.weight, allocatable, requested + request, request, name))
    return allocations


def least_allocated(resources: Sequence[Allocation], count: int) -> Ints:
    """Return the scores: the percentage of the resource that is not requested (leastResourceScorer)."""

    def free(allocation: Allocation, capacity: Ints) -> Ints:
        score: Ints = (capacity - allocation.requested) * MAX_NODE_SCORE // capacity
        score[allocation.requested > capacity] = 0
        return score

    return _weighted_mean(resources, count, free)


def most_allocated(resources: Sequence[Allocation], count: int) -> Ints:
    """Return the scores: the percentage of the resource that is requested (mostResourceScorer)."""

    def used(allocation: Allocation, capacity: Ints) -> Ints:
        score: Ints = np.minimum(allocation.requested, capacity) * MAX_NODE_SCORE // capacity
        return score

    return _weighted_mean(resources, count, used)


def requested_to_capacity_ratio(shape: Sequence[UtilizationShapePoint]) -> Scorer:
    """Return a scorer that interpolates the points of ``shape`` (requestedToCapacityRatioScorer). The score
    of each utilization from 0 to 100 percent is computed once."""
    curve = utilization_curve(shape)

    def scorer(resources: Sequence[Allocation], count: int) -> Ints:
        total = np.zeros(count, dtype=np.int64)
        weights = np.zeros(count, dtype=np.int64)
        for allocation in resources:
            has, capacity = _capacity(allocation)
            utilization = np.where(
                allocation.requested > capacity,
                MAX_UTILIZATION,
                allocation.requested * MAX_UTILIZATION // capacity,
            )
            score = np.where(has, curve[utilization], 0)
            total += score * allocation.weight
            weights += np.where(score > 0, allocation.weight, 0)
        ratio = total / np.maximum(weights, 1)
        # Go's math.Round rounds halves away from zero; the values here are not negative.
        return np.floor(ratio + 0.5).astype(np.int64)

    return scorer


def utilization_curve(shape: Sequence[UtilizationShapePoint]) -> Ints:
    """Return int64[101]: the score (0 to 100) of each utilization in percent."""
    return np.array([_broken_linear(shape, p) for p in range(MAX_UTILIZATION + 1)], dtype=np.int64)


def _broken_linear(shape: Sequence[UtilizationShapePoint], p: int) -> int:
    """Return the score (0 to 100) of utilization ``p`` in percent (BuildBrokenLinearFunction)."""
    scale = MAX_NODE_SCORE // MAX_CUSTOM_PRIORITY_SCORE
    for i, point in enumerate(shape):
        if p <= point.utilization:
            if i == 0:
                return point.score * scale
            before = shape[i - 1]
            rise = (point.score - before.score) * scale * (p - before.utilization)
            return before.score * scale + _truncating_divide(rise, point.utilization - before.utilization)
    return shape[-1].score * scale


def _truncating_divide(numerator: int, denominator: int) -> int:
    """Divide as Go does: the quotient is truncated toward 0."""
    quotient = abs(numerator) // denominator
    return quotient if numerator >= 0 else -quotient


def _all_nodes_have(resources: Sequence[Allocation]) -> bool:
    """Whether every node has every resource. This is the most common case and can be computed faster."""
    return bool(resources) and all(
        np.count_nonzero(allocation.allocatable) == len(allocation.allocatable) for allocation in resources
    )


def _capacity(allocation: Allocation) -> tuple[Bools, Ints]:
    """Return bool[n], the nodes that have the resource, and int64[n], the allocatable amounts with 1 for the
    other nodes, so that they can be divisors."""
    has = allocation.allocatable != 0
    return has, np.where(has, allocation.allocatable, 1)


def _weighted_mean(
    resources: Sequence[Allocation], count: int, score: Callable[[Allocation, Ints], Ints]
) -> Ints:
    """Return the weighted mean of the scores of the resources that a node has; 0 if it has none of them."""
    if _all_nodes_have(resources):
        first, *others = (score(a, a.allocatable) * a.weight for a in resources)
        usual: Ints = sum(others, first) // sum(a.weight for a in resources)
        return usual
    total = np.zeros(count, dtype=np.int64)
    weights = np.zeros(count, dtype=np.int64)
    for allocation in resources:
        has, capacity = _capacity(allocation)
        total += np.where(has, score(allocation, capacity) * allocation.weight, 0)
        weights += np.where(has, allocation.weight, 0)
    mean: Ints = total // np.maximum(weights, 1)
    return mean


def balanced_allocation(resources: Sequence[Allocation], shape: tuple[int, ...]) -> Ints:
    """Return the scores: 100 * (1 - the standard deviation of the requested fractions)
    (balancedResourceScorer). shape: that of the requested amounts, of which the last dimension is the nodes.
    """
    if len(resources) == 2 and _all_nodes_have(resources):
        one, other = (np.minimum(a.requested / a.allocatable, 1.0) for a in resources)
        return ((1 - np.abs((one - other) / 2)) * float(MAX_NODE_SCORE)).astype(np.int64)
    resource_count = np.zeros(shape[-1], dtype=np.int64)
    fractions = []
    total = np.zeros(shape)
    for allocation in resources:
        has, capacity = _capacity(allocation)
        fraction = np.where(has, np.minimum(allocation.requested / capacity, 1.0), 0.0)
        fractions.append((has, fraction))
        total += fraction
        resource_count += has
    divisor = np.maximum(resource_count, 1)
    mean = total / divisor
    squares = np.zeros(shape)
    for has, fraction in fractions:
        squares += np.where(has, (fraction - mean) * (fraction - mean), 0.0)
    deviation = np.where(resource_count > 2, np.sqrt(squares / divisor), 0.0)
    two = resource_count == 2
    if two.any():
        # For two resources upstream computes half of the difference of the fractions, without a square root.
        difference = np.zeros(shape)
        sign = np.ones(shape[-1])
        for has, fraction in fractions:
            difference += np.where(has, sign * fraction, 0.0)
            sign = np.where(has, -sign, sign)
        deviation = np.where(two, np.abs(difference / 2), deviation)
    return ((1 - deviation) * float(MAX_NODE_SCORE)).astype(np.int64)
