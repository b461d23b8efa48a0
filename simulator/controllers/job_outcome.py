"""The end of a Job: when it has failed or is complete, and the conditions that say so
(pkg/controller/job/job_controller.go, v1.34)."""

from collections.abc import Sequence

from simulator.api import SECOND, Manifest, Micros
from simulator.controllers.job_indexes import completed_indexes
from simulator.controllers.job_policies import matched_success_rule, pod_failure_message
from simulator.controllers.pods import is_active
from simulator.objects.conditions import JobCondition, condition
from simulator.objects.status import phase_of, status_of
from simulator.objects.timestamps import micros, timestamp

FAILURE_TARGET, SUCCESS_CRITERIA_MET = "FailureTarget", "SuccessCriteriaMet"
"""The conditions of a Job whose outcome is certain, while its last pods terminate."""


def finished_condition(job: Manifest) -> Manifest | None:
    """Return the condition Complete or Failed of a Job that has ended; None = it has not (IsJobFinished)."""
    return _true_condition(job, "Complete") or _true_condition(job, "Failed")


def outcome_condition(job: Manifest) -> Manifest | None:
    """Return the condition FailureTarget or SuccessCriteriaMet; None = the outcome is open."""
    return _true_condition(job, FAILURE_TARGET) or _true_condition(job, SUCCESS_CRITERIA_MET)


def _true_condition(job: Manifest, kind: str) -> Manifest | None:
    found = condition(job, kind)
    return found if found is not None and found["status"] == "True" else None


def new_condition(kind: str, reason: str, message: str, now: Micros) -> JobCondition:
    """Return a condition that is true since now."""
    stamp = timestamp(now)
    return JobCondition(
        type=kind,
        status="True",
        reason=reason,
        message=message,
        last_probe_time=stamp,
        last_transition_time=stamp,
    )


def decide_outcome(job: Manifest, pods: Sequence[Manifest], now: Micros) -> JobCondition | None:
    """Return the condition FailureTarget or SuccessCriteriaMet if the outcome is certain now; None = it is
    open. ``pods`` are all that the Job controls."""
    reason, message = _failure(job, pods, now)
    if reason:
        return new_condition(FAILURE_TARGET, reason, message, now)
    message = matched_success_rule(job, completed_indexes(job))
    if message:
        return new_condition(SUCCESS_CRITERIA_MET, "SuccessPolicy", message, now)
    if _is_complete(job, pods):
        message = "Reached expected number of succeeded pods"
        return new_condition(SUCCESS_CRITERIA_MET, "CompletionsReached", message, now)
    return None


def deadline_of(job: Manifest) -> Micros | None:
    """Return the time at which the Job fails by its activeDeadlineSeconds; None = never, or not while it is
    suspended."""
    seconds, start = job["spec"].get("activeDeadlineSeconds"), status_of(job).get("startTime")
    if seconds is None or start is None or job["spec"]["suspend"]:
        return None
    return micros(start) + int(seconds) * SECOND


def _failure(job: Manifest, pods: Sequence[Manifest], now: Micros) -> tuple[str, str]:
    """Return the reason and message of the Job's failure; "" = it has not failed."""
    spec = job["spec"]
    message = pod_failure_message(job, (pod for pod in pods if phase_of(pod) == "Failed"))
    if message:
        return "PodFailurePolicy", message
    restarts = sum(_restarts(pod) for pod in pods if is_active(pod))
    limit = spec["backoffLimit"]
    counts_restarts = spec["template"]["spec"]["restartPolicy"] == "OnFailure" and restarts
    if status_of(job).get("failed", 0) > limit or (counts_restarts and restarts >= max(limit, 1)):
        return "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    deadline = deadline_of(job)
    if deadline is None or deadline > now:
        return "", ""
    return "DeadlineExceeded", "Job was active longer than specified deadline"


def _restarts(pod: Manifest) -> int:
    return sum(c.get("restartCount", 0) for c in status_of(pod).get("containerStatuses") or ())


def _is_complete(job: Manifest, pods: Sequence[Manifest]) -> bool:
    succeeded = status_of(job).get("succeeded", 0)
    if "completions" in job["spec"]:
        return bool(succeeded >= job["spec"]["completions"])
    return bool(succeeded) and not any(map(is_active, pods))
