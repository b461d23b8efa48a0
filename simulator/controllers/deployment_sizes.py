"""How many replicas a Deployment and its ReplicaSets have, and how a Deployment that is scaled in the middle
of a rollout shares the difference out (pkg/controller/deployment: sync.go, util/deployment_util.go; v1.34).
"""

import math
from collections.abc import Sequence

from simulator.api import Manifest
from simulator.controllers.shares import rounded_down, rounded_up

DESIRED = "deployment.kubernetes.io/desired-replicas"
MAX = "deployment.kubernetes.io/max-replicas"
"""Annotations of a ReplicaSet: the Deployment's replicas, and those with its surge, when its size was last
set."""


def limits(manifest: Manifest) -> tuple[int, int, int]:
    """How many pods are wanted, how many there may be beyond that, and how many may be missing
    (ResolveFenceposts)."""
    spec = manifest["spec"]
    wanted: int = spec["replicas"]
    rolling = spec["strategy"].get("rollingUpdate")
    if rolling is None:
        return wanted, 0, wanted
    surge = rounded_up(rolling["maxSurge"], wanted)
    unavailable = rounded_down(rolling["maxUnavailable"], wanted)
    # Both may come to nothing by rounding; then one pod may be missing, or nothing would ever move.
    return wanted, surge, min(wanted, unavailable if surge or unavailable else 1)


def replicas(replica_set: Manifest) -> int:
    found: int = replica_set["spec"]["replicas"]
    return found


def count(manifest: Manifest, field: str) -> int:
    """A number of the status."""
    found: int = (manifest.get("status") or {}).get(field, 0)
    return found


def size_annotations(manifest: Manifest) -> dict[str, str]:
    """SetReplicasAnnotations."""
    wanted, surge, _ = limits(manifest)
    return {DESIRED: str(wanted), MAX: str(wanted + surge)}


def is_scaled(manifest: Manifest, sets: Sequence[Manifest]) -> bool:
    """Whether it asks for another number than when its ReplicaSets got their sizes (isScalingEvent)."""
    noted = (_annotated(s, DESIRED) for s in sets if replicas(s))
    return any(number is not None and number != manifest["spec"]["replicas"] for number in noted)


def shared_out(
    manifest: Manifest, newest: Manifest | None, sets: Sequence[Manifest]
) -> list[tuple[Manifest, int]]:
    """The size that each ReplicaSet concerned is to have (scale). ``sets`` are all of them."""
    wanted, surge, _ = limits(manifest)
    active = [s for s in sets if replicas(s)]
    if len(active) <= 1:
        latest = sorted(sets, key=_age)[-1:] if newest is None else [newest]
        return [(s, wanted) for s in active or latest]
    if newest is not None and _is_saturated(newest, wanted):
        return [(s, 0) for s in active if s is not newest]
    if manifest["spec"]["strategy"]["type"] != "RollingUpdate":
        return []
    to_add = (wanted + surge if wanted else 0) - sum(map(replicas, active))
    # Of those of one size the newer ones grow first, and the older ones shrink first.
    active.sort(key=_age, reverse=to_add > 0)
    active.sort(key=replicas, reverse=True)
    sizes, added = [], 0
    for replica_set in active:
        share, left = _share(manifest, replica_set), to_add - added
        share = min(share, left) if to_add > 0 else max(share, left)
        sizes.append(replicas(replica_set) + (share if left else 0))
        added += share if left else 0
    sizes[0] = max(0, sizes[0] + to_add - added)
    return [*zip(active, sizes, strict=True)]


def _share(manifest: Manifest, replica_set: Manifest) -> int:
    """What it should get or give, in proportion to its size (getReplicaSetFraction)."""
    wanted, surge, _ = limits(manifest)
    have = replicas(replica_set)
    if not wanted:
        return -have
    before = _annotated(replica_set, MAX) or count(manifest, "replicas")
    # math.floor(x + 1/2): halves are rounded up, where Python's round goes to the even number.
    return math.floor(have * (wanted + surge) / before + 0.5) - have if before else 0


def _is_saturated(newest: Manifest, wanted: int) -> bool:
    sizes = (_annotated(newest, DESIRED), replicas(newest), count(newest, "availableReplicas"))
    return sizes == (wanted, wanted, wanted)


def _age(replica_set: Manifest) -> tuple[str, str]:
    return replica_set["metadata"]["creationTimestamp"], replica_set["metadata"]["name"]


def _annotated(replica_set: Manifest, name: str) -> int | None:
    text = (replica_set["metadata"].get("annotations") or {}).get(name, "")
    return int(text) if text.isascii() and text.isdigit() else None
