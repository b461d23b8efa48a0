"""Validation of Jobs and CronJobs, beyond their schemas.

Upstream: pkg/apis/batch/validation/validation.go."""

import copy
import re
import zoneinfo
from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import COMPLETION_MODES, REPLACEMENT_POLICIES
from simulator.apiserver.field_checks import IMMUTABLE, check_domain_prefixed
from simulator.apiserver.go_structs import pod_template_struct
from simulator.apiserver.kinds.jobs.policies import validate_failure_policy, validate_success_policy
from simulator.apiserver.kinds.workloads.templates import validate_selector_update, validate_template
from simulator.apiserver.selector_validation import validate_label_selector
from simulator.apiserver.shapes import (
    all_of,
    choice,
    field,
    filled,
    has,
    has_field,
    max_bytes,
    must_exist,
    not_negative,
    one_of,
    when,
    where,
    wrong,
)
from simulator.apiserver.status import NIL, Cause, invalid, not_supported, required
from simulator.apiserver.update_shapes import all_of_update, immutable
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
_POLICIES: Final = ("OnFailure", "Never")
_SCHEDULING: Final = ("nodeSelector", "tolerations", "schedulingGates")
_ZONE_PART: Final = re.compile(r"[A-Za-z._0-9+][A-Za-z.\-_0-9+]{0,13}")


def validate_job(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateJob reports."""
    spec, name = manifest["spec"], manifest["metadata"].get("name", "")
    if not spec.get(MANUAL_SELECTOR) and "selector" in spec:
        yield from _generated_selector(manifest)
    yield from _JOB_SPEC(spec, "spec")
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


def _check_restart_policy(spec: Manifest, path: str) -> Iterator[Cause]:
    policy, path = spec["template"]["spec"].get("restartPolicy", ""), f"{path}.template.spec.restartPolicy"
    if policy in ("Always", ""):
        # "Always" is the default, so the user probably has not set the policy.
        yield required(path, 'valid values: "OnFailure", "Never"')
    elif policy not in _POLICIES:
        yield not_supported(path, policy, _POLICIES, as_given=True)
    elif "podFailurePolicy" in spec and policy != "Never":
        yield invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')


def _check_failed_indexes(spec: Manifest, path: str) -> Iterator[Cause]:
    completions, failed = spec.get("completions"), spec.get("maxFailedIndexes", 0)
    if completions is not None and failed > completions:
        yield invalid(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions")


_AT_MOST: Final = f"must be less than or equal to {MAX_INDEXES}"
_FOR_INDEXES: Final = where(MAX_INDEXES.__ge__, f"{_AT_MOST} when completion mode is Indexed")
_ONLY_FOR_INDEXES: Final = wrong("requires indexed completion mode")
_JOB_SPEC: Final = all_of(
    not_negative(
        *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"),
        *("backoffLimitPerIndex", "maxFailedIndexes"),
    ),
    when(
        has_field("maxFailedIndexes"),
        must_exist("backoffLimitPerIndex", detail="when maxFailedIndexes is specified"),
    ),
    field("managedBy", check_domain_prefixed, max_bytes(MAX_MANAGED_BY)),
    # The Jobs of a CronJob get their defaults when they are created.
    field("completionMode", one_of(COMPLETION_MODES, as_given=True)),
    when(
        has("completionMode", "Indexed"),
        must_exist("completions", detail="when completion mode is Indexed"),
        *(field(name, _FOR_INDEXES) for name in ("parallelism", "completions")),
        _check_failed_indexes,
        field("maxFailedIndexes", where(MAX_INDEXES.__ge__, _AT_MOST)),
    ),
    when(
        has("completionMode", "NonIndexed", None),
        *(field(name, _ONLY_FOR_INDEXES) for name in ("backoffLimitPerIndex", "maxFailedIndexes")),
    ),
    when(has_field("podFailurePolicy"), validate_failure_policy),
    when(has_field("successPolicy"), validate_success_policy),
    when(has_field("podFailurePolicy"), field("podReplacementPolicy", one_of(("Failed",)))),
    when(has("podFailurePolicy", None), field("podReplacementPolicy", one_of(REPLACEMENT_POLICIES))),
    field("template", validate_template),
    _check_restart_policy,
)
"""validateJobSpec."""


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
    yield from _CRON_JOB(spec, "spec")


_STARTING_DEADLINE: Final = not_negative("startingDeadlineSeconds")
_CRON_JOB: Final = all_of(
    field("concurrencyPolicy", choice(("Allow", "Forbid", "Replace"), as_given=True)),
    field(
        "jobTemplate.spec",
        _JOB_SPEC,
        field("selector", wrong("`selector` will be auto-generated")),
        filled(MANUAL_SELECTOR, one_of(("nil", "false"), as_given=True)),
    ),
    not_negative("successfulJobsHistoryLimit", "failedJobsHistoryLimit"),
)


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
    yield from _KEPT(new, old)


_KEPT: Final = all_of_update(
    immutable("spec.completionMode"),
    immutable("spec.podFailurePolicy", go_type="batch.v1.PodFailurePolicy"),
    immutable("spec.backoffLimitPerIndex", "spec.managedBy"),
    immutable("spec.successPolicy", go_type="batch.v1.SuccessPolicy"),
)


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
        for name in fields:
            of.pop(name, None)
            if name in given:
                of[name] = given[name]
    affinity = {**merged["spec"].pop("affinity", {})}
    affinity.pop("nodeAffinity", None)
    wanted = new.get("spec", {}).get("affinity")
    if wanted is not None and "nodeAffinity" in wanted:
        affinity["nodeAffinity"] = wanted["nodeAffinity"]
    if affinity or wanted is not None:
        merged["spec"]["affinity"] = affinity
    return merged
