"""Validation of conditions of meta/v1 (ValidateConditions in
apimachinery/pkg/apis/meta/v1/validation/validation.go)."""

from collections.abc import Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.repeated import repeats
from simulator.apiserver.shapes import all_of, field, in_range, matches, max_bytes, named_by, needed, one_of
from simulator.apiserver.status import Cause, duplicate

CONDITION_STATUSES: Final = ("False", "True", "Unknown")
_MAX_REASON: Final = 1024
_MAX_MESSAGE: Final = 32 * 1024
_REASON: Final = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_NO_REASON: Final = (
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  "
    "or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
    "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
)


_MUST_BE_SET: Final = "must be set"
_CONDITION: Final = all_of(
    field("type", named_by(names.qualified_name), default=""),
    field("status", one_of(CONDITION_STATUSES), default=""),
    field("observedGeneration", in_range(0, detail="must be greater than or equal to zero")),
    needed("lastTransitionTime", detail=_MUST_BE_SET),
    needed("reason", matches(_REASON, _NO_REASON), detail=_MUST_BE_SET),
    field("reason", max_bytes(_MAX_REASON)),
    field("message", max_bytes(_MAX_MESSAGE)),
)


def validate_conditions(conditions: Sequence[Manifest], path: str) -> Iterator[Cause]:
    types = [condition.get("type", "") for condition in conditions]
    for index, (kind, is_repeated) in enumerate(zip(types, repeats(types), strict=True)):
        if is_repeated:
            yield duplicate(f"{path}[{index}].type", kind)
        yield from _CONDITION(conditions[index], f"{path}[{index}]")
