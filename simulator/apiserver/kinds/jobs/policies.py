"""Validation of the podFailurePolicy and the successPolicy of Jobs.

Upstream: validatePodFailurePolicy and validateSuccessPolicy in pkg/apis/batch/validation/validation.go.
"""

import contextlib
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import EXIT_CODE_OPERATORS, FAILURE_ACTIONS
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.repeated import repeats
from simulator.apiserver.shapes import (
    PartRule,
    all_of,
    choice,
    field,
    filled,
    items,
    named_by,
    needed,
    not_negative,
    where,
)
from simulator.apiserver.status import Cause, duplicate, invalid, invalid_without_value, required, too_long
from simulator.kernel.go_text import quote

_MAX_RULES: Final = 20
_MAX_INDEXES_LENGTH: Final = 64 * 1024
MAX_INTERVALS: Final = 1_000
"""The maximum of intervals of the completed and of the failed indexes, which are compared with each other."""
_STATUSES: Final = ("False", "True", "Unknown")
_SUCCEEDED: Final = not_negative("succeededCount")
_ONE_RULE: Final = "at least one rules must be specified when the successPolicy is specified"


def _choice(choices: Collection[str]) -> PartRule:
    return choice(choices, detail=f"valid values: [{' '.join(map(quote, choices))}]")


def _check_codes(codes: Manifest, path: str) -> Iterator[Cause]:
    values, path = codes.get("values") or [], f"{path}.values"
    for index, (value, is_repeated) in enumerate(zip(values, repeats(values), strict=True)):
        if codes["operator"] == "In" and value == 0:
            yield invalid(f"{path}[{index}]", value, "must not be 0 for the In operator")
        if is_repeated:
            yield duplicate(f"{path}[{index}]", value)
    if values != sorted(values):
        yield invalid(path, values, "must be ordered")


def _check_requirement(rule: Manifest, path: str) -> Iterator[Cause]:
    given = [rule.get("onExitCodes") is not None, bool(rule.get("onPodConditions"))]
    if all(given):
        yield invalid_without_value(path, "specifying both OnExitCodes and OnPodConditions is not supported")
    elif not any(given):
        yield invalid_without_value(path, "specifying one of OnExitCodes and OnPodConditions is required")


_CONDITION: Final = all_of(
    field("type", named_by(names.qualified_name), default=""),
    field("status", _choice(_STATUSES), default=""),
)


def validate_failure_policy(spec: Manifest, path: str) -> Iterable[Cause]:
    pod = spec["template"].get("spec") or {}
    containers = {each["name"] for kind in ("containers", "initContainers") for each in pod.get(kind) or ()}
    of_container = "must be one of the container or initContainer names in the pod template"

    def check_action(action: str, at: str) -> Iterable[Cause]:
        if action == "FailIndex" and "backoffLimitPerIndex" not in spec:
            return (invalid(at, action, "requires the backoffLimitPerIndex to be set"),)
        return _choice(FAILURE_ACTIONS)(action, at)

    rule = all_of(
        field("action", check_action),
        field(
            "onExitCodes",
            field("operator", _choice(EXIT_CODE_OPERATORS)),
            field("containerName", where(containers.__contains__, of_container)),
            field("values", where(bool, "at least one value is required"), items(most=255), default=[]),
            _check_codes,
        ),
        filled("onPodConditions", items(most=20), items(_CONDITION)),
        _check_requirement,
    )
    return field("podFailurePolicy.rules", items(most=_MAX_RULES), items(rule))(spec, path)


def validate_success_policy(spec: Manifest, path: str) -> Iterator[Cause]:
    policy, path = spec["successPolicy"], f"{path}.successPolicy"
    if spec.get("completionMode", "NonIndexed") != "Indexed":
        shown = api_struct("batch.v1.SuccessPolicy", policy)
        yield invalid(path, shown, "requires indexed completion mode", whole=True)
        return
    completions = spec.get("completions", 0)
    rule = items(lambda rule, at: _success_rule(rule, completions, at))
    yield from needed("rules", items(most=_MAX_RULES), rule, detail=_ONE_RULE)(policy, path)


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
    yield from _SUCCEEDED(rule, path)
    bounds = [(completions, "the number of specified completions")]
    if indexes is not None:
        bounds.append((total, "the number of indexes in the specified succeededIndexes field"))
    for most, what in bounds:
        if count is not None and count > most:
            yield invalid(f"{path}.succeededCount", count, f"must be less than or equal to {most} ({what})")


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
