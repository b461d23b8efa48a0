"""Validation of Deployments, ReplicaSets, ReplicationControllers, StatefulSets and DaemonSets, beyond their
schemas.

Upstream: pkg/apis/apps/validation/validation.go, v1.34."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import selector_validation
from simulator.apiserver.go_structs import pod_template_struct
from simulator.apiserver.job_validation import JOB_CHECKS
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required
from simulator.apiserver.template_validation import (
    validate_counts,
    validate_stateful_set_template,
    validate_template,
)
from simulator.objects.labels import label_selector

PERCENTAGE = re.compile("[0-9]{1,9}%", re.ASCII)
"""At most nine digits, because with more the number overflows upstream."""


def _workload(manifest: Manifest) -> Iterator[Cause]:
    """Validate what all kinds in this module but ReplicationController have in common."""
    spec = manifest["spec"]
    yield from validate_counts(spec, "spec")
    selector = spec.get("selector")
    yield from selector_validation.validate_label_selector(selector, "spec.selector")
    labels = spec["template"]["metadata"].get("labels")
    parsed = label_selector(selector)
    if parsed is None:
        yield required("spec.selector")
    elif parsed.empty:
        detail = "empty selector is invalid for " + manifest["kind"].lower()
        yield invalid("spec.selector", selector, detail)
    elif not parsed.matches(labels or {}):
        yield invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
    if manifest["kind"] == "StatefulSet":
        yield from validate_stateful_set_template(spec)
    else:
        yield from validate_template(spec, "spec", ("Always",))
    yield from _no_deadline(spec, manifest["kind"])


def _no_deadline(spec: Manifest, kind: str) -> Iterator[Cause]:
    """Refuse activeDeadlineSeconds in the template. For a Deployment the message names ReplicaSet, as
    upstream."""
    if "activeDeadlineSeconds" in spec["template"]["spec"]:
        owner = "ReplicaSet" if kind == "Deployment" else kind
        detail = f"activeDeadlineSeconds in {owner} is not Supported"
        yield forbidden("spec.template.spec.activeDeadlineSeconds", detail)


def _validate_deployment(manifest: Manifest) -> Iterator[Cause]:
    yield from _workload(manifest)
    spec, path = manifest["spec"], "spec.strategy.rollingUpdate"
    if spec["progressDeadlineSeconds"] <= spec.get("minReadySeconds", 0):
        detail = "must be greater than minReadySeconds"
        yield invalid("spec.progressDeadlineSeconds", spec["progressDeadlineSeconds"], detail)
    strategy = spec["strategy"]
    if strategy["type"] == "RollingUpdate":
        rolling = strategy["rollingUpdate"]
        yield from _rolling(rolling, path)
        if all(value in (0, "0%") for value in (rolling["maxUnavailable"], rolling["maxSurge"])):
            detail = "may not be 0 when `maxSurge` is 0"
            yield invalid(f"{path}.maxUnavailable", rolling["maxUnavailable"], detail)
    elif strategy["type"] != "Recreate":
        rolling = strategy.get("rollingUpdate")
        shown = {"Type": strategy["type"], "RollingUpdate": rolling and _go_names(rolling)}
        yield not_supported("spec.strategy", shown, ("RollingUpdate", "Recreate"), whole=True)
    elif "rollingUpdate" in strategy:
        yield forbidden(path, "may not be specified when strategy `type` is 'Recreate'")


def _go_names(rolling: Manifest) -> Manifest:
    """The struct RollingUpdateDeployment."""
    return {"MaxUnavailable": rolling.get("maxUnavailable", 0), "MaxSurge": rolling.get("maxSurge", 0)}


def _validate_daemon_set(manifest: Manifest) -> Iterator[Cause]:
    yield from _workload(manifest)
    strategy = manifest["spec"]["updateStrategy"]
    yield from _update_strategy(strategy)
    if strategy["type"] == "RollingUpdate":
        path, rolling = "spec.updateStrategy.rollingUpdate", strategy["rollingUpdate"]
        yield from _rolling(rolling, path)
        moving = [rolling[field] not in (0, "0%") for field in ("maxUnavailable", "maxSurge")]
        if all(moving):
            detail = "may not be set when maxUnavailable is non-zero"
            yield invalid(f"{path}.maxSurge", rolling["maxSurge"], detail)
        elif not any(moving):
            yield required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _validate_stateful_set(manifest: Manifest) -> Iterator[Cause]:
    yield from _workload(manifest)
    spec = manifest["spec"]
    strategy = spec["updateStrategy"]
    yield from _update_strategy(strategy)
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        rolling, path = strategy["rollingUpdate"], "spec.updateStrategy.rollingUpdate"
        if rolling["partition"] < 0:
            yield invalid(f"{path}.partition", rolling["partition"], "must be greater than or equal to 0")
        if "maxUnavailable" in rolling:
            yield from validate_int_or_percent(rolling["maxUnavailable"], f"{path}.maxUnavailable", most=100)
    start = spec.get("ordinals", {}).get("start", 0)
    if start < 0:
        yield invalid("spec.ordinals.start", start, "must be greater than or equal to 0")
    if spec["podManagementPolicy"] not in ("OrderedReady", "Parallel"):
        detail = "must be 'OrderedReady' or 'Parallel'"
        yield invalid("spec.podManagementPolicy", spec["podManagementPolicy"], detail)
    for when, policy in spec["persistentVolumeClaimRetentionPolicy"].items():
        if policy not in ("Retain", "Delete"):
            path = f"spec.persistentVolumeClaimRetentionPolicy.{when}"
            yield not_supported(path, policy, ("Retain", "Delete"), as_given=True)


def _update_strategy(strategy: Manifest) -> Iterator[Cause]:
    if strategy["type"] not in ("RollingUpdate", "OnDelete"):
        yield not_supported("spec.updateStrategy.type", strategy["type"], ("RollingUpdate", "OnDelete"))


def _rolling(rolling: Manifest, path: str) -> Iterator[Cause]:
    yield from validate_int_or_percent(rolling["maxUnavailable"], f"{path}.maxUnavailable", most=100)
    yield from validate_int_or_percent(rolling["maxSurge"], f"{path}.maxSurge")


def validate_int_or_percent(value: int | str, path: str, most: int | None = None) -> Iterator[Cause]:
    """Validate a number that is not negative, or a percentage up to ``most`` (ValidatePositiveIntOrPercent
    and IsNotMoreThan100Percent)."""
    if isinstance(value, int):
        if value < 0:
            yield invalid(path, value, "must be greater than or equal to 0")
    elif not PERCENTAGE.fullmatch(value):
        detail = (
            "a valid percent string must be a numeric string followed by an ending '%' "
            "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
        )
        yield invalid(path, value, detail)
    elif most is not None and int(value[:-1]) > most:
        yield invalid(path, value, f"must not be greater than {most}%")


def _validate_replication_controller(manifest: Manifest) -> Iterator[Cause]:
    """pkg/apis/core/validation/validation.go, ValidateReplicationControllerSpec."""
    spec = manifest["spec"]
    yield from validate_counts(spec, "spec")
    if not spec.get("selector"):
        yield required("spec.selector")
    if "template" not in spec:
        yield required("spec.template")
        return
    yield from validate_template(spec, "spec", ("Always",))
    labels = spec["template"]["metadata"].get("labels", {})
    if not spec.get("selector", {}).items() <= labels.items():
        yield invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")


WORKLOAD_CHECKS: dict[str, Callable[[Manifest], Iterator[Cause]]] = {
    "deployments.apps": _validate_deployment,
    "replicasets.apps": _workload,
    "replicationcontrollers": _validate_replication_controller,
    "statefulsets.apps": _validate_stateful_set,
    "daemonsets.apps": _validate_daemon_set,
    **JOB_CHECKS,
}


_STATEFUL_SET_CHANGES: Final = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
_STATEFUL_SET_UPDATE: Final = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)


def validate_workload_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """The selector may not change; in a Job, neither may the template and the completion rules; in a
    StatefulSet only some fields may."""
    if new["kind"] == "StatefulSet":
        after, before = (
            {name: value for name, value in each["spec"].items() if name not in _STATEFUL_SET_CHANGES}
            for each in (new, old)
        )
        if after != before:
            yield forbidden("spec", _STATEFUL_SET_UPDATE)
        return
    fields = (
        ("selector", "template", "completions", "completionMode", "podFailurePolicy", "successPolicy")
        if new["kind"] == "Job"
        else ("selector",)
    )
    for field in fields:
        if new["spec"].get(field) != old["spec"].get(field):
            value = new["spec"].get(field)
            shown = pod_template_struct(value) if field == "template" else value
            yield invalid(f"spec.{field}", shown, "field is immutable", whole=True)
