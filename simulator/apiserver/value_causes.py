"""The causes of a document's refused fields, with their values."""

import re
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.status import Cause, invalid

_PATH_STEPS: Final = re.compile(r"[^.\[\]]+")
"""A field, or the number of an item, in a path."""
_REASONS: Final = {
    "Required value": "FieldValueRequired",
    "Duplicate value": "FieldValueDuplicate",
    "unknown field": "FieldValueInvalid",
}
"""Beginning of a message -> the reason of its cause. Such a message has the value, or there is none."""


def with_value(document: Manifest, path: str, problem: str) -> Cause:
    """Return the cause for a refused field of a document, with its value if it is not a list or a mapping, as
    kube-scheduler writes it."""
    for kind, reason in _REASONS.items():
        if problem.startswith(kind):
            return Cause(path, problem, reason)
    value: Any = document
    for part in _PATH_STEPS.findall(path):
        if isinstance(value, list):
            value = value[int(part)] if part.isdecimal() and int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    if isinstance(value, str | int | float) and not problem.startswith("Invalid value"):
        return invalid(path, value, problem)
    return Cause(path, problem)
