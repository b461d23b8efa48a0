"""The conditions in an object's status (apimachinery/pkg/api/meta/conditions.go and the types of the API
groups)."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from simulator.api import Manifest, Micros
from simulator.objects.metadata import created_at, generation_of
from simulator.objects.status import status_of, with_status
from simulator.objects.timestamps import micros, timestamp


class Condition(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The fields that conditions of all kinds have. Times are RFC 3339; ``status`` is True, False or
    Unknown."""

    type: str
    status: str


class MetaCondition(Condition, frozen=True, kw_only=True, rename="camel"):
    """A condition of the type metav1.Condition, as PodDisruptionBudgets have it."""

    observed_generation: int | msgspec.UnsetType = msgspec.UNSET
    last_transition_time: str
    reason: str
    message: str


class PodCondition(Condition, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A condition of a pod (core/v1 PodCondition). Nothing is probed, so the time is null."""

    observed_generation: int | None = None
    last_probe_time: None
    last_transition_time: str
    reason: str = ""
    message: str = ""


class NodeCondition(Condition, frozen=True, kw_only=True, rename="camel"):
    """A condition of a node (core/v1 NodeCondition)."""

    reason: str
    message: str
    last_heartbeat_time: str
    last_transition_time: str


class ReplicaSetCondition(Condition, frozen=True, kw_only=True, rename="camel"):
    """A condition of a ReplicaSet (apps/v1 ReplicaSetCondition)."""

    last_transition_time: str
    reason: str
    message: str


class DeploymentCondition(Condition, frozen=True, kw_only=True, rename="camel"):
    """A condition of a Deployment (apps/v1 DeploymentCondition)."""

    reason: str
    message: str
    last_update_time: str
    last_transition_time: str


class JobCondition(Condition, frozen=True, kw_only=True, rename="camel"):
    """A condition of a Job (batch/v1 JobCondition)."""

    reason: str
    message: str
    last_probe_time: str
    last_transition_time: str


def conditions_of(manifest: Mapping[str, Any]) -> Sequence[Manifest]:
    found: Sequence[Manifest] = status_of(manifest).get("conditions") or ()
    return found


def condition(manifest: Mapping[str, Any], kind: str) -> Manifest | None:
    """Return the condition of this type; None if the object has none (FindStatusCondition)."""
    for found in conditions_of(manifest):
        if found["type"] == kind:
            return found
    return None


def condition_status(manifest: Manifest, kind: str) -> str:
    """Return the status of a condition: True, False or Unknown; "" if the object has no condition of this
    type."""
    found = condition(manifest, kind)
    return "" if found is None else str(found["status"])


def is_condition_true(manifest: Manifest, kind: str) -> bool:
    return condition_status(manifest, kind) == "True"


def transition_time(old: Manifest | None, status: str, now: Micros) -> str:
    """Return the lastTransitionTime of a condition that gets this status: that of the old condition while the
    status stays the same, else now."""
    stamp = timestamp(now)
    if old is None or old["status"] != status:
        return stamp
    since: str | None = old.get("lastTransitionTime")
    return since or stamp


def replace_condition(manifest: Manifest, new: Condition) -> Manifest:
    """Return a copy of the object with ``new`` as the last condition, instead of the one of its type."""
    kept = [old for old in conditions_of(manifest) if old["type"] != new.type]
    return with_status(manifest, conditions=[*kept, msgspec.to_builtins(new)])


def holds_since(found: Manifest, manifest: Manifest) -> Micros:
    """Return the time from which the object's condition has its status: from the creation of the object on
    if the condition has no time."""
    stamp = found.get("lastTransitionTime")
    return micros(stamp) if stamp else created_at(manifest)


def with_condition(
    pod: Manifest,
    now: Micros,
    kind: str,
    status: str,
    *,
    reason: str = "",
    message: str = "",
    observes: bool = True,
) -> Manifest:
    """Return the pod with this condition; the pod itself if it has it already (UpdatePodCondition,
    pkg/api/v1/pod/util.go). ``observes``: it says of which generation of the pod it is
    (CalculatePodConditionObservedGeneration)."""
    new = PodCondition(
        type=kind,
        status=status,
        observed_generation=generation_of(pod) if observes else None,
        last_probe_time=None,
        last_transition_time=transition_time(condition(pod, kind), status, now),
        reason=reason,
        message=message,
    )
    return _with_condition(pod, new)


def with_meta_condition(
    manifest: Manifest,
    now: Micros,
    kind: str,
    status: str,
    *,
    reason: str,
    message: str = "",
    generation: int = 0,
) -> Manifest:
    """Return the object with this condition; the object itself if it has it already (SetStatusCondition,
    apimachinery/pkg/api/meta/conditions.go). ``generation``: that of the object that it is about; 0 = the one
    that its status is about."""
    new = MetaCondition(
        type=kind,
        status=status,
        observed_generation=generation or status_of(manifest).get("observedGeneration") or msgspec.UNSET,
        last_transition_time=transition_time(condition(manifest, kind), status, now),
        reason=reason,
        message=message,
    )
    return _with_condition(manifest, new)


def _with_condition(manifest: Manifest, new: Condition) -> Manifest:
    """Return the object with ``new`` in the place of the condition of its type, or as the last one."""
    conditions, fields = [*conditions_of(manifest)], msgspec.to_builtins(new)
    for index, old in enumerate(conditions):
        if old["type"] == new.type:
            if {"lastTransitionTime": fields["lastTransitionTime"], **old} == fields:
                return manifest
            conditions[index] = fields
            return with_status(manifest, conditions=conditions)
    return with_status(manifest, conditions=[*conditions, fields])
