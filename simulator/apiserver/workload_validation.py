"""What people get wrong in Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs and CronJobs
(pkg/apis/apps/validation/validation.go and pkg/apis/batch/validation/validation.go, v1.34)."""

import re
import zoneinfo
from collections.abc import Callable, Iterator, Sequence

from simulator.api import Manifest
from simulator.apiserver import pod_validation, selector_validation
from simulator.apiserver.status import Cause, invalid, not_supported, required
from simulator.objects import cron
from simulator.objects.labels import label_selector

MAX_CRON_JOB_NAME = 52
"""Eleven characters are needed for the names of its Jobs."""

SUCCEEDED_INDEXES = re.compile(r"\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*", re.ASCII)
"""Five digits: more than 100,000 completions upstream refuses."""

COUNTS = (
    "replicas",
    "minReadySeconds",
    "revisionHistoryLimit",
    "parallelism",
    "completions",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "startingDeadlineSeconds",
    "successfulJobsHistoryLimit",
    "failedJobsHistoryLimit",
)


def _workload(manifest: Manifest) -> Iterator[Cause]:
    """Of all that select the pods of their template."""
    spec = manifest["spec"]
    yield from _counts(spec, "spec")
    yield from _template(spec, "spec", ("Always",))
    selector = spec.get("selector")
    yield from selector_validation.label_selector(selector, "spec.selector")
    labels = (spec.get("template", {}).get("metadata") or {}).get("labels", {})
    parsed = label_selector(selector)
    if parsed is None or parsed.empty:
        detail = "empty selector is invalid for " + manifest["kind"].lower()
        yield invalid("spec.selector", selector or {}, detail)
    elif "template" in spec and not parsed.matches(labels):
        yield invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")


def _counts(spec: Manifest, path: str) -> Iterator[Cause]:
    for field in COUNTS:
        if spec.get(field, 0) < 0:
            yield invalid(f"{path}.{field}", spec[field], "must be greater than or equal to 0")


def _template(spec: Manifest, path: str, policies: Sequence[str]) -> Iterator[Cause]:
    template = spec.get("template")
    if template is None:
        yield required(f"{path}.template")
        return
    labels = (template.get("metadata") or {}).get("labels", {})
    yield from selector_validation.labels(labels, f"{path}.template.metadata.labels")
    yield from pod_validation.pod_spec(template["spec"], f"{path}.template.spec")
    policy = template["spec"].get("restartPolicy")
    if policy not in policies:
        yield not_supported(f"{path}.template.spec.restartPolicy", policy, policies)


def _deployment(manifest: Manifest) -> Iterator[Cause]:
    yield from _workload(manifest)
    strategy = manifest["spec"]["strategy"]
    if strategy["type"] not in ("RollingUpdate", "Recreate"):
        yield not_supported("spec.strategy.type", strategy["type"], ("RollingUpdate", "Recreate"))
    yield from _rolling(strategy.get("rollingUpdate"), "spec.strategy.rollingUpdate")


def _daemon_set(manifest: Manifest) -> Iterator[Cause]:
    yield from _workload(manifest)
    strategy = manifest["spec"]["updateStrategy"]
    yield from _update_strategy(strategy)
    rolling = strategy.get("rollingUpdate")
    yield from _rolling(rolling, "spec.updateStrategy.rollingUpdate")
    if rolling and all(rolling[field] not in (0, "0%") for field in ("maxUnavailable", "maxSurge")):
        detail = "may not be set when maxUnavailable is non-zero"
        yield invalid("spec.updateStrategy.rollingUpdate.maxSurge", rolling["maxSurge"], detail)


def _stateful_set(manifest: Manifest) -> Iterator[Cause]:
    yield from _workload(manifest)
    spec = manifest["spec"]
    yield from _update_strategy(spec["updateStrategy"])
    if spec["podManagementPolicy"] not in ("OrderedReady", "Parallel"):
        choices = ("OrderedReady", "Parallel")
        yield not_supported("spec.podManagementPolicy", spec["podManagementPolicy"], choices)
    for when, policy in spec["persistentVolumeClaimRetentionPolicy"].items():
        if policy not in ("Retain", "Delete"):
            path = f"spec.persistentVolumeClaimRetentionPolicy.{when}"
            yield not_supported(path, policy, ("Retain", "Delete"))


def _update_strategy(strategy: Manifest) -> Iterator[Cause]:
    if strategy["type"] not in ("RollingUpdate", "OnDelete"):
        yield not_supported("spec.updateStrategy.type", strategy["type"], ("RollingUpdate", "OnDelete"))


def _rolling(rolling: Manifest | None, path: str) -> Iterator[Cause]:
    """Numbers or percentages, and room for at least one pod to move."""
    if rolling is None:
        return
    shares = [rolling.get(field, 0) for field in ("maxUnavailable", "maxSurge")]
    for field, value in zip(("maxUnavailable", "maxSurge"), shares, strict=True):
        good = value >= 0 if isinstance(value, int) else re.fullmatch("[0-9]{1,4}%", value, re.ASCII)
        if not good:
            detail = "must be a number of at least 0, or a percentage (e.g '5%')"
            yield invalid(f"{path}.{field}", value, detail)
    if all(value in (0, "0%") for value in shares):
        detail = "may not be 0 when `maxSurge` is 0"
        yield invalid(f"{path}.maxUnavailable", shares[0], detail)


