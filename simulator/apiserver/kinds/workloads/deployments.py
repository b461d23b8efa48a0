"""Deployments, ReplicaSets and ReplicationControllers.

Upstream: strategy.go in pkg/registry/apps/{deployment,replicaset} and
pkg/registry/core/replicationcontroller, pkg/apis/apps/v1/defaults.go, pkg/apis/apps/validation/validation.go,
and ValidateReplicationControllerSpec in pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.enumerations import DEPLOYMENT_STRATEGIES
from simulator.apiserver.field_changes import complete, dropping
from simulator.apiserver.field_checks import amount_of, check_at_most_all, validate_int_or_percent
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.workloads.templates import (
    LABELS,
    NO_MATCH,
    READY_PODS,
    check_labels_of_template,
    container_columns,
    count_faults,
    drop_template_fields,
    is_selector,
    long_running,
    ready_cell,
    selector_column,
    selector_of,
    set_template_defaults,
    template_warnings,
    validate_selector_update,
    validate_template,
)
from simulator.apiserver.printers.column import AGE, NAME, Column, Printer, labels_text, printer_of
from simulator.apiserver.resource import ScalePaths, built_in
from simulator.apiserver.shapes import field, must_exist, must_have, not_negative, value_at
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported
from simulator.apiserver.strategy import Strategy, spec_of, status_strategy

_NAME_USE: Final = "this is used in Pod names and hostnames"


_DEFAULTS: Final[Manifest] = {
    "replicas": 1,
    "strategy": {"type": "RollingUpdate"},
    "revisionHistoryLimit": 10,
    "progressDeadlineSeconds": 600,
}


def _set_replica_set_defaults(manifest: Manifest) -> None:
    manifest.setdefault("spec", {}).setdefault("replicas", 1)
    set_template_defaults(manifest)


def _set_deployment_defaults(manifest: Manifest) -> None:
    complete(manifest, {"spec": _DEFAULTS})
    strategy = manifest["spec"]["strategy"]
    if strategy["type"] == "RollingUpdate":
        complete(strategy, {"rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}})
    set_template_defaults(manifest)


def _set_controller_defaults(manifest: Manifest) -> None:
    """Set the defaults of a ReplicationController, whose template may be missing. The selector defaults to
    the template's labels."""
    spec = manifest.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    if "template" in spec:
        set_template_defaults(manifest)
        labels = spec["template"]["metadata"].get("labels", {})
        if labels and not spec.get("selector"):
            spec["selector"] = dict(labels)
        if labels and not manifest["metadata"].get("labels"):
            manifest["metadata"]["labels"] = dict(labels)


_drop_terminating: Final = dropping(DeploymentReplicaSetTerminatingReplicas=["status.terminatingReplicas"])


def _drop_disabled_fields(manifest: Manifest, old: Manifest | None) -> None:
    drop_template_fields(manifest, old)
    _drop_terminating(manifest, old)


def _check_deadline(spec: Manifest, path: str) -> Iterator[Cause]:
    if spec["progressDeadlineSeconds"] <= spec.get("minReadySeconds", 0):
        detail = "must be greater than minReadySeconds"
        yield invalid(f"{path}.progressDeadlineSeconds", spec["progressDeadlineSeconds"], detail)


