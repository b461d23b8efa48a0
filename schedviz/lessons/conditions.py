"""Conditions in CEL: compiled once, evaluated often, by any number of threads.

Their environment is plain CEL without regular expressions, as one of a stranger may take longer than all
else. The cost is estimated when a condition is compiled, and limited when it is evaluated.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from schedviz.store.changes import TRACE_READ
from simulator.cel.declared_sizes import DeclaredSize, Limits, make_uniform_size
from simulator.cel.errors import EvaluationError
from simulator.cel.expression import Expression
from simulator.cel.functions import Environment
from simulator.cel.meter import Meter
from simulator.cel.types import NO_OBJECTS, Type, parse_type
from simulator.cel.values import from_json
from simulator.kernel.work import measure_work

MAX_LENGTH: Final = 1_000
"""Maximum number of characters of a condition."""
MAX_COST: Final = 400_000
"""The maximum cost of a condition, as it is estimated."""
MAX_ITERATIONS: Final = 10_000
"""The maximum number of iterations of all macros of an evaluation. It ends then."""
MAX_WORK: Final = 50_000
"""The units of work of an evaluation, which take some 0.1 s. It ends then: the estimate does not know how
large the objects and texts are that are compared and read."""
CACHED: Final = 4_096
"""Compiled conditions of all lessons."""

_OBJECTS: Final = "map(string, dyn)"
_NAMES: Final = "map(string, string)"
VARIABLES: Final[Mapping[str, Type]] = {
    name: parse_type(text)
    for name, text in {
        "pods": _OBJECTS,
        "nodes": _OBJECTS,
        "priorityclasses": _OBJECTS,
        "poddisruptionbudgets": _OBJECTS,
        "deployments": _OBJECTS,
        "jobs": _OBJECTS,
        "bound": _NAMES,
        "waiting": _NAMES,
        "nominated": _NAMES,
        "evicted": f"list({_OBJECTS})",
        "attempts": "map(string, int)",
        "trace": f"list({_OBJECTS})",
        "guesses": "map(string, list(string))",
        "edits": "int",
        "seconds": "double",
    }.items()
}
"""The variables of conditions with their types, as docs/LESSONS.md describes them."""
OBJECTS_AT_MOST: Final = 200
"""Maximum number of objects of a kind that conditions see, and of a lesson's cluster: so many can be looked
through."""
OBJECT_BYTES: Final = 32 << 10
"""A larger object, as JSON, is not seen by conditions."""

_NAME: Final = DeclaredSize(63)
"""That of a label of DNS, which few names are longer than."""
_SIZES: Final = DeclaredSize(
    fields={
        **{
            name: DeclaredSize(OBJECTS_AT_MOST, key=_NAME, element=each, other=each)
            for names, each in (
                (("pods", "nodes", "priorityclasses"), make_uniform_size(1_000)),
                (("poddisruptionbudgets", "deployments", "jobs"), make_uniform_size(1_000)),
                (("bound", "waiting", "nominated"), _NAME),
                (("attempts",), DeclaredSize(1)),
            )
            for name in names
        },
        "evicted": DeclaredSize(TRACE_READ, element=make_uniform_size(50)),
        "trace": DeclaredSize(TRACE_READ, element=make_uniform_size(50)),
        "guesses": DeclaredSize(30, key=_NAME, element=DeclaredSize(20, element=_NAME)),
    }
)
"""The sizes from which the cost of a condition is estimated."""
_LIMITS: Final = Limits(MAX_ITERATIONS, size=1_000)
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_MESSAGE: Final = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")


class ConditionError(ValueError):
    """The text is not a condition. The message is one line."""


class Condition:
    def __init__(self, text: str) -> None:
        """Raises ConditionError."""
        if len(text) > MAX_LENGTH:
            raise ConditionError(f"a condition may have {MAX_LENGTH:,} characters, not {len(text):,}")
        self._expression = Expression(text, VARIABLES, "bool", NO_OBJECTS, Environment.CONDITIONS)
        kind = self._expression.result
        if kind.name not in ("bool", "dyn"):
            shown = str(kind).upper().translate({ord("("): "<", ord(")"): ">"})
            raise ConditionError(f"must be true or false, not of type {shown}")
        if self._expression.error:
            raise ConditionError(_first_message(self._expression.error))
        self.cost = self._expression.estimate_cost(_SIZES, _LIMITS)
        if self.cost > MAX_COST:
            raise ConditionError(
                f"costs too much: it may look at {self.cost:,} values, and at most {MAX_COST:,} are allowed."
                " Nest fewer macros, and compare strings or numbers in them, not objects and lists"
            )
        self.variables = frozenset(_WORD.findall(text)) & VARIABLES.keys()
        """The variables that it may read: all whose names are words of the text."""
        self.reads_budgets = "breaks_budget" in text

    def holds(self, values: "Values") -> bool:
        """Whether the condition is true. One whose evaluation fails is not."""
        try:
            with measure_work(MAX_WORK):
                return self._expression.evaluate(values.of_cel, Meter(MAX_ITERATIONS)) is True
        except EvaluationError:  # such as too many iterations
            return False


class Values:
    """The values of the variables for some conditions."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.of_cel = {name: from_json(value) for name, value in values.items()}


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
    return f"{place}: {message}"
