"""The statuses that controllers write: ReplicaSetStatus and others of k8s.io/api, as far as the
controllers of this package set their fields.

A field that is None is removed from the object's status, and one that is UNSET stays as it is. Counts of 0
are left out where Go's encoder leaves them out.
:meth:`simulator.controllers.controller.Controller.set_status` also sets observedGeneration, of those that
have it."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType, to_builtins

from simulator.api import Manifest
from simulator.apiserver.served_features import once_per_version
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import StructType
from simulator.apiserver.types.zero_values import keeps_empty
from simulator.objects.status import with_status


class ReplicaSetStatus(Struct, frozen=True, rename="camel"):
    replicas: int
    fully_labeled_replicas: int
    ready_replicas: int
    available_replicas: int
    conditions: list[Manifest] | UnsetType | None = UNSET
    observed_generation: int | UnsetType = UNSET


class DeploymentStatus(Struct, frozen=True, rename="camel"):
    replicas: int
    updated_replicas: int
    ready_replicas: int
    available_replicas: int
    unavailable_replicas: int
    conditions: list[Manifest] | UnsetType = UNSET
    observed_generation: int | UnsetType = UNSET


class StatefulSetStatus(Struct, frozen=True, rename="camel"):
    replicas: int
    ready_replicas: int
    available_replicas: int
    current_replicas: int
    updated_replicas: int
    current_revision: str
    update_revision: str
    collision_count: int = 0
    observed_generation: int | UnsetType = UNSET


class DaemonSetStatus(Struct, frozen=True, rename="camel"):
    desired_number_scheduled: int
    current_number_scheduled: int
    number_misscheduled: int
    number_ready: int
    updated_number_scheduled: int
    number_available: int
    number_unavailable: int
    observed_generation: int | UnsetType = UNSET


class JobStatus(Struct, frozen=True, rename="camel", kw_only=True):
    completed_indexes: str | UnsetType = UNSET
    succeeded: int | UnsetType = UNSET
    failed: int | UnsetType = UNSET
    active: int | UnsetType = UNSET
    ready: int | UnsetType = UNSET
    terminating: int | UnsetType = UNSET
    start_time: str | UnsetType | None = UNSET
    conditions: list[Manifest] | UnsetType = UNSET
    completion_time: str | UnsetType = UNSET


class ObjectReference(Struct, frozen=True, rename="camel"):
    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


class CronJobStatus(Struct, frozen=True, rename="camel", kw_only=True):
    last_schedule_time: str | UnsetType = UNSET
    active: list[ObjectReference] | UnsetType | None = UNSET
    last_successful_time: str | UnsetType | None = UNSET


class PodDisruptionBudgetStatus(Struct, frozen=True, rename="camel", kw_only=True):
    current_healthy: int | UnsetType = UNSET
    desired_healthy: int | UnsetType = UNSET
    disruptions_allowed: int
    expected_pods: int | UnsetType = UNSET
    observed_generation: int | UnsetType = UNSET


class VolumeStatus(Struct, frozen=True, rename="camel"):
    """PersistentVolumeStatus and PersistentVolumeClaimStatus."""

    phase: str


def written_fields(manifest: Manifest, status: Struct) -> dict[str, Any]:
    """Return the fields that ``status`` sets in the status of the object; those that are None are removed."""
    kind = manifest["apiVersion"], manifest["kind"]
    return {
        name: None if value == 0 and _omits_zero(*kind, name) else value
        for name, value in to_builtins(status).items()
    }


def with_status_fields(manifest: Manifest, status: Struct) -> Manifest:
    """Return a copy of the object with the fields of ``status``."""
    return with_status(manifest, **written_fields(manifest, status))


@once_per_version()
def _omits_zero(api_version: str, kind: str, field: str) -> bool:
    """Whether Go's encoder leaves a count of 0 out of the status of a kind."""
    of = api_types().of_kind(api_version, kind)
    status = of.fields["status"].type if of is not None else None
    return isinstance(status, StructType) and field in status.fields and not keeps_empty(status.fields[field])
