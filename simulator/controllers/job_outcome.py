"""The end of a Job: its policies, the completion indexes of an Indexed Job, when it has failed or is
complete, and the conditions that say so (pkg/controller/job: job_controller.go, pod_failure_policy.go,
success_policy.go, indexed_job_utils.go).

Simplified: the action FailIndex, which needs backoffLimitPerIndex, is not supported."""

from collections.abc import Iterable, Set
from typing import NamedTuple

from simulator.api import SECOND, Manifest, Micros
from simulator.controllers.pod_tally import PodTally
from simulator.objects.conditions import JobCondition, condition, conditions_of
from simulator.objects.metadata import annotations_of, key_of, name_of
from simulator.objects.numbers import whole_number
from simulator.objects.status import status_of
from simulator.objects.timestamps import micros, timestamp

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"


def set_index(pod: Manifest, job: Manifest, index: int) -> None:
    """Write the index to the annotations, labels and name of a new pod."""
    metadata = pod["metadata"]
    metadata.setdefault("annotations", {})[COMPLETION_INDEX] = str(index)
    metadata.setdefault("labels", {})[COMPLETION_INDEX] = str(index)
    metadata["generateName"] = f"{name_of(job)}-{index}-"


def completion_index(pod: Manifest) -> int:
    """Return the index of a pod; -1 for a pod without an index (getCompletionIndex)."""
    index = whole_number(annotations_of(pod).get(COMPLETION_INDEX, ""))
    return -1 if index is None else index


def completed_indexes(job: Manifest) -> set[int]:
    """Return the completedIndexes of the status that are below the Job's completions; none without
    indexes."""
    if job["spec"]["completionMode"] != "Indexed":
        return set()
    return parse_ranges(status_of(job).get("completedIndexes", ""), job["spec"]["completions"])


def as_ranges(indexes: set[int]) -> str:
    """Format indexes: ``0-2,5``: three and more in a row are written as a range (succeededIndexes.String)."""
    runs: list[list[int]] = []
    for index in sorted(index for index in indexes if index >= 0):
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    parts = (f"{r[0]}-{r[-1]}" if len(r) > 2 else ",".join(map(str, r)) for r in runs)
    return ",".join(parts)


def parse_ranges(text: str, completions: int) -> set[int]:
    """Return the indexes of ``0-2,5`` that are below ``completions``; parts that are no numbers are skipped
    (parseIndexesFromString)."""
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        low, high = whole_number(first), whole_number(last if dash else first)
        if low is not None and high is not None:
            found.update(range(low, min(high + 1, completions)))
    return found


class FailureRuleMatch(NamedTuple):
    """The action of the first rule that a failed pod matches, Count if it matches none."""

    action: str
    message: str = ""


def matching_failure_rule(job: Manifest, pod: Manifest) -> FailureRuleMatch:
    """Return the first rule that a failed pod matches (matchPodFailurePolicy)."""
    for index, rule in enumerate((job["spec"].get("podFailurePolicy") or {}).get("rules") or ()):
        action = rule["action"]
        matched = (
            _match_exit_codes(pod, rule["onExitCodes"])
            if rule.get("onExitCodes")
            else _match_conditions(pod, rule.get("onPodConditions") or ())
        )
        if matched is not None and action in ("Ignore", "Count", "FailJob"):
            return FailureRuleMatch(action, f"{matched} matching {action} rule at index {index}")
    return FailureRuleMatch("Count")


def pod_failure_message(job: Manifest, failed: Iterable[Manifest]) -> str:
    """Return the message of the first pod that matches a rule with the action FailJob; "" = none does."""
    rules = (matching_failure_rule(job, pod) for pod in failed)
    return next((rule.message for rule in rules if rule.action == "FailJob"), "")


def matched_success_rule(job: Manifest, succeeded: Set[int]) -> str:
    """Return the message of the first rule that these succeeded indexes match; "" = none
    (matchSuccessPolicy)."""
    if not succeeded:
        return ""
    for index, rule in enumerate((job["spec"].get("successPolicy") or {}).get("rules") or ()):
        indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
        required = None if indexes is None else parse_ranges(indexes, job["spec"]["completions"])
        found = succeeded if required is None else succeeded & required
        if found == required or (count is not None and len(found) >= count):
            return f"Matched rules at index {index}"
    return ""


def _match_exit_codes(pod: Manifest, requirement: Manifest) -> str | None:
    """Return the message of a match on exit codes (matchOnExitCodes); None = no match."""
    status = status_of(pod)
    for container in (*status.get("containerStatuses", ()), *status.get("initContainerStatuses", ())):
        code = ((container.get("state") or {}).get("terminated") or {}).get("exitCode", 0)
        named = requirement.get("containerName") in (None, container["name"])
        if named and code and (code in requirement["values"]) == (requirement["operator"] == "In"):
            return f"Container {container['name']} for pod {key_of(pod)} failed with exit code {code}"
    return None


def _match_conditions(pod: Manifest, patterns: Iterable[Manifest]) -> str | None:
    """Return the message of a match on conditions (matchOnPodConditions); None = no match."""
    wanted = {(pattern["type"], pattern.get("status", "True")) for pattern in patterns}
    for each in conditions_of(pod):
        if (each["type"], each["status"]) in wanted:
            return f"Pod {key_of(pod)} has condition {each['type']}"
    return None


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


def decide_outcome(job: Manifest, pods: PodTally, now: Micros) -> JobCondition | None:
    """Return the condition FailureTarget or SuccessCriteriaMet if the outcome is certain now; None = it is
    open. ``pods`` are those that the Job controls."""
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


def _failure(job: Manifest, pods: PodTally, now: Micros) -> tuple[str, str]:
    """Return the reason and message of the Job's failure; "" = it has not failed."""
    spec = job["spec"]
    if spec.get("podFailurePolicy"):
        message = pod_failure_message(job, pods.pods(lambda state: state.phase == "Failed"))
        if message:
            return "PodFailurePolicy", message
    limit, restarts = spec["backoffLimit"], 0
    if spec["template"]["spec"]["restartPolicy"] == "OnFailure":
        restarts = sum(map(_restarts, pods.pods(lambda state: state.active)))
    if status_of(job).get("failed", 0) > limit or (restarts and restarts >= max(limit, 1)):
        return "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    deadline = deadline_of(job)
    if deadline is None or deadline > now:
        return "", ""
    return "DeadlineExceeded", "Job was active longer than specified deadline"


def _restarts(pod: Manifest) -> int:
    return sum(c.get("restartCount", 0) for c in status_of(pod).get("containerStatuses") or ())


def _is_complete(job: Manifest, pods: PodTally) -> bool:
    succeeded = status_of(job).get("succeeded", 0)
    if "completions" in job["spec"]:
        return bool(succeeded >= job["spec"]["completions"])
    return bool(succeeded) and not pods.count(lambda state: state.active)
