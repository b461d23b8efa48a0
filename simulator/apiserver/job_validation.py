"""Validation of Jobs and CronJobs, beyond their schemas.

Upstream: pkg/apis/batch/validation/validation.go, v1.34."""

import re
import zoneinfo
from collections.abc import Callable, Iterator

from simulator.api import Manifest
from simulator.apiserver import names, selector_validation
from simulator.apiserver.status import (
    Cause,
    invalid,
    invalid_without_value,
    not_supported,
    required,
    too_long,
)
from simulator.apiserver.template_validation import validate_counts, validate_template
from simulator.apiserver.workload_defaults import JOB_LABELS, MANUAL_SELECTOR
from simulator.objects import cron
from simulator.objects.labels import label_selector

FAILURE_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
MAX_MANAGED_BY = 63
"""Maximum length of managedBy in bytes."""
MAX_CRON_JOB_NAME = 52
"""Maximum length of a CronJob's name: the names of its Jobs have up to 11 characters more."""

SUCCEEDED_INDEXES = re.compile(r"\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*", re.ASCII)
"""At most five digits, see MAX_INDEXES."""
MAX_INDEXES = 100_000
"""Maximum parallelism of an Indexed Job, as upstream (maxParallelismForIndexedJob). Here it is also the
maximum of completions, because the result of each index is stored."""


def _validate_job(manifest: Manifest) -> Iterator[Cause]:
    """ValidateJob: the selector is the generated one, unless manualSelector is set, and it matches the
    template's labels."""
    spec = manifest["spec"]
    yield from _validate_job_spec(spec, "spec")
    selector = spec.get("selector", {})
    own = {label: manifest["metadata"].get("uid", "") for label in JOB_LABELS}
    given = selector.get("matchLabels", {})
    generated = given and given.items() <= own.items() and not selector.get("matchExpressions")
    if not spec.get(MANUAL_SELECTOR) and not generated:
        yield invalid("spec.selector", selector, "`selector` not auto-generated")
    yield from selector_validation.validate_label_selector(selector, "spec.selector")
    labels = spec["template"]["metadata"].get("labels", {})
    parsed = label_selector(selector)
    if parsed is not None and not parsed.matches(labels):
        yield invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")


def _validate_job_spec(spec: Manifest, path: str) -> Iterator[Cause]:
    yield from validate_counts(spec, path)
    yield from validate_template(spec, path, ("OnFailure", "Never"))
    # The Jobs of a CronJob get their defaults when they are created.
    mode = spec.get("completionMode", "NonIndexed")
    if mode not in ("NonIndexed", "Indexed"):
        yield not_supported(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    elif mode == "Indexed" and "completions" not in spec:
        yield required(f"{path}.completions", "when completion mode is Indexed")
    elif mode == "Indexed":
        for field in ("completions", "parallelism"):
            if spec.get(field, 1) > MAX_INDEXES:
                detail = f"must be less than or equal to {MAX_INDEXES} when completion mode is Indexed"
                yield invalid(f"{path}.{field}", spec[field], detail)
    if "backoffLimitPerIndex" in spec and mode != "Indexed":
        limit = spec["backoffLimitPerIndex"]
        yield invalid(f"{path}.backoffLimitPerIndex", limit, "requires indexed completion mode")
    replacement = spec.get("podReplacementPolicy", "Failed")
    if replacement not in ("Failed", "TerminatingOrFailed"):
        choices = ("Failed", "TerminatingOrFailed")
        yield not_supported(f"{path}.podReplacementPolicy", replacement, choices)
    if spec.get("podFailurePolicy"):
        policy = spec["template"]["spec"].get("restartPolicy")
        if policy != "Never":
            detail = 'only "Never" is supported when podFailurePolicy is specified'
            yield invalid(f"{path}.template.spec.restartPolicy", policy, detail)
        for index, rule in enumerate(spec["podFailurePolicy"].get("rules") or ()):
            yield from _failure_rule(rule, f"{path}.podFailurePolicy.rules[{index}]")
    if "managedBy" in spec:
        yield from _managed_by(spec["managedBy"], f"{path}.managedBy")
    if spec.get("successPolicy"):
        yield from _success_policy(spec, f"{path}.successPolicy")


def _failure_rule(rule: Manifest, path: str) -> Iterator[Cause]:
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    if rule["action"] not in FAILURE_ACTIONS:
        yield not_supported(f"{path}.action", rule["action"], FAILURE_ACTIONS)
    elif rule["action"] == "FailIndex":
        # Upstream allows it with backoffLimitPerIndex, which is not simulated.
        yield invalid(f"{path}.action", rule["action"], "requires the backoffLimitPerIndex to be set")
    if codes and conditions:
        yield invalid_without_value(path, "specifying both OnExitCodes and OnPodConditions is not supported")
    elif not codes and not conditions:
        yield invalid_without_value(path, "specifying one of OnExitCodes and OnPodConditions is required")
    if codes and codes["operator"] not in ("In", "NotIn"):
        yield not_supported(f"{path}.onExitCodes.operator", codes["operator"], ("In", "NotIn"))
    if codes and not codes["values"]:
        yield invalid(f"{path}.onExitCodes.values", codes["values"], "at least one value is required")


def _managed_by(manager: str, path: str) -> Iterator[Cause]:
    """IsDomainPrefixedPath."""
    host, slash, rest = manager.partition("/")
    if not manager:
        yield required(path)
    elif not slash or not host or not rest:
        yield invalid(path, manager, 'must be a domain-prefixed path (such as "acme.io/foo")')
    elif problem := names.dns_subdomain(host):
        yield invalid(path, host, problem)
    if len(manager) > MAX_MANAGED_BY:
        yield too_long(path, MAX_MANAGED_BY)


def _success_policy(spec: Manifest, path: str) -> Iterator[Cause]:
    policy = spec["successPolicy"]
    if spec.get("completionMode") != "Indexed":
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


def _validate_cron_job(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest["spec"]
    name = manifest["metadata"].get("name", "")
    if len(name) > MAX_CRON_JOB_NAME:
        yield invalid("metadata.name", name, f"must be no more than {MAX_CRON_JOB_NAME} characters")
    yield from validate_counts(spec, "spec")
    yield from _validate_job_spec(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec")
    if not spec.get("schedule"):
        yield required("spec.schedule")
    else:
        try:
            cron.parse_schedule(spec["schedule"])
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


JOB_CHECKS: dict[str, Callable[[Manifest], Iterator[Cause]]] = {
    "jobs.batch": _validate_job,
    "cronjobs.batch": _validate_cron_job,
}