def _replica_set_template(spec: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidatePodTemplateSpecForReplicaSet reports."""
    selector = spec.get("selector")
    if not is_selector(selector):
        yield invalid(f"{path}.selector", selector, "invalid label selector")
        return
    yield from check_labels_of_template(spec, path)
    yield from field("template", validate_template, long_running("ReplicaSet"))(spec, path)


def _deployment_strategy(strategy: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateDeploymentStrategy reports."""
    at = f"{path}.rollingUpdate"
    match strategy["type"]:
        case "Recreate":
            if "rollingUpdate" in strategy:
                yield forbidden(at, "may not be specified when strategy `type` is 'Recreate'")
        case "RollingUpdate":
            rolling = strategy["rollingUpdate"]
            unavailable, surge = rolling["maxUnavailable"], rolling["maxSurge"]
            yield from validate_int_or_percent(unavailable, f"{at}.maxUnavailable")
            yield from validate_int_or_percent(surge, f"{at}.maxSurge")
            if amount_of(unavailable) == amount_of(surge) == 0:
                yield invalid(f"{at}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
            yield from check_at_most_all(unavailable, f"{at}.maxUnavailable")
        case _:
            shown = api_struct("apps.v1.DeploymentStrategy", strategy)
            yield not_supported(path, shown, DEPLOYMENT_STRATEGIES, whole=True)


def _check_labels(spec: Manifest, path: str) -> Iterator[Cause]:
    """Check that the selector of a ReplicationController, which are labels, selects its template."""
    labels: dict[str, Any] = (value_at(spec, "template.metadata") or {}).get("labels", {})
    if "template" in spec and not spec.get("selector", {}).items() <= labels.items():
        yield invalid(f"{path}.template.metadata.labels", labels or None, NO_MATCH)


DEPLOYMENT_STRATEGY: Final = Strategy(
    resource=built_in("apps/v1", "Deployment", "deploy", has_status=True, scale=ScalePaths()),
    drop_disabled_fields=_drop_disabled_fields,
    set_defaults=_set_deployment_defaults,
    name_use=_NAME_USE,
    validate=field(
        "spec",
        not_negative("replicas"),
        selector_of("deployment"),
        _replica_set_template,
        field("strategy", _deployment_strategy),
        not_negative("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"),
        _check_deadline,
    ),
    warnings=template_warnings(),
    validate_update=validate_selector_update,
    update_order="USC",
    desired_state=lambda manifest: (manifest.get("spec"), manifest["metadata"].get("annotations")),
    subresources={
        "status": status_strategy(
            count_faults(
                *("observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
                *("unavailableReplicas", "terminatingReplicas", "collisionCount"),
                at_most_replicas=("updatedReplicas", "readyReplicas", "availableReplicas"),
            ),
            keeps_metadata=("labels",),
        )
    },
    printer=printer_of(
        NAME,
        Column("Ready", READY_PODS, cell=ready_cell),
        Column("Up-to-date", "DeploymentStatus.updatedReplicas", absent=0),
        Column("Available", "DeploymentStatus.availableReplicas", absent=0),
        AGE,
        *container_columns(),
        selector_column(
            "DeploymentSpec.selector",
            older="Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the "
            "ones affected by this deployment.",
        ),
    ),
)
_COUNTED: Final = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")


def _replica_columns(kind: str, selector: Column) -> Printer:
    return printer_of(
        NAME,
        Column("Desired", f"{kind}Spec.replicas", "integer", absent=0),
        Column("Current", f"{kind}Status.replicas", "integer", absent=0),
        Column("Ready", f"{kind}Status.readyReplicas", "integer", absent=0),
        AGE,
        *container_columns(),
        selector,
    )


REPLICA_SET_STRATEGY: Final = Strategy(
    resource=built_in("apps/v1", "ReplicaSet", "rs", has_status=True, scale=ScalePaths()),
    drop_disabled_fields=_drop_disabled_fields,
    set_defaults=_set_replica_set_defaults,
    name_use=_NAME_USE,
    validate=field(
        "spec",
        not_negative("replicas", "minReadySeconds"),
        selector_of("deployment"),  # upstream names the deployment
        _replica_set_template,
    ),
    warnings=template_warnings(),
    validate_update=validate_selector_update,
    update_order="USC",
    desired_state=spec_of,
    subresources={
        "status": status_strategy(
            count_faults(
                *("replicas", *_COUNTED, "observedGeneration", "terminatingReplicas"),
                at_most_replicas=_COUNTED,
            )
        )
    },
    printer=_replica_columns(
        "ReplicaSet",
        selector_column(
            "ReplicaSetSpec.selector",
            older="Selector is a label query over pods that should match the replica count. If the selector "
            "is empty, it is defaulted to the labels present on the pod template. Label keys and values that "
            f"must match in order to be controlled by this replica set. {LABELS}",
        ),
    ),
)
REPLICATION_CONTROLLER_STRATEGY: Final = Strategy(
    resource=built_in(
        "v1", "ReplicationController", "rc", has_status=True, scale=ScalePaths(has_label_set=True)
    ),
    drop_disabled_fields=drop_template_fields,
    set_defaults=_set_controller_defaults,
    name_use=_NAME_USE,
    validate=field(
        "spec",
        not_negative("minReadySeconds"),
        must_have("selector"),
        not_negative("replicas"),
        must_exist("template"),
        _check_labels,
        field("template", validate_template, long_running("ReplicationController")),
    ),
    warnings=template_warnings(),
    update_order="MSUS",
    desired_state=spec_of,
    subresources={
        "status": status_strategy(
            count_faults("replicas", *_COUNTED, "observedGeneration", at_most_replicas=_COUNTED)
        )
    },
    garbage_collection="OrphanDependents",
    printer=_replica_columns(
        "ReplicationController",
        Column("Selector", "ReplicationControllerSpec.selector", wide=1, show=labels_text),
    ),
    fields=("status.replicas",),
    storage_prefix="controllers",
)
