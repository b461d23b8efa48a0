"""Validation of Deployments, ReplicaSets, ReplicationControllers, StatefulSets, DaemonSets,
ControllerRevisions and PodTemplates, beyond their schemas.

Upstream: pkg/apis/apps/validation/validation.go, and ValidateReplicationControllerSpec in
pkg/apis/core/validation/validation.go, v1.34."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.counts import amount_of, check_at_most_all, validate_int_or_percent
from simulator.apiserver.enumerations import DEPLOYMENT_STRATEGIES, UPDATE_STRATEGIES
from simulator.apiserver.field_checks import NOT_NEGATIVE, check_name, check_not_negative
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.job_validation import JOB_CHECKS, JOB_CHECKS_OF_UPDATED
from simulator.apiserver.kinds.volumes.validation import validate_claim_spec
from simulator.apiserver.selector_validation import validate_label_selector
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required
from simulator.apiserver.template_validation import check_long_running, validate_template
from simulator.objects.labels import label_selector

_NO_MATCH: Final = "`selector` does not match template `labels`"
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")


def _validate_deployment(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateDeploymentSpec reports."""
    spec = manifest["spec"]
    yield from check_not_negative(spec, ("replicas",), "spec")
    yield from _selector(spec.get("selector"), "deployment")
    yield from _replica_set_template(spec)
    yield from _deployment_strategy(spec["strategy"], "spec.strategy")
    counts = ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    yield from check_not_negative(spec, counts, "spec")
    if spec["progressDeadlineSeconds"] <= spec.get("minReadySeconds", 0):
        detail = "must be greater than minReadySeconds"
        yield invalid("spec.progressDeadlineSeconds", spec["progressDeadlineSeconds"], detail)


