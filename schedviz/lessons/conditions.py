"""Conditions in CEL: compiled once, evaluated often, by any number of threads.

The library's programs do not change after they are compiled. It limits the iterations of one evaluation;
condition_cost.py limits what they may do.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from cel_expr_python import cel

from schedviz.lessons.condition_cost import Size, TooCostly, find_cost
from schedviz.store.changes import TRACE_READ

MAX_LENGTH: Final = 1_000
"""Maximum number of characters of a condition."""
CACHED: Final = 4_096
"""Compiled conditions of all lessons."""

_OBJECTS: Final = cel.Type.Map(cel.Type.STRING, cel.Type.DYN)
_NAMES: Final = cel.Type.Map(cel.Type.STRING, cel.Type.STRING)
_RECORDS: Final = cel.Type.List(_OBJECTS)
VARIABLES: Final[Mapping[str, cel.Type]] = {
    "pods": _OBJECTS,
    "nodes": _OBJECTS,
    "priorityclasses": _OBJECTS,
    "poddisruptionbudgets": _OBJECTS,
    "deployments": _OBJECTS,
    "jobs": _OBJECTS,
    "bound": _NAMES,
    "waiting": _NAMES,
    "nominated": _NAMES,
    "evicted": _RECORDS,
    "attempts": cel.Type.Map(cel.Type.STRING, cel.Type.INT),
    "trace": _RECORDS,
    "guesses": cel.Type.Map(cel.Type.STRING, cel.Type.List(cel.Type.STRING)),
    "edits": cel.Type.INT,
    "seconds": cel.Type.DOUBLE,
}
"""The variables of conditions with their types, as docs/LESSONS.md describes them."""
OBJECTS_AT_MOST: Final = 200
"""Maximum number of objects of a kind that conditions see, and of a lesson's cluster: so many can be looked
through."""
OBJECT_BYTES: Final = 32 << 10
"""A larger object, as JSON, is not seen by conditions."""

_OBJECT: Final = Size(OBJECTS_AT_MOST, 1_000)
_SIZES: Final[Mapping[str, Size]] = {
    **{name: _OBJECT for name, kind in VARIABLES.items() if kind == _OBJECTS},
    **{name: Size(OBJECTS_AT_MOST, 1) for name in ("bound", "waiting", "nominated", "attempts")},
    "evicted": Size(TRACE_READ, 5),
    "trace": Size(TRACE_READ, 50),
    "guesses": Size(30, 20),
}
"""The sizes from which the cost of a condition is estimated."""
# A regular expression of a stranger may take longer than all else.
_CONFIG: Final = cel.NewEnvConfigFromYaml("stdlib: {exclude_functions: [{name: matches}]}")
_ENVIRONMENT: Final = cel.NewEnv(config=_CONFIG, variables=VARIABLES)
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_MESSAGE: Final = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")


class ConditionError(ValueError):
    """The text is not a condition. The message is one line."""


class Condition:
    """A compiled condition."""

    def __init__(self, text: str) -> None:
        """Raises ConditionError."""
        if len(text) > MAX_LENGTH:
            raise ConditionError(f"a condition may have {MAX_LENGTH:,} characters, not {len(text):,}")
        try:
            self._program = _ENVIRONMENT.compile(text)
        except RuntimeError as error:  # the library raises nothing more exact
            raise ConditionError(_first_message(str(error))) from None
        kind = self._program.return_type()
        if kind not in (cel.Type.BOOL, cel.Type.DYN):
            raise ConditionError(f"must be true or false, not of type {kind.name()}")
        try:
            self.cost = find_cost(self._program.serialize(), _SIZES)
        except TooCostly as error:
            raise ConditionError(str(error)) from None
        self.variables = frozenset(_WORD.findall(text)) & VARIABLES.keys()
        """The variables that it may read: all whose names are words of the text."""
        self.reads_budgets = "breaks_budget" in text

    def holds(self, values: "Values") -> bool:
        """Whether the condition is true. One whose evaluation fails is not."""
        try:
            found = self._program.eval(values.activation)
        except RuntimeError:  # such as too many iterations
            return False
        return found.type() == cel.Type.BOOL and found.plain_value() is True


class Values:
    """The values of the variables for some conditions. The library converts each when it is first read. Not
    to be shared by threads."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.activation = _ENVIRONMENT.Activation(data=dict(values))


@lru_cache(maxsize=CACHED)
def condition(text: str) -> Condition:
    """Return the compiled condition. Raises ConditionError."""
    return Condition(text)


def _first_message(text: str) -> str:
    """Return the first message of the compiler in one line, with its place in the condition."""
    found = _MESSAGE.search(text)
    if found is None:
        return text.splitlines()[0]
    line, column, message = found.groups()
    place = f"column {column}" if line == "1" else f"line {line}, column {column} of the condition"
    return f"{place}: {message.removesuffix(' [INVALID_ARGUMENT]')}"
