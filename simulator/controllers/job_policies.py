"""A Job's podFailurePolicy and successPolicy (pkg/controller/job: pod_failure_policy.go, success_policy.go;
v1.34).

Simplified: the action FailIndex, which needs backoffLimitPerIndex, is not supported."""

from collections.abc import Iterable, Set
from typing import NamedTuple

from simulator.api import Manifest
from simulator.controllers.job_indexes import parse_ranges
from simulator.objects.conditions import conditions_of
from simulator.objects.metadata import key_of
from simulator.objects.status import status_of


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
    for condition in conditions_of(pod):
        if (condition["type"], condition["status"]) in wanted:
            return f"Pod {key_of(pod)} has condition {condition['type']}"
    return None
