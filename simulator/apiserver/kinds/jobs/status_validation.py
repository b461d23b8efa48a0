"""Validation of the status of a Job (validateJobStatus and ValidateJobStatusUpdate in
pkg/apis/batch/validation/validation.go, getStatusValidationOptions in pkg/registry/batch/job/strategy.go).

Most rules are looked at only if a field that they are about has changed, so that a status that is not right
already may be changed in its other fields."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.jobs.policies import count_indexes, find_intervals
from simulator.apiserver.shapes import not_negative
from simulator.apiserver.status import Cause, duplicate, invalid, invalid_without_value, required
from simulator.objects.timestamps import micros

_CONDITIONS: Final = "status.conditions"
_COUNTS: Final = not_negative(
    *(f"status.{name}" for name in ("active", "succeeded", "failed", "ready", "terminating"))
)
_TERMINAL: Final = ("Failed", "Complete", "FailureTarget")


class _Change(NamedTuple):
    """A Job before and after the update."""

    new: Manifest
    old: Manifest

    def status(self, field: str, missing: Any = None) -> Any:
        return self.new.get("status", {}).get(field, missing)

    def has_changed(self, *fields: str) -> bool:
        """Whether one of these fields of the status has changed."""
        before, after = self.old.get("status", {}), self.new.get("status", {})
        return any((before.get(field) or None) != (after.get(field) or None) for field in fields)

    def has_become(self, *conditions: str) -> bool:
        """Whether one of these conditions begins or ends."""
        return any(is_true(self.new, kind) != is_true(self.old, kind) for kind in conditions)

    def finishes(self) -> bool:
        """Whether the Job begins to be finished, or ends to be."""
        return is_finished(self.new) != is_finished(self.old)


def is_true(job: Manifest, kind: str) -> bool:
    """Return whether a condition is true (IsConditionTrue)."""
    conditions = job.get("status", {}).get("conditions") or ()
    return any(each["type"] == kind and each["status"] == "True" for each in conditions)


def is_finished(job: Manifest) -> bool:
    return is_true(job, "Complete") or is_true(job, "Failed")


def validate_job_status(new: Manifest, old: Manifest) -> Iterator[Cause]:
    change = _Change(new, old)
    yield from _COUNTS(new)
    yield from _uncounted_pods(change)
    yield from _completion(change)
    yield from _finished(change)
    yield from _indexes(change)
    yield from _counts(change)
    yield from _success(new)
    yield from _transitions(change)


def _uncounted_pods(change: _Change) -> Iterator[Cause]:
    seen = set[str]()
    pods = change.status("uncountedTerminatedPods") or {}
    for field in ("succeeded", "failed"):
        for index, uid in enumerate(pods.get(field) or ()):
            path = f"status.uncountedTerminatedPods.{field}[{index}]"
            if not uid:
                yield invalid(path, uid, "must not be empty")
            elif uid in seen:
                yield duplicate(path, uid)
            seen.add(uid)


def _completion(change: _Change) -> Iterator[Cause]:
    new = change.new
    complete, before = is_true(new, "Complete"), change.old.get("status", {})
    end, start = change.status("completionTime"), change.status("startTime")
    for other in ("Failed", "FailureTarget"):
        if complete and is_true(new, other) and change.has_become("Complete", other):
            yield _conflict("Complete", other)
    if change.has_become("Complete") or change.has_changed("completionTime"):
        at = "status.completionTime"
        if end and not complete:
            yield invalid(at, end, "cannot set completionTime when there is no Complete=True condition")
        elif complete and not end:
            yield required(at, "completionTime is required for Complete jobs")
    if start and end and change.has_changed("startTime", "completionTime") and micros(end) < micros(start):
        yield invalid("status.completionTime", end, "completionTime cannot be set before startTime")
    failed_changed = before.get("failedIndexes") != change.status("failedIndexes")
    for kind, needed, has_changed in (
        ("Failed", "FailureTarget", change.has_become("Failed") or failed_changed),
        ("Complete", "SuccessCriteriaMet", change.has_become("Complete", "SuccessCriteriaMet")),
    ):
        if has_changed and is_true(new, kind) and not is_true(new, needed):
            yield invalid_without_value(
                _CONDITIONS, f"cannot set {kind}=True condition without the {needed}=true condition"
            )


def _conflict(kind: str, other: str) -> Cause:
    return invalid_without_value(_CONDITIONS, f"cannot set {kind}=True and {other}=true conditions")


def _finished(change: _Change) -> Iterator[Cause]:
    new = change.new
    if not is_finished(new):
        return
    active, pods = change.status("active", 0), change.status("uncountedTerminatedPods")
    if active > 0 and (change.finishes() or change.has_changed("active")):
        yield invalid("status.active", active, "active>0 is invalid for finished job")
    spec = new["spec"]
    needs_start = not (spec.get("suspend") and spec.get("completions") == 0)
    if (
        needs_start
        and not change.status("startTime")
        and (change.finishes() or change.has_changed("startTime"))
    ):
        yield required("status.startTime", "startTime is required for finished job")
    if (
        pods
        and (pods.get("failed") or pods.get("succeeded"))
        and (change.finishes() or change.has_changed("uncountedTerminatedPods"))
    ):
        shown = api_struct("batch.v1.UncountedTerminatedPods", pods)
        detail = "uncountedTerminatedPods needs to be empty for finished job"
        yield invalid("status.uncountedTerminatedPods", shown, detail, whole=True)


def _indexes(change: _Change) -> Iterator[Cause]:
    spec = change.new["spec"]
    completions, per_index = spec.get("completions"), "backoffLimitPerIndex" in spec
    completed, failed = change.status("completedIndexes", ""), change.status("failedIndexes")
    completed_changed = change.has_changed("completedIndexes")
    failed_changed = change.old.get("status", {}).get("failedIndexes") != failed
    if completed_changed and completions is not None:
        yield from _index_format(completed, completions, "completedIndexes")
    if failed_changed and completions is not None and per_index and failed is not None:
        yield from _index_format(failed, completions, "failedIndexes")
    if completed_changed and completed and spec.get("completionMode") != "Indexed":
        detail = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield invalid("status.completedIndexes", completed, detail)
    if failed_changed and failed is not None and not per_index:
        detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        yield invalid("status.failedIndexes", failed, detail)
    if (completed_changed or failed_changed) and completions is not None and failed is not None:
        shared = _first_shared(completed, failed, completions)
        if shared is not None:
            detail = f"failedIndexes and completedIndexes overlap at index: {shared}"
            yield invalid("status.failedIndexes", failed, detail)


def _index_format(indexes: str, completions: int, field: str) -> Iterator[Cause]:
    try:
        count_indexes(indexes, completions)
    except ValueError as error:
        yield invalid(f"status.{field}", indexes, f"error parsing {field}: {error}")


def _first_shared(completed: str, failed: str, completions: int) -> int | None:
    """Return the first index that is in both; intervals that cannot be read are left out."""
    taken = find_intervals(completed, completions)
    for low, high in find_intervals(failed, completions):
        for first, last in taken:
            if first <= high and low <= last:
                return max(first, low)
    return None


def _counts(change: _Change) -> Iterator[Cause]:
    terminating, active, ready = (
        change.status("terminating", 0),
        change.status("active", 0),
        change.status("ready"),
    )
    changed = change.finishes() or change.has_changed("terminating")
    if terminating > 0 and is_finished(change.new) and changed:
        yield invalid("status.terminating", terminating, "terminating>0 is invalid for finished job")
    if ready is not None and ready > active and change.has_changed("ready", "active"):
        yield invalid("status.ready", ready, "cannot set more ready pods than active")


def _success(job: Manifest) -> Iterator[Cause]:
    met = is_true(job, "SuccessCriteriaMet")
    for other in ("Failed", "FailureTarget"):
        if met and is_true(job, other):
            yield _conflict("SuccessCriteriaMet", other)
    if "successPolicy" in job["spec"] and not met and is_true(job, "Complete"):
        detail = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        yield invalid_without_value(_CONDITIONS, detail)


def _transitions(change: _Change) -> Iterator[Cause]:
    """Yield the faults of a status that the status before it does not allow."""
    new, old = change.new, change.old
    before = old.get("status", {})
    for kind in _TERMINAL:
        if is_true(old, kind) and not is_true(new, kind):
            yield invalid_without_value(_CONDITIONS, f"cannot disable the terminal {kind}=True condition")
    failed, succeeded = change.status("failed", 0), change.status("succeeded", 0)
    if failed < before.get("failed", 0):
        yield invalid("status.failed", failed, "cannot decrease the failed counter")
    spec = new["spec"]
    is_elastic = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get(
        "parallelism"
    )
    if succeeded < before.get("succeeded", 0) and not is_elastic:
        yield invalid("status.succeeded", succeeded, "cannot decrease the succeeded counter")
    end, start = change.status("completionTime"), before.get("startTime")
    if end and before.get("completionTime") and end != before["completionTime"]:
        yield invalid("status.completionTime", end, "completionTime cannot be mutated")
    if start and start != change.status("startTime") and not spec.get("suspend"):
        yield required("status.startTime", "startTime cannot be removed for unsuspended job")
    met = is_true(new, "SuccessCriteriaMet")
    if is_true(old, "SuccessCriteriaMet") and not met:
        yield invalid_without_value(_CONDITIONS, "cannot disable the SuccessCriteriaMet=True condition")
    if is_true(old, "Complete") and met and not is_true(old, "SuccessCriteriaMet"):
        detail = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        yield invalid_without_value(_CONDITIONS, detail)
