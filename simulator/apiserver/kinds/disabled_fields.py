"""Removal of fields whose feature gate is off by default, which kube-apiserver drops from what it stores.

Upstream: dropStatefulSetDisabledFields in pkg/registry/apps/statefulset/strategy.go, dropDisabledFields in
pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go and in the strategies of pkg/registry/resource,
and DropDisabledFields in pkg/api/persistentvolumeclaim/util.go, v1.34.
"""

from collections.abc import Callable
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.kinds.pods.disabled_fields import drop_disabled_pod_fields


def drop_disabled_fields(resource_id: str, manifest: Manifest) -> None:
    """Remove the disabled fields of an object, in place. Values of wrong types have been refused before."""
    drop = _DROPS.get(resource_id)
    if drop:
        drop(_at(manifest, "spec"))
    _drop_status_fields(resource_id, manifest)


def _of_template(spec: Manifest) -> None:
    drop_disabled_pod_fields(_at(spec, "template", "spec"))


def _of_stateful_set(spec: Manifest) -> None:
    _of_template(spec)
    _at(spec, "updateStrategy", "rollingUpdate").pop("maxUnavailable", None)  # MaxUnavailableStatefulSet


def _of_cron_job(spec: Manifest) -> None:
    _of_template(_at(spec, "jobTemplate", "spec"))


def _drop_status_fields(resource_id: str, manifest: Manifest) -> None:
    """Remove the fields of features that are off from the status of an object, in place."""
    status = _at(manifest, "status")
    if resource_id in ("deployments.apps", "replicasets.apps"):
        status.pop("terminatingReplicas", None)  # DeploymentReplicaSetTerminatingReplicas


def _at(of: Manifest, *path: str) -> Manifest:
    """Return the object at the path; an empty one that belongs to nothing, if there is none."""
    for field in path:
        of = of.get(field) or {}
    return of


_DROPS: Final[dict[str, Callable[[Manifest], None]]] = {
    "replicationcontrollers": _of_template,
    "deployments.apps": _of_template,
    "replicasets.apps": _of_template,
    "daemonsets.apps": _of_template,
    "statefulsets.apps": _of_stateful_set,
    "jobs.batch": _of_template,
    "cronjobs.batch": _of_cron_job,
}
