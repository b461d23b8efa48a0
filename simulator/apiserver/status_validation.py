"""Validation of updates of the status.

Upstream: the Validate...StatusUpdate functions in validation/validation.go of pkg/apis/apps, batch, core,
policy and resource, v1.34.
"""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.definition_validation import validate_definition_status
from simulator.apiserver.job_status_validation import validate_job_status
from simulator.apiserver.resource import CRDS, Resource
from simulator.apiserver.status import Cause, invalid

NOT_NEGATIVE = "must be greater than or equal to 0"
_COUNTS: Final[dict[str, tuple[str, ...]]] = {
    "daemonsets.apps": (
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ),
    "deployments.apps": (
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ),
    "jobs.batch": ("active", "succeeded", "failed", "ready", "terminating"),
    "replicasets.apps": (
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ),
    "replicationcontrollers": (
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
    ),
    "statefulsets.apps": (
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ),
}
"""The numbers in a status that may not be negative, in the order in which they are looked at."""
_AT_MOST_REPLICAS: Final[dict[str, tuple[str, ...]]] = {
    "deployments.apps": ("updatedReplicas", "readyReplicas", "availableReplicas"),
    "replicasets.apps": ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    "replicationcontrollers": ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    "statefulsets.apps": ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
}
"""The numbers that may not be greater than the number of replicas."""


def validate_status_update(resource: Resource, new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults of a new status."""
    status, before = new.get("status", {}), old.get("status", {})
    for field in _COUNTS.get(resource.id, ()):
        if status.get(field, 0) < 0:
            yield invalid(f"status.{field}", status[field], NOT_NEGATIVE)
    yield from _replicas(resource.id, status)
    if status.get("collisionCount", 0) < before.get("collisionCount", 0):
        yield invalid("status.collisionCount", status.get("collisionCount", 0), "cannot be decremented")
    check = _CHECKS.get(resource.id)
    if check:
        yield from check(new, old)


def _replicas(resource: str, status: Manifest) -> Iterator[Cause]:
    if resource not in _AT_MOST_REPLICAS:
        return
    for field in _AT_MOST_REPLICAS[resource]:
        if status.get(field, 0) > status.get("replicas", 0):
            yield invalid(f"status.{field}", status.get(field, 0), "cannot be greater than status.replicas")
    available = status.get("availableReplicas", 0)
    if available > status.get("readyReplicas", 0):
        ready = "status.readyReplicas" if resource == "statefulsets.apps" else "readyReplicas"
        yield invalid("status.availableReplicas", available, f"cannot be greater than {ready}")


_CHECKS: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    CRDS: validate_definition_status,
    "jobs.batch": validate_job_status,
}
