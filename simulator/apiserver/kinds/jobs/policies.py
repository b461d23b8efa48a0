"""Validation of the podFailurePolicy and the successPolicy of Jobs.

Upstream: validatePodFailurePolicy and validateSuccessPolicy in pkg/apis/batch/validation/validation.go,
v1.34.
"""

import contextlib
from collections.abc import Collection, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import EXIT_CODE_OPERATORS, FAILURE_ACTIONS
from simulator.apiserver.field_checks import check_choice, check_name, too_many
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.repeated import repeats
from simulator.apiserver.shapes import not_negative
from simulator.apiserver.status import (
    Cause,
    duplicate,
    invalid,
    invalid_without_value,
    required,
    too_long,
)
from simulator.kernel.go_text import quote

_MAX_RULES: Final = 20
_MAX_CONDITIONS: Final = 20
_MAX_CODES: Final = 255
_MAX_INDEXES_LENGTH: Final = 64 * 1024
MAX_INTERVALS: Final = 1_000
"""The maximum of intervals of the completed and of the failed indexes, which are compared with each other."""
_STATUSES: Final = ("False", "True", "Unknown")
_SUCCEEDED: Final = not_negative("succeededCount")


def _valid(choices: Collection[str]) -> str:
    return "valid values: [" + " ".join(map(quote, choices)) + "]"


def validate_failure_policy(spec: Manifest, path: str) -> Iterator[Cause]:
    rules, pod = spec["podFailurePolicy"].get("rules") or (), spec["template"].get("spec") or {}
    if len(rules) > _MAX_RULES:
        yield too_many(f"{path}.rules", len(rules), _MAX_RULES)
    containers = {each["name"] for kind in ("containers", "initContainers") for each in pod.get(kind) or ()}
    for index, rule in enumerate(rules):
        yield from _failure_rule(spec, rule, f"{path}.rules[{index}]", containers)


def _failure_rule(spec: Manifest, rule: Manifest, path: str, containers: set[str]) -> Iterator[Cause]:
    action, codes, conditions = rule["action"], rule.get("onExitCodes"), rule.get("onPodConditions")
    at = f"{path}.action"
    if action == "FailIndex" and "backoffLimitPerIndex" not in spec:
        yield invalid(at, action, "requires the backoffLimitPerIndex to be set")
    else:
        yield from check_choice(action, FAILURE_ACTIONS, at, detail=_valid(FAILURE_ACTIONS))
    if codes is not None:
        yield from _exit_codes(codes, f"{path}.onExitCodes", containers)
    if conditions:
        yield from _conditions(conditions, f"{path}.onPodConditions")
    if codes is not None and conditions:
        yield invalid_without_value(path, "specifying both OnExitCodes and OnPodConditions is not supported")
    elif codes is None and not conditions:
        yield invalid_without_value(path, "specifying one of OnExitCodes and OnPodConditions is required")


def _conditions(conditions: list[Manifest], path: str) -> Iterator[Cause]:
    if len(conditions) > _MAX_CONDITIONS:
        yield too_many(path, len(conditions), _MAX_CONDITIONS)
    for index, pattern in enumerate(conditions):
        at = f"{path}[{index}]"
        yield from check_name(names.qualified_name, pattern.get("type", ""), f"{at}.type")
        status = pattern.get("status", "")
        yield from check_choice(status, _STATUSES, f"{at}.status", detail=_valid(_STATUSES))


def _exit_codes(codes: Manifest, path: str, containers: set[str]) -> Iterator[Cause]:
    operator, values, at = codes["operator"], codes.get("values") or [], f"{path}.values"
    yield from check_choice(
        operator, EXIT_CODE_OPERATORS, f"{path}.operator", detail=_valid(EXIT_CODE_OPERATORS)
    )
    name = codes.get("containerName")
    if name is not None and name not in containers:
        detail = "must be one of the container or initContainer names in the pod template"
        yield invalid(f"{path}.containerName", name, detail)
    if not values:
        yield invalid(at, values, "at least one value is required")
    elif len(values) > _MAX_CODES:
        yield too_many(at, len(values), _MAX_CODES)
    again = repeats(values)
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            yield invalid(f"{at}[{index}]", value, "must not be 0 for the In operator")
        if again[index]:
            yield duplicate(f"{at}[{index}]", value)
    if values != sorted(values):
        yield invalid(at, values, "must be ordered")


