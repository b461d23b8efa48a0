"""The sizes of a Deployment's ReplicaSets, and how they are scaled in proportion when the Deployment is
scaled during a rollout (pkg/controller/deployment: sync.go, util/deployment_util.go)."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from simulator.api import Manifest, Micros
from simulator.objects.metadata import annotations_of, created_at, name_of
from simulator.objects.numbers import scaled_value_rounded_down, scaled_value_rounded_up, whole_number
from simulator.objects.status import status_of

DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS = "deployment.kubernetes.io/max-replicas"
"""Annotations of a ReplicaSet: the Deployment's replicas, and those with its surge, when the ReplicaSet was
scaled last."""


class RolloutLimits(NamedTuple):
    replicas: int
    """The value of spec.replicas of the Deployment."""
    max_surge: int
    max_unavailable: int

    @property
    def max_replicas(self) -> int:
        return self.replicas + self.max_surge


def rollout_limits(deployment: Manifest) -> RolloutLimits:
    """Return the limits of a rollout (ResolveFenceposts)."""
    spec = deployment["spec"]
    replicas: int = spec["replicas"]
    rolling = spec["strategy"].get("rollingUpdate")
    if rolling is None:
        return RolloutLimits(replicas, 0, replicas)
    surge = scaled_value_rounded_up(rolling["maxSurge"], replicas)
    unavailable = scaled_value_rounded_down(rolling["maxUnavailable"], replicas)
    # If both are rounded to 0, the rollout could not begin: one pod may be unavailable then.
    return RolloutLimits(replicas, surge, min(replicas, unavailable if surge or unavailable else 1))


def replicas_of(replica_set: Manifest) -> int:
    """Return spec.replicas."""
    replicas: int = replica_set["spec"]["replicas"]
    return replicas


def status_count(manifest: Manifest, field: str) -> int:
    """Return a number of the status; 0 if it is not set."""
    count: int = status_of(manifest).get(field, 0)
    return count


def total_count(replica_sets: Sequence[Manifest], field: str) -> int:
    """Return the sum of a number of the statuses."""
    return sum(status_count(replica_set, field) for replica_set in replica_sets)


def size_annotations(deployment: Manifest) -> dict[str, str]:
    """Return the annotations with the sizes (SetReplicasAnnotations)."""
    limits = rollout_limits(deployment)
    return {DESIRED_REPLICAS: str(limits.replicas), MAX_REPLICAS: str(limits.max_replicas)}


def is_scaling_event(deployment: Manifest, replica_sets: Sequence[Manifest]) -> bool:
    """Whether the Deployment's replicas have changed since its ReplicaSets were scaled last
    (isScalingEvent)."""
    noted = (_annotated_number(rs, DESIRED_REPLICAS) for rs in replica_sets if replicas_of(rs))
    return any(number is not None and number != deployment["spec"]["replicas"] for number in noted)


def proportional_sizes(
    deployment: Manifest, newest: Manifest | None, replica_sets: Sequence[Manifest]
) -> list[tuple[Manifest, int]]:
    """Return the ReplicaSets to scale, with their new sizes (scale in sync.go). ``replica_sets`` are all of
    the Deployment's, ``newest`` among them."""
    limits = rollout_limits(deployment)
    active = [rs for rs in replica_sets if replicas_of(rs)]
    if len(active) <= 1:
        latest = sorted(replica_sets, key=_creation_order)[-1:] if newest is None else [newest]
        return [(rs, limits.replicas) for rs in active or latest]
    if newest is not None and _is_saturated(newest, limits.replicas):
        return [(rs, 0) for rs in active if rs is not newest]
    if deployment["spec"]["strategy"]["type"] != "RollingUpdate":
        return []
    to_add = (limits.max_replicas if limits.replicas else 0) - sum(map(replicas_of, active))
    # Of ReplicaSets of one size the newer ones are scaled up first, and the older ones scaled down first.
    active.sort(key=_creation_order, reverse=to_add > 0)
    active.sort(key=replicas_of, reverse=True)
    sizes, added = [], 0
    for replica_set in active:
        share, left = _proportional_change(deployment, replica_set), to_add - added
        share = min(share, left) if to_add > 0 else max(share, left)
        sizes.append(replicas_of(replica_set) + (share if left else 0))
        added += share if left else 0
    sizes[0] = max(0, sizes[0] + to_add - added)
    return [*zip(active, sizes, strict=True)]


def _proportional_change(deployment: Manifest, replica_set: Manifest) -> int:
    """Return the change of the ReplicaSet's size in proportion to that of the Deployment
    (getReplicaSetFraction)."""
    limits, size = rollout_limits(deployment), replicas_of(replica_set)
    if not limits.replicas:
        return -size
    before = _annotated_number(replica_set, MAX_REPLICAS) or status_count(deployment, "replicas")
    # math.floor(x + 1/2) rounds halves up as upstream; Python's round would round them to the even number.
    return math.floor(size * limits.max_replicas / before + 0.5) - size if before else 0


def _is_saturated(replica_set: Manifest, replicas: int) -> bool:
    """Return whether the ReplicaSet has its full size (IsSaturated)."""
    desired = _annotated_number(replica_set, DESIRED_REPLICAS)
    sizes = (desired, replicas_of(replica_set), status_count(replica_set, "availableReplicas"))
    return sizes == (replicas, replicas, replicas)


def _creation_order(replica_set: Manifest) -> tuple[Micros, str]:
    return created_at(replica_set), name_of(replica_set)


def _annotated_number(replica_set: Manifest, annotation: str) -> int | None:
    return whole_number(annotations_of(replica_set).get(annotation, ""))
