"""Evaluates a ValidatingAdmissionPolicy for a request and a parameter.

Upstream: apiserver/pkg/admission/plugin/policy/validating/validator.go,
apiserver/pkg/admission/plugin/webhook/matchconditions/matcher.go and
apiserver/pkg/admission/plugin/cel/{activation,composition}.go, v1.34. There are no costs of expressions here;
what all of one policy do for one request is bounded.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.policies.expressions import CompiledPolicy
from simulator.cel.authorizers import Authorizer, ResourceCheck
from simulator.cel.errors import SelectorError
from simulator.cel.expression import Expression
from simulator.cel.values import Map, Value
from simulator.kernel.go_text import quote

MAX_MESSAGE: Final = 5_120
"""Bytes of an evaluated message (MaxEvaluatedMessageExpressionSizeBytes)."""
MAX_EVALUATIONS: Final = 1_000
"""Expressions of one policy that are evaluated for one request, variables among them."""
_OUT_OF_BUDGET: Final = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)


class Denial(NamedTuple):
    """A validation that does not hold, or cannot be evaluated."""

    message: str
    reason: str = "Invalid"
    is_of_annotation: bool = False
    """Whether it is the error of an audit annotation, which denies whatever the binding says."""


class _Variables(Map):
    """The variables of a policy, each evaluated when it is read first."""

    __slots__ = ("_evaluate", "_known", "_names")

    def __init__(self, evaluation: "Evaluation", names: Iterable[str]) -> None:
        super().__init__()
        self._evaluate = evaluation.variable
        self._names = frozenset(names)
        self._known: dict[str, Value | SelectorError] = {}

    def find(self, key: Value) -> tuple[Value, ...]:
        if key not in self._names:
            return ()
        if key not in self._known:
            try:
                self._known[key] = self._evaluate(key)
            except SelectorError as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, SelectorError):
            raise found
        return (found,)


class Evaluation:
    """``values``: the variables of all expressions, as JSON."""

    def __init__(self, compiled: CompiledPolicy, spec: Manifest, values: Mapping[str, Any]) -> None:
        self._compiled = compiled
        self._spec = spec
        self._values: dict[str, Value] = {name: to_cel(value) for name, value in values.items()}
        self._values["authorizer"] = Authorizer()
        self._values["authorizer.requestResource"] = ResourceCheck()
        self._values["variables"] = _Variables(self, compiled.variables)
        self._iterations = [0]
        self._left = MAX_EVALUATIONS

    def denials(self) -> Iterator[Denial]:
        """What the policy denies, and errors where its failurePolicy is Fail. Nothing if a match condition
        does not hold."""
        fails = self._spec.get("failurePolicy", "Fail") == "Fail"
        errors: list[str] = []
        for condition, given in zip(
            self._compiled.match_conditions, self._spec.get("matchConditions") or (), strict=True
        ):
            try:
                if self._evaluate(condition, given["expression"]) is False:
                    return
            except SelectorError as error:
                errors.append(str(error))
        if errors:
            if fails:
                yield Denial(_aggregate(errors), "")
            return
        for index, validation in enumerate(self._spec.get("validations") or ()):
            try:
                holds = self._evaluate(self._compiled.validations[index], validation["expression"])
            except SelectorError as error:
                if fails:
                    yield Denial(str(error), "")
                continue
            if holds is not True:
                message = self._message(validation, self._compiled.messages[index])
                yield Denial(message, validation.get("reason") or "Invalid")
        for index, annotation in enumerate(self._spec.get("auditAnnotations") or ()):
            try:
                self._evaluate(self._compiled.annotations[index], annotation["valueExpression"])
            except SelectorError as error:
                if fails:
                    yield Denial(str(error), "", is_of_annotation=True)

    def variable(self, name: str) -> Value:
        """Raises SelectorError."""
        expression = self._compiled.variables[name]
        if expression.error:
            raise SelectorError(f"composited variable {quote(name)} fails to compile: {expression.error}")
        try:
            return self._run(expression)
        except SelectorError as error:
            text = f"composited variable {quote(name)} fails to evaluate: {error}"
            raise SelectorError(text) from None

    def _evaluate(self, expression: Expression, text: str) -> Value:
        """Raises SelectorError, with the text of upstream's error."""
        if expression.error:
            raise SelectorError(f"compilation error: {expression.error}")
        if self._left <= 0:
            raise SelectorError(_OUT_OF_BUDGET)
        try:
            return self._run(expression)
        except SelectorError as error:
            raise SelectorError(f"expression '{text}' resulted in error: {error}") from None

    def _run(self, expression: Expression) -> Value:
        self._left -= 1
        if self._left < 0:
            raise SelectorError(_OUT_OF_BUDGET)
        return expression.evaluate(self._values, self._iterations)

    def _message(self, validation: Manifest, expression: Expression | None) -> str:
        """The evaluated messageExpression, if it gives a text of one line; else the message; else the
        expression."""
        if expression is not None:
            try:
                found = self._evaluate(expression, "")
            except SelectorError:
                found = None
            text = found.strip() if isinstance(found, str) else ""
            if text and "\n" not in text and len(text.encode()) <= MAX_MESSAGE:
                return text
        message: str = validation.get("message", "").strip()
        return message or f"failed expression: {validation['expression'].strip()}"


def to_cel(value: Any) -> Value:
    """A JSON value as expressions see it: texts stay texts, whatever they mean."""
    match value:
        case dict():
            return Map((name, to_cel(item)) for name, item in value.items())
        case list():
            return [to_cel(item) for item in value]
    return value


def _aggregate(errors: list[str]) -> str:
    """The text of several errors (utilerrors.NewAggregate)."""
    found = [*dict.fromkeys(errors)]
    return found[0] if len(found) == 1 else f"[{', '.join(found)}]"