def validate_success_policy(spec: Manifest, path: str) -> Iterator[Cause]:
    policy = spec["successPolicy"]
    if spec.get("completionMode", "NonIndexed") != "Indexed":
        shown = api_struct("batch.v1.SuccessPolicy", policy)
        yield invalid(path, shown, "requires indexed completion mode", whole=True)
        return
    rules = policy.get("rules") or ()
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        yield required(f"{path}.rules", detail)
    if len(rules) > _MAX_RULES:
        yield too_many(f"{path}.rules", len(rules), _MAX_RULES)
    for index, rule in enumerate(rules):
        yield from _success_rule(rule, spec.get("completions", 0), f"{path}.rules[{index}]")


def _success_rule(rule: Manifest, completions: int, path: str) -> Iterator[Cause]:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    total = 0
    if count is None and indexes is None:
        yield required(path, "at least one of succeededCount or succeededIndexes must be specified")
    if indexes is not None:
        at = f"{path}.succeededIndexes"
        if len(indexes) > _MAX_INDEXES_LENGTH:
            yield too_long(at, _MAX_INDEXES_LENGTH)
        try:
            total = count_indexes(indexes[:_MAX_INDEXES_LENGTH], completions)
        except ValueError as error:
            yield invalid(at, indexes, f"error parsing succeededIndexes: {error}")
    if count is None:
        return
    at = f"{path}.succeededCount"
    yield from _SUCCEEDED(rule, path)
    if count > completions:
        detail = f"must be less than or equal to {completions} (the number of specified completions)"
        yield invalid(at, count, detail)
    if indexes is not None and count > total:
        detail = (
            f"must be less than or equal to {total} (the number of indexes in the specified "
            "succeededIndexes field)"
        )
        yield invalid(at, count, detail)


def count_indexes(text: str, completions: int) -> int:
    """Return how many indexes there are in ``0,2-4`` (validateIndexesFormat). Raises ValueError."""
    last, total = -1, 0
    for interval in text.split(",") if text else ():
        first, end = _interval(interval, completions)
        if total and last >= first:
            raise ValueError(f"non-increasing order, previous: {last}, current: {first}")
        total += end - first + 1
        last = end
    return total


def find_intervals(text: str, completions: int) -> list[tuple[int, int]]:
    """Return the intervals of a list of indexes, without those that cannot be read."""
    found = []
    for interval in text.split(",")[:MAX_INTERVALS] if text else ():
        with contextlib.suppress(ValueError):
            found.append(_interval(interval, completions))
    return found


def _interval(text: str, completions: int) -> tuple[int, int]:
    """Parse an interval (parseIndexInterval)."""
    parts = text.split("-")
    if len(parts) > 2:
        raise ValueError(
            f"the fragment {quote(text)} violates the requirement that an index interval can have at most "
            "two parts separated by '-'"
        )
    numbers = []
    for part in parts:
        if not part.isascii() or not part.removeprefix("+").isdigit() or len(part) > len("100000") + 1:
            is_number = part.isascii() and part.removeprefix("+").isdigit()
            problem = "too large index" if is_number else "cannot convert string to integer for index"
            raise ValueError(f"{problem}: {quote(part)}")
        if int(part) >= completions:
            raise ValueError(f"too large index: {quote(part)}")
        numbers.append(int(part))
    if len(numbers) > 1 and numbers[0] >= numbers[1]:
        raise ValueError(f"non-increasing order, previous: {numbers[0]}, current: {numbers[1]}")
    return numbers[0], numbers[-1]