def _validate_replica_set(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateReplicaSetSpec reports. Upstream names the deployment in a message."""
    spec = manifest["spec"]
    yield from check_not_negative(spec, ("replicas", "minReadySeconds"), "spec")
    yield from _selector(spec.get("selector"), "deployment")
    yield from _replica_set_template(spec)


def _selector(selector: Manifest | None, owner: str) -> Iterator[Cause]:
    if selector is None:
        yield required("spec.selector")
        return
    yield from validate_label_selector(selector, "spec.selector")
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield invalid("spec.selector", selector, f"empty selector is invalid for {owner}")


def _replica_set_template(spec: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidatePodTemplateSpecForReplicaSet reports."""
    selector = spec.get("selector")
    if not is_selector(selector):
        yield invalid("spec.selector", selector, "invalid label selector")
        return
    yield from check_labels_of_template(spec)
    yield from validate_template(spec["template"], "spec.template")
    yield from check_long_running(spec["template"], "spec.template", "ReplicaSet")


def is_selector(selector: Manifest | None) -> bool:
    """Whether LabelSelectorAsSelector in apimachinery/pkg/apis/meta/v1/helpers.go makes a selector of it. A
    missing one selects nothing."""
    if selector is None:
        return True
    if any(each["operator"] not in _OPERATORS for each in selector.get("matchExpressions", ())):
        return False
    return not any(validate_label_selector(selector, ""))


def check_labels_of_template(spec: Manifest, path: str = "spec") -> Iterator[Cause]:
    labels = (spec["template"].get("metadata") or {}).get("labels")
    parsed = label_selector(spec.get("selector"))
    if parsed is None or not parsed.matches(labels or {}):
        yield invalid(f"{path}.template.metadata.labels", labels, _NO_MATCH)


def _deployment_strategy(strategy: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateDeploymentStrategy reports."""
    at = f"{path}.rollingUpdate"
    match strategy["type"]:
        case "Recreate":
            if "rollingUpdate" in strategy:
                yield forbidden(at, "may not be specified when strategy `type` is 'Recreate'")
        case "RollingUpdate":
            unavailable, surge = (
                strategy["rollingUpdate"][field] for field in ("maxUnavailable", "maxSurge")
            )
            yield from validate_int_or_percent(unavailable, f"{at}.maxUnavailable")
            yield from validate_int_or_percent(surge, f"{at}.maxSurge")
            if amount_of(unavailable) == amount_of(surge) == 0:
                yield invalid(f"{at}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
            yield from check_at_most_all(unavailable, f"{at}.maxUnavailable")
        case _:
            shown = api_struct("apps.v1.DeploymentStrategy", strategy)
            yield not_supported(path, shown, DEPLOYMENT_STRATEGIES, whole=True)


def _validate_daemon_set(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateDaemonSetSpec reports."""
    spec = manifest["spec"]
    selector = spec.get("selector")
    yield from validate_label_selector(selector, "spec.selector")
    if is_selector(selector):
        yield from check_labels_of_template(spec)
    if selector is not None and not (selector.get("matchLabels") or selector.get("matchExpressions")):
        yield invalid("spec.selector", selector, "empty selector is invalid for daemonset")
    yield from validate_template(spec["template"], "spec.template")
    yield from check_long_running(spec["template"], "spec.template", "DaemonSet")
    yield from check_not_negative(spec, ("minReadySeconds",), "spec")
    yield from _daemon_set_strategy(spec["updateStrategy"], "spec.updateStrategy")
    yield from check_not_negative(spec, ("revisionHistoryLimit",), "spec")


def _daemon_set_strategy(strategy: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateDaemonSetUpdateStrategy reports."""
    if strategy["type"] not in UPDATE_STRATEGIES:
        shown = api_struct("apps.v1.DaemonSetUpdateStrategy", strategy)
        yield not_supported(path, shown, UPDATE_STRATEGIES, as_given=True, whole=True)
    elif strategy["type"] == "RollingUpdate":
        at, rolling = f"{path}.rollingUpdate", strategy["rollingUpdate"]
        fields = ("maxUnavailable", "maxSurge")
        for field in fields:
            yield from validate_int_or_percent(rolling[field], f"{at}.{field}")
        for field in fields:
            yield from check_at_most_all(rolling[field], f"{at}.{field}")
        moving = [amount_of(rolling[field]) != 0 for field in fields]
        if all(moving):
            detail = "may not be set when maxUnavailable is non-zero"
            yield invalid(f"{at}.maxSurge", rolling["maxSurge"], detail)
        elif not any(moving):
            yield required(f"{at}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _validate_stateful_set(manifest: Manifest) -> Iterator[Cause]:
    return _stateful_set(manifest["spec"], is_new=True, checks_template=True)


def _validate_updated_stateful_set(manifest: Manifest, old: Manifest) -> Iterator[Cause]:
    """ValidateStatefulSetUpdate: the name of the service and the claims cannot change, and a template that
    was wrong before may stay so."""
    before = old["spec"]
    was_good = is_selector(before.get("selector")) and not any(_stateful_set_template(before))
    return _stateful_set(manifest["spec"], is_new=False, checks_template=was_good)


def _stateful_set(spec: Manifest, *, is_new: bool, checks_template: bool) -> Iterator[Cause]:
    """Yield the faults that ValidateStatefulSetSpec reports. A negative revisionHistoryLimit gives a
    warning."""
    policy = spec["podManagementPolicy"]
    if policy not in ("OrderedReady", "Parallel"):
        yield invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
    yield from _stateful_set_strategy(spec["updateStrategy"], "spec.updateStrategy")
    for when in ("whenDeleted", "whenScaled"):
        given = spec["persistentVolumeClaimRetentionPolicy"][when]
        if given not in ("Retain", "Delete"):
            at = f"spec.persistentVolumeClaimRetentionPolicy.{when}"
            yield not_supported(at, given, ("Retain", "Delete"), as_given=True)
    if is_new:
        for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
            yield from validate_claim_spec(
                claim.get("spec") or {}, f"spec.volumeClaimTemplates[{index}].spec"
            )
    yield from check_not_negative(spec, ("replicas", "minReadySeconds"), "spec")
    yield from check_not_negative(spec.get("ordinals", {}), ("start",), "spec.ordinals")
    if is_new and spec.get("serviceName"):
        yield from check_name(names.dns_label, spec["serviceName"], "spec.serviceName")
    yield from _selector(spec.get("selector"), "statefulset")
    if not is_selector(spec.get("selector")):
        yield invalid("spec.selector", spec["selector"], "")
    elif checks_template:
        yield from _stateful_set_template(spec)
    yield from check_long_running(spec["template"], "spec.template", "StatefulSet")


def _stateful_set_template(spec: Manifest) -> Iterator[Cause]:
    """ValidatePodTemplateSpecForStatefulSet: its containers may mount the claims as volumes, which stand for
    volumes of the template of the same names (volumesToAddForTemplates)."""
    if spec.get("selector") != {}:
        yield from check_labels_of_template(spec)
    template = spec["template"]
    pod = template.get("spec") or {}
    claims = {
        (claim.get("metadata") or {}).get("name", ""): claim
        for claim in spec.get("volumeClaimTemplates") or ()
    }
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    own = [volume for volume in pod.get("volumes") or () if volume["name"] not in claims]
    yield from validate_template({**template, "spec": {**pod, "volumes": [*volumes, *own]}}, "spec.template")


def _stateful_set_strategy(strategy: Manifest, path: str) -> Iterator[Cause]:
    kind, rolling, at = strategy["type"], strategy.get("rollingUpdate"), f"{path}.rollingUpdate"
    if kind not in ("RollingUpdate", "OnDelete"):
        shown = api_struct("apps.v1.StatefulSetUpdateStrategy", strategy)
        yield invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'", whole=True)
    elif rolling is not None and kind == "OnDelete":
        shown = api_struct("apps.v1.RollingUpdateStatefulSetStrategy", rolling)
        yield invalid(at, shown, "only allowed for updateStrategy 'RollingUpdate'", whole=True)
    elif rolling is not None:
        yield from check_not_negative(rolling, ("partition",), at)


def _validate_replication_controller(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest["spec"]
    yield from check_not_negative(spec, ("minReadySeconds",), "spec")
    if not spec.get("selector"):
        yield required("spec.selector")
    yield from check_not_negative(spec, ("replicas",), "spec")
    template = spec.get("template")
    if template is None:
        yield required("spec.template")
        return
    labels: dict[str, Any] = template["metadata"].get("labels", {})
    if not spec.get("selector", {}).items() <= labels.items():
        yield invalid("spec.template.metadata.labels", labels or None, _NO_MATCH)
    yield from validate_template(template, "spec.template")
    yield from check_long_running(template, "spec.template", "ReplicationController")


def _validate_revision(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateControllerRevision reports."""
    if manifest.get("data") is None:
        yield required("data", "data is mandatory")
    if manifest["revision"] < 0:
        yield invalid("revision", manifest["revision"], NOT_NEGATIVE)


def _validate_pod_template(manifest: Manifest) -> Iterator[Cause]:
    yield from validate_template(manifest.get("template") or {}, "template")


WORKLOAD_CHECKS: Final[dict[str, Callable[[Manifest], Iterator[Cause]]]] = {
    "controllerrevisions.apps": _validate_revision,
    "daemonsets.apps": _validate_daemon_set,
    "deployments.apps": _validate_deployment,
    "podtemplates": _validate_pod_template,
    "replicasets.apps": _validate_replica_set,
    "replicationcontrollers": _validate_replication_controller,
    "statefulsets.apps": _validate_stateful_set,
    **JOB_CHECKS,
}
WORKLOAD_CHECKS_OF_UPDATED: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    "statefulsets.apps": _validate_updated_stateful_set,
    **JOB_CHECKS_OF_UPDATED,
}
"""The checks of updated objects, where these are others than those of new ones."""
