"""Validation of conditions of meta/v1 (ValidateConditions in
apimachinery/pkg/apis/meta/v1/validation/validation.go, v1.34)."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.status import Cause, duplicate, invalid, not_supported, required, too_long

CONDITION_STATUSES: Final = ("False", "True", "Unknown")
_MAX_REASON: Final = 1024
_MAX_MESSAGE: Final = 32 * 1024
_REASON: Final = re.compile("[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_NO_REASON: Final = (
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  "
    "or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
    "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
)


def validate_conditions(conditions: Sequence[Manifest], path: str) -> Iterator[Cause]:
    seen = set[str]()
    for index, condition in enumerate(conditions):
        kind = condition.get("type", "")
        if kind in seen:
            yield duplicate(f"{path}[{index}].type", kind)
        seen.add(kind)
        yield from _condition(condition, f"{path}[{index}]")


def _condition(condition: Manifest, path: str) -> Iterator[Cause]:
    yield from check_name(names.qualified_name, condition.get("type", ""), f"{path}.type")
    status, reason = condition.get("status", ""), condition.get("reason", "")
    if status not in CONDITION_STATUSES:
        yield not_supported(f"{path}.status", status, CONDITION_STATUSES)
    if condition.get("observedGeneration", 0) < 0:
        detail = "must be greater than or equal to zero"
        yield invalid(f"{path}.observedGeneration", condition["observedGeneration"], detail)
    if not condition.get("lastTransitionTime"):
        yield required(f"{path}.lastTransitionTime", "must be set")
    if not reason:
        yield required(f"{path}.reason", "must be set")
    elif not _REASON.fullmatch(reason):
        yield invalid(f"{path}.reason", reason, _NO_REASON)
    if len(reason.encode()) > _MAX_REASON:
        yield too_long(f"{path}.reason", _MAX_REASON)
    if len(condition.get("message", "").encode()) > _MAX_MESSAGE:
        yield too_long(f"{path}.message", _MAX_MESSAGE)
