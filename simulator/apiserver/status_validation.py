"""Validation of updates of the status.

Upstream: the Validate...StatusUpdate functions in validation/validation.go of pkg/apis/apps, batch, core,
policy, autoscaling and resource, v1.34.
"""

import ipaddress
from collections.abc import Callable, Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.claim_status_validation import validate_claim_status
from simulator.apiserver.condition_validation import validate_conditions
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.job_status_validation import validate_job_status
from simulator.apiserver.resources import Resource
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid
from simulator.objects.metadata import is_terminating

NOT_NEGATIVE = "must be greater than or equal to 0"
IP_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
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
    "horizontalpodautoscalers.autoscaling": ("currentReplicas", "desiredReplicas"),
    "jobs.batch": ("active", "succeeded", "failed", "ready", "terminating"),
    "poddisruptionbudgets.policy": (
        "disruptionsAllowed",
        "currentHealthy",
        "desiredHealthy",
        "expectedPods",
    ),
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
            yield invalid(f"status.{field}", status[field], "cannot be greater than status.replicas")
    available = status.get("availableReplicas", 0)
    if available > status.get("readyReplicas", 0):
        ready = "status.readyReplicas" if resource == "statefulsets.apps" else "readyReplicas"
        yield invalid("status.availableReplicas", available, f"cannot be greater than {ready}")


def _pod(new: Manifest, old: Manifest) -> Iterator[Cause]:
    status, before = new.get("status", {}), old.get("status", {})
    nominated = status.get("nominatedNodeName", "")
    is_new = nominated and nominated != before.get("nominatedNodeName")
    if is_new:
        yield from check_name(names.dns_subdomain, nominated, "status.nominatedNodeName")
    if status.get("qosClass") != before.get("qosClass"):
        yield invalid("status.qosClass", status.get("qosClass", ""), "field is immutable")
    restart = old["spec"].get("restartPolicy")
    for field in ("containerStatuses", "initContainerStatuses"):
        if restart != "Always":
            yield from _transitions(status.get(field, ()), before.get(field, ()), restart, f"status.{field}")
    for field in ("podIPs", "hostIPs"):
        yield from _addresses(status.get(field, ()), f"status.{field}")


def _transitions(new: Any, old: Any, restart: str | None, path: str) -> Iterator[Cause]:
    """A container that has ended does not run again, unless its pod restarts it
    (ValidateContainerStateTransition)."""
    after = {status["name"]: (index, status.get("state", {})) for index, status in enumerate(new)}
    for status in old:
        ended = status.get("state", {}).get("terminated")
        if ended is None or (ended.get("exitCode", 0) and restart == "OnFailure"):
            continue
        index, state = after.get(status["name"], (0, {"terminated": ended}))
        if "terminated" not in state:
            yield forbidden(f"{path}[{index}].state", "may not be transitioned to non-terminated state")


def _addresses(items: Any, path: str) -> Iterator[Cause]:
    texts = [item.get("ip", "") for item in items]
    versions = []
    for index, text in enumerate(texts):
        try:
            versions.append(ipaddress.ip_address(text).version)
        except ValueError:
            yield invalid(f"{path}[{index}]", text, IP_ADDRESS)
    if len(texts) > 1 and len(versions) == len(texts):
        if len(texts) > 2 or len({*versions}) == 1:
            yield invalid(path, items, "may specify no more than one IP for each IP family")
        for index, text in enumerate(texts):
            if text in texts[:index]:
                yield duplicate(f"{path}[{index}]", text)


def _namespace(new: Manifest, old: Manifest) -> Iterator[Cause]:
    phase = new.get("status", {}).get("phase", "")
    if is_terminating(old) and phase != "Terminating":
        yield invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
    elif not is_terminating(old) and phase != "Active":
        yield invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")


def _disruption_budget(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """ValidatePodDisruptionBudgetStatusUpdate, beyond its numbers."""
    yield from validate_conditions(new.get("status", {}).get("conditions") or (), "status.conditions")


_CHECKS: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    "jobs.batch": validate_job_status,
    "namespaces": _namespace,
    "pods": _pod,
    "poddisruptionbudgets.policy": _disruption_budget,
    "resourceclaims.resource.k8s.io": validate_claim_status,
}
