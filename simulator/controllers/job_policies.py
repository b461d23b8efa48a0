"""What a Job's podFailurePolicy and successPolicy say of its pods (pkg/controller/job, v1.34:
pod_failure_policy.go and success_policy.go).

Without the action FailIndex, which comes with backoffLimitPerIndex."""

from collections.abc import Iterable, Set
from typing import NamedTuple

from simulator.api import Manifest
from simulator.controllers.job_indexes import parse_ranges


class Match(NamedTuple):
    """The first rule that a failed pod matches; an action of Count where it matches none."""

    action: str
    message: str = ""
    """Of FailJob only."""


def failure_rule(job: Manifest, pod: Manifest) -> Match:
    """matchPodFailurePolicy."""
    for index, rule in enumerate((job["spec"].get("podFailurePolicy") or {}).get("rules") or ()):
        action = rule["action"]
        of_what = (
            _by_exit_code(pod, rule["onExitCodes"])
            if rule.get("onExitCodes")
            else _by_condition(pod, rule.get("onPodConditions") or ())
        )
        if of_what is not None and action in ("Ignore", "Count", "FailJob"):
            return Match(action, f"{of_what} matching {action} rule at index {index}")
    return Match("Count")


def fails_job(job: Manifest, failed: Iterable[Manifest]) -> str:
    """Why one of these pods fails the Job; "" = none does."""
    rules = (failure_rule(job, pod) for pod in failed)
    return next((rule.message for rule in rules if rule.action == "FailJob"), "")


def success_rule(job: Manifest, succeeded: Set[int]) -> str:
    """The rule by which these indexes suffice; "" = there is none (matchSuccessPolicy)."""
    if not succeeded:
        return ""
    for index, rule in enumerate((job["spec"].get("successPolicy") or {}).get("rules") or ()):
        wanted, count = rule.get("succeededIndexes"), rule.get("succeededCount")
        required = None if wanted is None else parse_ranges(wanted)
        here = succeeded if required is None else succeeded & required
        if here == required or (count is not None and len(here) >= count):
            return f"Matched rules at index {index}"
    return ""


def _by_exit_code(pod: Manifest, wanted: Manifest) -> str | None:
    status = pod.get("status") or {}
    for container in (*status.get("containerStatuses", ()), *status.get("initContainerStatuses", ())):
        code = ((container.get("state") or {}).get("terminated") or {}).get("exitCode", 0)
        named = wanted.get("containerName") in (None, container["name"])
        if named and code and (code in wanted["values"]) == (wanted["operator"] == "In"):
            metadata = pod["metadata"]
            where = f"{metadata['namespace']}/{metadata['name']}"
            return f"Container {container['name']} for pod {where} failed with exit code {code}"
    return None


def _by_condition(pod: Manifest, patterns: Iterable[Manifest]) -> str | None:
    wanted = {(pattern["type"], pattern.get("status", "True")) for pattern in patterns}
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if (condition["type"], condition["status"]) in wanted:
            metadata = pod["metadata"]
            return f"Pod {metadata['namespace']}/{metadata['name']} has condition {condition['type']}"
    return None
