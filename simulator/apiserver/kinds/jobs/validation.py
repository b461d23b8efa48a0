"""Validation of Jobs and CronJobs, beyond their schemas.

Upstream: pkg/apis/batch/validation/validation.go, v1.34."""

import copy
import re
import zoneinfo
from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import COMPLETION_MODES, REPLACEMENT_POLICIES
from simulator.apiserver.field_checks import (
    IMMUTABLE,
    check_choice,
    check_domain_prefixed,
)
from simulator.apiserver.go_structs import api_struct, pod_template_struct
from simulator.apiserver.kinds.jobs.policies import validate_failure_policy, validate_success_policy
from simulator.apiserver.kinds.workloads.templates import validate_selector_update, validate_template
from simulator.apiserver.selector_validation import validate_label_selector
from simulator.apiserver.shapes import not_negative
from simulator.apiserver.status import NIL, Cause, invalid, not_supported, required, too_long
from simulator.objects import cron
from simulator.objects.labels import label_selector

JOB_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")
JOB_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")
MANUAL_SELECTOR = "manualSelector"
MAX_MANAGED_BY: Final = 63
"""Maximum length of managedBy in bytes."""
MAX_CRON_JOB_NAME: Final = 52
"""Maximum length of a CronJob's name: the names of its Jobs have up to 11 characters more."""
MAX_INDEXES: Final = 100_000
"""Maximum parallelism of an Indexed Job, as upstream (maxParallelismForIndexedJob). Here it is also the
maximum of completions, because the result of each index is stored."""
_COUNTS: Final = not_negative(
    *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"),
    *("backoffLimitPerIndex", "maxFailedIndexes"),
)
_STARTING_DEADLINE: Final = not_negative("startingDeadlineSeconds")
_HISTORY_LIMITS: Final = not_negative("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
_POLICIES: Final = ("OnFailure", "Never")
_SCHEDULING: Final = ("nodeSelector", "tolerations", "schedulingGates")
_ZONE_PART: Final = re.compile(r"[A-Za-z._0-9+][A-Za-z.\-_0-9+]{0,13}")


def validate_job(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateJob reports."""
    spec, name = manifest["spec"], manifest["metadata"].get("name", "")
    if not spec.get(MANUAL_SELECTOR) and "selector" in spec:
        yield from _generated_selector(manifest)
    yield from _validate_job_spec(spec, "spec")
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
    yield from validate_label_selector(selector, "spec.selector")
    labels = spec["template"]["metadata"].get("labels")
    parsed = label_selector(selector)
    if parsed is None or not parsed.matches(labels or {}):
        yield invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
    completions = spec.get("completions", 0)
    if spec.get("completionMode") == "Indexed" and completions > 0:
        host = f"{name}-{completions - 1}"
        if names.dns_label(host):
            yield invalid(
                "metadata.name", name, f"will not able to create pod with invalid DNS label: {host}"
            )


def _generated_selector(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults of the selector and the labels of the template: they are the generated ones, unless
    manualSelector is set (validateGeneratedSelector)."""
    metadata, spec = manifest["metadata"], manifest["spec"]
    labels = spec["template"]["metadata"].get("labels", {})
    own: dict[str, Any] = {}
    for uid, name in zip(JOB_LABELS, JOB_NAME_LABELS, strict=True):
        own |= {uid: metadata.get("uid", ""), name: metadata.get("name", "")}
    for label, value in own.items():
        at, detail = f"spec.template.metadata.labels[{label}]", f"must be '{value}'"
        if label not in labels:
            yield required(at, detail)
        elif labels[label] != value:
            yield invalid(at, labels, detail)
    parsed = label_selector(spec["selector"])
    if parsed is not None and not parsed.matches(own):
        yield invalid("spec.selector", spec["selector"], "`selector` not auto-generated")


def _validate_job_spec(spec: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateJobSpec reports."""
    yield from _COUNTS(spec, path)
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if "managedBy" in spec:
        yield from _managed_by(spec["managedBy"], f"{path}.managedBy")
    # The Jobs of a CronJob get their defaults when they are created.
    mode = spec.get("completionMode", "NonIndexed")
    if mode not in COMPLETION_MODES:
        yield not_supported(f"{path}.completionMode", mode, COMPLETION_MODES, as_given=True)
    elif mode == "Indexed":
        yield from _indexed(spec, path)
    else:
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if field in spec:
                yield invalid(f"{path}.{field}", spec[field], "requires indexed completion mode")
    if "podFailurePolicy" in spec:
        yield from validate_failure_policy(spec, f"{path}.podFailurePolicy")
    if "successPolicy" in spec:
        yield from validate_success_policy(spec, f"{path}.successPolicy")
    if "podReplacementPolicy" in spec:
        choices = ("Failed",) if "podFailurePolicy" in spec else REPLACEMENT_POLICIES
        if spec["podReplacementPolicy"] not in choices:
            yield not_supported(f"{path}.podReplacementPolicy", spec["podReplacementPolicy"], choices)
    yield from validate_template(spec["template"], f"{path}.template")
    yield from _restart_policy(spec, f"{path}.template.spec.restartPolicy")


def _restart_policy(spec: Manifest, path: str) -> Iterator[Cause]:
    policy = spec["template"]["spec"].get("restartPolicy", "")
    if policy in ("Always", ""):
        # "Always" is the default, so the user probably has not set the policy.
        yield required(path, 'valid values: "OnFailure", "Never"')
    elif policy not in _POLICIES:
        yield not_supported(path, policy, _POLICIES, as_given=True)
    elif "podFailurePolicy" in spec and policy != "Never":
        yield invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')


def _indexed(spec: Manifest, path: str) -> Iterator[Cause]:
    completions, failed = spec.get("completions"), spec.get("maxFailedIndexes", 0)
    if completions is None:
        yield required(f"{path}.completions", "when completion mode is Indexed")
    for field in ("parallelism", "completions"):
        if spec.get(field, 1) > MAX_INDEXES:
            detail = f"must be less than or equal to {MAX_INDEXES} when completion mode is Indexed"
            yield invalid(f"{path}.{field}", spec[field], detail)
    if completions is not None and failed > completions:
        yield invalid(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions")
    if failed > MAX_INDEXES:
        yield invalid(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {MAX_INDEXES}")


def _managed_by(manager: str, path: str) -> Iterator[Cause]:
    yield from check_domain_prefixed(manager, path)
    if len(manager.encode()) > MAX_MANAGED_BY:
        yield too_long(path, MAX_MANAGED_BY)


def validate_cron_job(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateCronJobCreate reports."""
    yield from _cron_job(manifest["spec"], None)
    name = manifest["metadata"].get("name", "")
    if len(name) > MAX_CRON_JOB_NAME:
        yield invalid("metadata.name", name, f"must be no more than {MAX_CRON_JOB_NAME} characters")


def validate_updated_cron_job(manifest: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateCronJobUpdate reports, which does not look at the length of the name."""
    return _cron_job(manifest["spec"], old["spec"])


def _cron_job(spec: Manifest, old: Manifest | None) -> Iterator[Cause]:
    """Yield the faults that validateCronJobSpec reports. ``old``: the spec before the update, whose time zone
    may stay."""
    yield from _schedule(spec, old, "spec.schedule")
    yield from _STARTING_DEADLINE(spec, "spec")
    if "timeZone" in spec and (old is None or old.get("timeZone") != spec["timeZone"]):
        yield from _time_zone(spec["timeZone"], "spec.timeZone")
    choices = ("Allow", "Forbid", "Replace")
    yield from check_choice(spec["concurrencyPolicy"], choices, "spec.concurrencyPolicy", as_given=True)
    yield from _job_template(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec")
    yield from _HISTORY_LIMITS(spec, "spec")


def _schedule(spec: Manifest, old: Manifest | None, path: str) -> Iterator[Cause]:
    """Yield the faults that validateScheduleFormat reports."""
    schedule = spec.get("schedule", "")
    if not schedule:
        yield required(path)
        return
    try:
        cron.parse_schedule(schedule)
    except ValueError as error:
        yield invalid(path, schedule, str(error))
    if "TZ" not in schedule:
        return
    if "TZ" not in (old or {}).get("schedule", ""):
        yield invalid(path, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
    elif "timeZone" in spec:
        yield invalid(path, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule")


def _time_zone(zone: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validateTimeZone reports."""
    if not zone:
        yield invalid(path, zone, "timeZone must be nil or non-empty string")
        return
    if any(part in (".", "..") or not _ZONE_PART.fullmatch(part) for part in zone.split("/")):
        yield invalid(path, zone, f"unknown time zone {zone}")
        return
    if zone.lower() == "local":
        detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        yield invalid(path, zone, detail)
    try:
        zoneinfo.ZoneInfo(zone)
    except (ValueError, zoneinfo.ZoneInfoNotFoundError, OSError):
        if zone != "Local":
            yield invalid(path, zone, f"unknown time zone {zone}")


def _job_template(spec: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateJobTemplateSpec reports."""
    yield from _validate_job_spec(spec, path)
    if "selector" in spec:
        yield invalid(f"{path}.selector", spec["selector"], "`selector` will be auto-generated")
    if spec.get(MANUAL_SELECTOR):
        yield not_supported(f"{path}.{MANUAL_SELECTOR}", True, ("nil", "false"), as_given=True)


def validate_job_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateJobSpecUpdate reports."""
    after, before = new["spec"], old["spec"]
    yield from _completions(after, before)
    yield from validate_selector_update(new, old)
    known = before.get("template", {})
    if before.get("suspend") and "startTime" not in old.get("status", {}):
        known = _with_directives_of(known, after.get("template", {}))
    if after.get("template", {}) != known:
        yield invalid("spec.template", pod_template_struct(after["template"]), IMMUTABLE, whole=True)
    for field, type_name in (
        ("completionMode", ""),
        ("podFailurePolicy", "batch.v1.PodFailurePolicy"),
        ("backoffLimitPerIndex", ""),
        ("managedBy", ""),
        ("successPolicy", "batch.v1.SuccessPolicy"),
    ):
        value: Any = after.get(field)
        if value != before.get(field):
            shown = api_struct(type_name, value) if type_name and value is not None else value
            yield invalid(f"spec.{field}", NIL if shown is None else shown, IMMUTABLE, whole=True)


def _completions(after: Manifest, before: Manifest) -> Iterator[Cause]:
    """Yield the faults of completions: an Indexed Job grows and shrinks together with its parallelism
    (validateCompletions)."""
    value = after.get("completions")
    if value == before.get("completions"):
        return
    if after.get("completionMode") != "Indexed":
        yield invalid("spec.completions", NIL if value is None else value, IMMUTABLE)
    elif value is not None and value != after.get("parallelism"):
        yield invalid("spec.completions", value, "can only be modified in tandem with spec.parallelism")


def _with_directives_of(template: Manifest, new: Manifest) -> Manifest:
    """Return the stored template with those fields of the new one that may change while the Job is suspended
    and has not started (validatePodTemplateUpdate)."""
    merged = copy.deepcopy(template)
    for of, given, fields in (
        (merged.setdefault("spec", {}), new.get("spec", {}), _SCHEDULING),
        (merged.setdefault("metadata", {}), new.get("metadata", {}), ("annotations", "labels")),
    ):
        for field in fields:
            of.pop(field, None)
            if field in given:
                of[field] = given[field]
    affinity = {**merged["spec"].pop("affinity", {})}
    affinity.pop("nodeAffinity", None)
    wanted = new.get("spec", {}).get("affinity")
    if wanted is not None and "nodeAffinity" in wanted:
        affinity["nodeAffinity"] = wanted["nodeAffinity"]
    if affinity or wanted is not None:
        merged["spec"]["affinity"] = affinity
    return merged
