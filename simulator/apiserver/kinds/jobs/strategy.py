"""The strategies of Jobs and CronJobs: defaults, what selects a Job's pods, the columns.

Upstream: strategy.go in pkg/registry/batch/{job,cronjob}, pkg/apis/batch/v1/defaults.go, and printJob and
printCronJob in pkg/printers/internalversion/printers.go.
"""

from typing import Final

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.field_changes import complete
from simulator.apiserver.kinds.jobs.status_validation import validate_job_status
from simulator.apiserver.kinds.jobs.validation import (
    JOB_LABELS,
    JOB_NAME_LABELS,
    MANUAL_SELECTOR,
    validate_cron_job,
    validate_job,
    validate_job_update,
    validate_updated_cron_job,
)
from simulator.apiserver.kinds.workloads.templates import (
    container_columns,
    drop_template_fields,
    selector_column,
    set_template_defaults,
    template_warnings,
)
from simulator.apiserver.printers.column import (
    AGE,
    NAME,
    NONE,
    Column,
    count,
    human_duration,
    printer_of,
    since,
    text_or_none,
)
from simulator.apiserver.resource import built_in
from simulator.apiserver.strategy import Strategy, spec_of, status_strategy
from simulator.objects.conditions import conditions_of
from simulator.objects.metadata import is_terminating
from simulator.objects.status import status_of
from simulator.objects.timestamps import micros

_NAME_USE: Final = "this is used in Pod names and hostnames"
MOST_FAILURES = 2**31 - 1
"""The backoffLimit of a Job whose indexes have limits of their own."""
_JOB_DEFAULTS: Final[Manifest] = {
    "parallelism": 1,
    "completionMode": "NonIndexed",
    "suspend": False,
    MANUAL_SELECTOR: False,
}
_CRON_TEMPLATE: Final = "spec.jobTemplate.spec.template"
_CRON_JOB_DEFAULTS: Final[Manifest] = {
    "concurrencyPolicy": "Allow",
    "suspend": False,
    "successfulJobsHistoryLimit": 3,
    "failedJobsHistoryLimit": 1,
    "jobTemplate": {"metadata": {}, "spec": {}},
}


def _set_job_defaults(manifest: Manifest) -> None:
    """Give a Job without labels those of its template: upstream the same map, to which PrepareForCreate adds
    what selects the pods."""
    spec = manifest.setdefault("spec", {})
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("backoffLimit", MOST_FAILURES if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    complete(spec, _JOB_DEFAULTS)
    _set_template_defaults(spec)
    labels = spec["template"]["metadata"].get("labels")
    if labels and not manifest["metadata"].get("labels"):
        manifest["metadata"]["labels"] = labels


def _set_template_defaults(spec: Manifest) -> None:
    """Set the defaults that are also set in the Jobs of a CronJob."""
    policy = spec.get("podFailurePolicy")
    if policy is not None:
        policy["rules"] = policy.get("rules") or None
    for rule in (policy or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions", ()):
            pattern["status"] = pattern.get("status") or "True"
    set_template_defaults({"spec": spec})


def _set_cron_job_defaults(manifest: Manifest) -> None:
    complete(manifest, {"spec": _CRON_JOB_DEFAULTS})
    _set_template_defaults(manifest["spec"]["jobTemplate"]["spec"])


def _select_own_pods(job: Manifest, _: str) -> None:
    """Set the selector of a new Job, and the labels of its template, to the Job's UID (generateSelector).
    A Job with manualSelector is not changed."""
    spec, metadata = job["spec"], job["metadata"]
    if spec.get(MANUAL_SELECTOR):
        return
    labels = spec["template"]["metadata"].setdefault("labels", {})
    # Validation refuses other values that the labels have already.
    for label in JOB_LABELS:
        labels.setdefault(label, metadata["uid"])
    for label in JOB_NAME_LABELS:
        labels.setdefault(label, metadata.get("name", ""))
    own = spec.setdefault("selector", {}).setdefault("matchLabels", {})
    own.setdefault("batch.kubernetes.io/controller-uid", metadata["uid"])
    if not metadata.get("labels"):
        metadata["labels"] = dict(labels)


def _status_cell(item: Manifest, _: Micros) -> str:
    true = {each["type"] for each in conditions_of(item) if each["status"] == "True"}
    for name in ("Complete", "Failed"):
        if name in true:
            return name
    if is_terminating(item):
        return "Terminating"
    for name in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if name in true:
            return name
    return "Running"


def _completions_cell(item: Manifest, _: Micros) -> str:
    spec, succeeded = item["spec"], status_of(item).get("succeeded") or 0
    if spec.get("completions") is not None:
        return f"{succeeded}/{spec['completions']}"
    parallelism = spec.get("parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _duration_cell(item: Manifest, now: Micros) -> str:
    status = status_of(item)
    if not status.get("startTime"):
        return ""
    end = micros(status["completionTime"]) if status.get("completionTime") else now
    return human_duration((end - micros(status["startTime"])) // SECOND)


def _last_schedule_cell(item: Manifest, now: Micros) -> str:
    last = status_of(item).get("lastScheduleTime")
    return since(last, now) if last else NONE


JOB_STRATEGY: Final = Strategy(
    resource=built_in("batch/v1", "Job", has_status=True),
    drop_disabled_fields=drop_template_fields,
    set_defaults=_set_job_defaults,
    prepare_for_create=_select_own_pods,
    name_use=_NAME_USE,
    validate=validate_job,
    warnings=template_warnings(),
    validate_update=validate_job_update,
    update_order="MSUSC",
    desired_state=spec_of,
    subresources={"status": status_strategy(validate_job_status)},
    garbage_collection="OrphanDependents",
    orphaning_warning=(
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to "
        "remove them or set propagationPolicy=Orphan to suppress this warning"
    ),
    printer=printer_of(
        NAME,
        Column("Status", "Status of the job.", cell=_status_cell),
        Column("Completions", "JobStatus.succeeded", cell=_completions_cell),
        Column("Duration", "Time required to complete the job.", cell=_duration_cell),
        AGE,
        *container_columns(),
        selector_column("JobSpec.selector"),
    ),
    fields=("status.successful",),
    field_values={"status.successful": lambda job: status_of(job).get("succeeded")},
    field_error='field label "{}" not supported for Job',
)
CRON_JOB_STRATEGY: Final = Strategy(
    resource=built_in("batch/v1", "CronJob", "cj", has_status=True),
    drop_disabled_fields=lambda manifest, old: drop_template_fields(manifest, old, _CRON_TEMPLATE),
    set_defaults=_set_cron_job_defaults,
    name_use=_NAME_USE,
    validate=validate_cron_job,
    warnings=template_warnings(_CRON_TEMPLATE),
    validate_updated=validate_updated_cron_job,
    update_order="US",
    desired_state=spec_of,
    printer=printer_of(
        NAME,
        Column("Schedule", "CronJobSpec.schedule"),
        Column("Timezone", "CronJobSpec.timeZone", show=text_or_none),
        Column("Suspend", "CronJobSpec.suspend", "boolean", show=lambda suspend: str(bool(suspend))),
        Column("Active", "CronJobStatus.active", "integer", show=count),
        Column("Last Schedule", "CronJobStatus.lastScheduleTime", cell=_last_schedule_cell),
        AGE,
        *container_columns(_CRON_TEMPLATE),
        selector_column("JobSpec.selector", "spec.jobTemplate.spec.selector"),
    ),
)
