"""Scores by how full nodes would be: resource_allocation.go, least_allocated.go, most_allocated.go,
requested_to_capacity_ratio.go and balanced_allocation.go in pkg/scheduler/framework/plugins/noderesources,
v1.34.

All arithmetic is int64 with truncation, in upstream's order, except where upstream itself uses floats.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from simulator.cluster.columns import Bools, Ints
from simulator.config.args import (
    MAX_CUSTOM_PRIORITY_SCORE,
    MAX_UTILIZATION,
    ResourceSpec,
    UtilizationShapePoint,
)
from simulator.decision import ScoreInput
from simulator.framework.interface import MAX_NODE_SCORE
from simulator.framework.node_batch import NodeBatch
from simulator.objects.pod_requests import CPU, MEMORY, is_scalar_resource


class Allocation(NamedTuple):
    """One resource over a batch: what nodes have, and what would be requested of it with the pod on."""

    weight: int
    allocatable: Ints
    requested: Ints


def inputs(
    nodes: NodeBatch, resources: Sequence[ResourceSpec], pod_requests: Sequence[int], *, non_zero: bool
) -> list[ScoreInput]:
    """The same as :func:`allocations`, by name and as plain data."""
    return [
        ScoreInput(spec.name, found.weight, found.requested.tolist(), found.allocatable.tolist())
        for spec, request in zip(resources, pod_requests, strict=True)
        for found in allocations(nodes, [spec], [request], non_zero=non_zero)
    ]


Scorer = Callable[[Sequence[Allocation], int], Ints]


def allocations(
    nodes: NodeBatch, resources: Sequence[ResourceSpec], pod_requests: Sequence[int], *, non_zero: bool
) -> list[Allocation]:
    """The resources that count: not scalar ones that the pod does not request, nor any that no node has."""
    cluster = nodes.cluster
    found = []
    for spec, request in zip(resources, pod_requests, strict=True):
        line = cluster.resources.get(spec.name)
        if line is None or (request == 0 and is_scalar_resource(spec.name)):
            continue
        counts_defaults = non_zero and spec.name in (CPU, MEMORY)
        requested = nodes.non_zero[line] if counts_defaults else nodes.requested[line]
        found.append(Allocation(spec.weight, nodes.take(cluster.allocatable[line]), requested + request))
    return found


def least_allocated(resources: Sequence[Allocation], count: int) -> Ints:
    def free(allocation: Allocation, capacity: Ints) -> Ints:
        score: Ints = (capacity - allocation.requested) * MAX_NODE_SCORE // capacity
        return np.where(allocation.requested > capacity, 0, score)

    return _weighted(resources, count, free)


def most_allocated(resources: Sequence[Allocation], count: int) -> Ints:
    def used(allocation: Allocation, capacity: Ints) -> Ints:
        score: Ints = np.minimum(allocation.requested, capacity) * MAX_NODE_SCORE // capacity
        return score

    return _weighted(resources, count, used)


def requested_to_capacity_ratio(shape: Sequence[UtilizationShapePoint]) -> Scorer:
    """The shape worked out once for every utilization in percent."""
    curve = np.array([_broken_linear(shape, p) for p in range(MAX_UTILIZATION + 1)], dtype=np.int64)

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
        # math.Round goes away from zero at one half; these are never negative.
        return np.floor(ratio + 0.5).astype(np.int64)

    return scorer


def _broken_linear(shape: Sequence[UtilizationShapePoint], p: int) -> int:
    """helper.BuildBrokenLinearFunction, scores brought from 0..10 to 0..100; Go's division truncates."""
    scale = MAX_NODE_SCORE // MAX_CUSTOM_PRIORITY_SCORE
    for i, point in enumerate(shape):
        if p <= point.utilization:
            if i == 0:
                return point.score * scale
            before = shape[i - 1]
            rise = (point.score - before.score) * scale * (p - before.utilization)
            return before.score * scale + _truncated(rise, point.utilization - before.utilization)
    return shape[-1].score * scale


def _truncated(numerator: int, denominator: int) -> int:
    quotient = abs(numerator) // denominator
    return quotient if numerator >= 0 else -quotient


def _everywhere(resources: Sequence[Allocation]) -> bool:
    """Every node has every resource: the usual case, which takes fewer steps."""
    return bool(resources) and all(allocation.allocatable.all() for allocation in resources)


def _capacity(allocation: Allocation) -> tuple[Bools, Ints]:
    """Which nodes have the resource at all, and how much (1 for those that have none, to divide by)."""
    has = allocation.allocatable != 0
    return has, np.where(has, allocation.allocatable, 1)


def _weighted(resources: Sequence[Allocation], count: int, score: Callable[[Allocation, Ints], Ints]) -> Ints:
    """The weighted mean over the resources that a node has; 0 without any."""
    if _everywhere(resources):
        scores = (score(allocation, allocation.allocatable) * allocation.weight for allocation in resources)
        usual: Ints = sum(scores, np.zeros(count, dtype=np.int64)) // sum(a.weight for a in resources)
        return usual
    total = np.zeros(count, dtype=np.int64)
    weights = np.zeros(count, dtype=np.int64)
    for allocation in resources:
        has, capacity = _capacity(allocation)
        total += np.where(has, score(allocation, capacity) * allocation.weight, 0)
        weights += np.where(has, allocation.weight, 0)
    mean: Ints = total // np.maximum(weights, 1)
    return mean


def balanced(resources: Sequence[Allocation], count: int) -> Ints:
    """100 less the standard deviation of the fractions requested."""
    if len(resources) == 2 and _everywhere(resources):
        one, other = (np.minimum(a.requested / a.allocatable, 1.0) for a in resources)
        return ((1 - np.abs((one - other) / 2)) * float(MAX_NODE_SCORE)).astype(np.int64)
    held = np.zeros(count, dtype=np.int64)
    fractions = []
    total = np.zeros(count)
    for allocation in resources:
        has, capacity = _capacity(allocation)
        fraction = np.where(has, np.minimum(allocation.requested / capacity, 1.0), 0.0)
        fractions.append((has, fraction))
        total += fraction
        held += has
    divisor = np.maximum(held, 1)
    mean = total / divisor
    squares = np.zeros(count)
    for has, fraction in fractions:
        squares += np.where(has, (fraction - mean) * (fraction - mean), 0.0)
    deviation = np.where(held > 2, np.sqrt(squares / divisor), 0.0)
    two = held == 2
    if two.any():
        # Exactly two: half of their difference, which upstream computes so and not as a root.
        difference = np.zeros(count)
        sign = np.ones(count)
        for has, fraction in fractions:
            difference += np.where(has, sign * fraction, 0.0)
            sign = np.where(has, -sign, sign)
        deviation = np.where(two, np.abs(difference / 2), deviation)
    return ((1 - deviation) * float(MAX_NODE_SCORE)).astype(np.int64)
