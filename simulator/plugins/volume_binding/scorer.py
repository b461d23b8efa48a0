"""The score of VolumeBinding, with the gate StorageCapacityScoring (volumebinding/scorer.go, and Score in
volume_binding.go)."""

from collections.abc import Sequence

import numpy as np

from simulator.cluster.columns import Ints
from simulator.objects import quantity
from simulator.objects.volumes import requested_storage, storage_class_name
from simulator.plugins.node_resources.resource_allocation import (
    MAX_UTILIZATION,
    UtilizationShapePoint,
    utilization_curve,
)
from simulator.plugins.volume_binding.binder import UNKNOWN, VolumesByNode


class ClassResources:
    """The bytes that are requested and there of one storage class, int64[n] each."""

    def __init__(self, count: int) -> None:
        self.requested: Ints = np.zeros(count, dtype=np.int64)
        self.capacity: Ints = np.zeros(count, dtype=np.int64)


def score_by_capacity(found: VolumesByNode, shape: Sequence[UtilizationShapePoint], count: int) -> Ints:
    """Return the scores of n nodes, int64[n]: the mean over the storage classes of the ``shape``'s value at
    their utilization. Where volumes are there to bind, only these count, else those to provision."""
    curve = utilization_curve(shape)
    bound: Ints = np.zeros(count, dtype=np.bool_)
    for binding in found.bindings:
        bound |= binding.picks >= 0
    total: Ints = np.zeros(count, dtype=np.int64)
    classes: Ints = np.zeros(count, dtype=np.int64)
    for resources in _by_class(found, bound, count):
        counted = resources.requested > 0
        over = (resources.capacity == 0) | (resources.requested > resources.capacity)
        utilization = np.where(
            over, MAX_UTILIZATION, resources.requested * MAX_UTILIZATION // np.maximum(resources.capacity, 1)
        )
        total += np.where(counted, curve[np.where(counted, utilization, 0)], 0)
        classes += counted
    # Go's math.Round rounds halves away from zero; the values here are not negative.
    return np.floor(total / np.maximum(classes, 1) + 0.5).astype(np.int64)


def _by_class(found: VolumesByNode, bound: Ints, count: int) -> list[ClassResources]:
    classes: dict[str, ClassResources] = {}
    for binding in found.bindings:
        here = binding.picks >= 0
        if here.any():
            resources = classes.setdefault(storage_class_name(binding.delayed.claim), ClassResources(count))
            sizes = np.array([candidate.size for candidate in binding.delayed.candidates], dtype=np.int64)
            resources.requested[here] += _requested(binding.delayed.claim)
            resources.capacity[here] += sizes[binding.picks[here]]
    for provision in found.provisions:
        here = provision.where & (provision.capacity != UNKNOWN) & ~bound
        if here.any():
            resources = classes.setdefault(storage_class_name(provision.claim), ClassResources(count))
            resources.requested[here] += _requested(provision.claim)
            resources.capacity[here] = provision.capacity[here]
    return list(classes.values())


def _requested(claim: dict[str, object]) -> int:
    return quantity.value(requested_storage(claim) or 0)