def _job(manifest: Manifest) -> Iterator[Cause]:
    yield from _job_spec(manifest["spec"], "spec")


def _job_spec(spec: Manifest, path: str) -> Iterator[Cause]:
    yield from _counts(spec, path)
    yield from _template(spec, path, ("OnFailure", "Never"))
    if spec["completionMode"] not in ("NonIndexed", "Indexed"):
        yield not_supported(f"{path}.completionMode", spec["completionMode"], ("NonIndexed", "Indexed"))
    elif spec["completionMode"] == "Indexed" and "completions" not in spec:
        yield required(f"{path}.completions", "when completion mode is Indexed")
    if spec.get("podFailurePolicy"):
        policy = spec["template"]["spec"].get("restartPolicy")
        if policy != "Never":
            detail = 'only "Never" is supported when podFailurePolicy is specified'
            yield invalid(f"{path}.template.spec.restartPolicy", policy, detail)
        for index, rule in enumerate(spec["podFailurePolicy"].get("rules") or ()):
            yield from _failure_rule(rule, f"{path}.podFailurePolicy.rules[{index}]")
    if spec.get("successPolicy"):
        yield from _success_policy(spec, f"{path}.successPolicy")


def _failure_rule(rule: Manifest, path: str) -> Iterator[Cause]:
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    if rule["action"] not in ("Count", "FailJob", "Ignore"):
        # FailIndex is upstream's fourth: it comes with backoffLimitPerIndex, which nobody acts on here.
        yield not_supported(f"{path}.action", rule["action"], ("Count", "FailJob", "Ignore"))
    if codes and conditions:
        yield invalid(path, rule, "specifying both OnExitCodes and OnPodConditions is not supported")
    elif not codes and not conditions:
        yield invalid(path, rule, "specifying one of OnExitCodes and OnPodConditions is required")
    if codes and codes["operator"] not in ("In", "NotIn"):
        yield not_supported(f"{path}.onExitCodes.operator", codes["operator"], ("In", "NotIn"))
    if codes and not codes["values"]:
        yield invalid(f"{path}.onExitCodes.values", codes["values"], "at least one value is required")


def _success_policy(spec: Manifest, path: str) -> Iterator[Cause]:
    policy = spec["successPolicy"]
    if spec["completionMode"] != "Indexed":
        yield invalid(path, policy, "requires indexed completion mode")
    if not policy.get("rules"):
        yield required(
            f"{path}.rules", "at least one rules must be specified when the successPolicy is specified"
        )
    for index, rule in enumerate(policy.get("rules") or ()):
        if "succeededIndexes" in rule and not SUCCEEDED_INDEXES.fullmatch(rule["succeededIndexes"]):
            yield invalid(
                f"{path}.rules[{index}].succeededIndexes",
                rule["succeededIndexes"],
                "must be numbers and intervals of them, such as 0,2-4",
            )


def _cron_job(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest["spec"]
    name = manifest["metadata"].get("name", "")
    if len(name) > MAX_CRON_JOB_NAME:
        yield invalid("metadata.name", name, f"must be no more than {MAX_CRON_JOB_NAME} characters")
    yield from _counts(spec, "spec")
    yield from _job_spec(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec")
    try:
        cron.parse(spec["schedule"])
    except ValueError as error:
        yield invalid("spec.schedule", spec["schedule"], str(error))
    if spec["concurrencyPolicy"] not in ("Allow", "Forbid", "Replace"):
        choices = ("Allow", "Forbid", "Replace")
        yield not_supported("spec.concurrencyPolicy", spec["concurrencyPolicy"], choices)
    zone = spec.get("timeZone", "UTC")
    try:
        zoneinfo.ZoneInfo(zone)
    except (ValueError, zoneinfo.ZoneInfoNotFoundError, OSError):
        yield invalid("spec.timeZone", zone, "unknown time zone " + zone[:100])


WORKLOAD_CHECKS: dict[str, Callable[[Manifest], Iterator[Cause]]] = {
    "deployments.apps": _deployment,
    "replicasets.apps": _workload,
    "statefulsets.apps": _stateful_set,
    "daemonsets.apps": _daemon_set,
    "jobs.batch": _job,
    "cronjobs.batch": _cron_job,
}


def validate_workload_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """A selector is for life; a Job's template too."""
    fields = (
        ("selector", "template", "completions", "completionMode", "podFailurePolicy", "successPolicy")
        if new["kind"] == "Job"
        else ("selector",)
    )
    for field in fields:
        if new["spec"].get(field) != old["spec"].get(field):
            yield invalid(f"spec.{field}", new["spec"].get(field), "field is immutable")
