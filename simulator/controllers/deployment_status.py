"""The status of a Deployment (calculateStatus in sync.go, and progress.go, in pkg/controller/deployment)."""

from typing import Final

import msgspec

from simulator.api import SECOND, Manifest, Micros
from simulator.controllers.deployment_sizes import rollout_limits, status_count, total_count
from simulator.controllers.replica_set import REPLICA_FAILURE
from simulator.controllers.status_types import DeploymentStatus
from simulator.objects.conditions import DeploymentCondition, condition, transition_time
from simulator.objects.metadata import name_of
from simulator.objects.timestamps import micros, timestamp

NO_DEADLINE: Final = (1 << 31) - 1
"""The progressDeadlineSeconds that stands for "no deadline"."""


def deployment_status(
    manifest: Manifest, newest: Manifest | None, replica_sets: list[Manifest], now: Micros
) -> tuple[DeploymentStatus, Micros | None]:
    """Return the new status, and the deadline of the rollout, at which it must be computed again; None =
    there is none."""
    limits = rollout_limits(manifest)
    available = total_count(replica_sets, "availableReplicas")
    status = DeploymentStatus(
        replicas=total_count(replica_sets, "replicas"),
        updated_replicas=status_count(newest, "replicas") if newest else 0,
        ready_replicas=total_count(replica_sets, "readyReplicas"),
        available_replicas=available,
        unavailable_replicas=max(0, limits.replicas - available),
    )
    enough = available >= limits.replicas - limits.max_unavailable
    progressing, deadline = _progressing(manifest, newest, status, now)
    conditions = [
        _available(manifest, now, enough=enough),
        progressing,
        *_replica_failures(newest, replica_sets),
    ]
    return msgspec.structs.replace(status, conditions=conditions), deadline


def _available(manifest: Manifest, now: Micros, *, enough: bool) -> Manifest:
    if enough:
        message = "Deployment has minimum availability."
        return _condition(manifest, "Available", "True", "MinimumReplicasAvailable", message, now=now)
    message = "Deployment does not have minimum availability."
    return _condition(manifest, "Available", "False", "MinimumReplicasUnavailable", message, now=now)


def _progressing(
    manifest: Manifest, newest: Manifest | None, status: DeploymentStatus, now: Micros
) -> tuple[Manifest, Micros | None]:
    """Return the condition Progressing, and the deadline if it is ahead. It is counted from the last change
    of the status's numbers (syncRolloutStatus)."""
    subject = f'ReplicaSet "{name_of(newest)}"' if newest else f'Deployment "{name_of(manifest)}"'
    replicas = manifest["spec"]["replicas"]
    if status.updated_replicas == replicas == status.replicas == status.available_replicas:
        message = f"{subject} has successfully progressed."
        return _condition(manifest, "Progressing", "True", "NewReplicaSetAvailable", message, now=now), None
    old = condition(manifest, "Progressing")
    counts = msgspec.to_builtins(status)
    changed = any(status_count(manifest, field) != count for field, count in counts.items())
    if old is None or changed or old.get("reason") == "NewReplicaSetAvailable":
        message = f"{subject} is progressing."
        made = _condition(manifest, "Progressing", "True", "ReplicaSetUpdated", message, now=now)
        made["lastUpdateTime"] = timestamp(now)
    else:
        # Whoever wrote the condition may have left out the time.
        made = {
            "lastUpdateTime": timestamp(now),
            **{field: value for field, value in old.items() if value is not None},
        }
    seconds = manifest["spec"]["progressDeadlineSeconds"]
    if seconds == NO_DEADLINE or manifest["spec"].get("paused"):
        return made, None
    deadline: Micros = micros(made["lastUpdateTime"]) + seconds * SECOND
    if deadline <= now:
        message = f"{subject} has timed out progressing."
        return _condition(
            manifest, "Progressing", "False", "ProgressDeadlineExceeded", message, now=now
        ), None
    return made, deadline


def _condition(
    manifest: Manifest, kind: str, status: str, reason: str, message: str, *, now: Micros
) -> Manifest:
    """Return the old condition if it has this status and reason, else a new one."""
    old = condition(manifest, kind)
    if old is not None and (old["status"], old.get("reason")) == (status, reason):
        return dict(old)
    new = DeploymentCondition(
        type=kind,
        status=status,
        reason=reason,
        message=message,
        last_update_time=timestamp(now),
        last_transition_time=transition_time(old, status, now),
    )
    made: Manifest = msgspec.to_builtins(new)
    return made


def _replica_failures(newest: Manifest | None, replica_sets: list[Manifest]) -> list[Manifest]:
    """Return the condition ReplicaFailure of the newest ReplicaSet, or of any other one, as the Deployment
    has it (getReplicaFailures, ReplicaSetToDeploymentCondition)."""
    for replica_set in (newest, *replica_sets):
        found = condition(replica_set, REPLICA_FAILURE) if replica_set is not None else None
        if found is not None:
            return [{**found, "lastUpdateTime": found.get("lastTransitionTime")}]
    return []
