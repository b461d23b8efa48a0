"""Evaluates a ValidatingAdmissionPolicy for a request and a parameter.

Upstream: apiserver/pkg/admission/plugin/policy/validating/validator.go,
apiserver/pkg/admission/plugin/webhook/matchconditions/matcher.go and
apiserver/pkg/admission/plugin/cel/{activation,composition}.go, v1.34. A message is evaluated only for a
validation that does not hold.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.policies.expressions import CompiledPolicy
from simulator.cel.authorizers import Authorizer, ResourceCheck
from simulator.cel.errors import EvaluationError, SelectorError
from simulator.cel.expression import Expression
from simulator.cel.meter import REQUEST_LIMIT, Budget, Meter, OutOfBudget
from simulator.cel.values import Map, Value
from simulator.kernel.go_text import quote

MAX_MESSAGE: Final = 5_120
"""Maximum number of bytes of an evaluated message (MaxEvaluatedMessageExpressionSizeBytes)."""
_CONDITIONS_LIMIT: Final = 2_500_000
"""The cost of all match conditions (RuntimeCELCostBudgetMatchConditions)."""
MAX_EVALUATIONS: Final = 1_000
"""Maximum number of expressions of one policy that are evaluated for one request, variables among them."""
_OUT_OF_BUDGET: Final = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)


class Denial(NamedTuple):
    """A validation that does not hold, or cannot be evaluated."""

    message: str
    reason: str = ""
    is_error: bool = False
    """Whether an expression could not be evaluated."""
    is_of_annotation: bool = False
    """Whether it is the error of an audit annotation, which denies with any binding."""


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
    """The evaluation of a policy for a request. ``values``: the variables of all expressions, as JSON."""

    def __init__(self, compiled: CompiledPolicy, spec: Manifest, values: Mapping[str, Any]) -> None:
        self._compiled = compiled
        self._spec = spec
        self._values: dict[str, Value] = {name: to_cel(value) for name, value in values.items()}
        self._values["authorizer"] = Authorizer()
        self._values["authorizer.requestResource"] = ResourceCheck()
        self._values["variables"] = _Variables(self, compiled.variables)
        self._budget = Budget(_CONDITIONS_LIMIT, MAX_EVALUATIONS)
        self._of_variables: list[Meter] = []
        """The meters of those that were evaluated for the expression that is being evaluated."""

    def denials(self) -> Iterator[Denial]:
        """Yield the denials of the policy, and its errors where its failurePolicy is Fail. Yields nothing if
        a match condition does not hold."""
        fails = self._spec.get("failurePolicy", "Fail") == "Fail"
        try:
            found = [*self._denials()]
        except OutOfBudget:
            found = [Denial(_OUT_OF_BUDGET, is_error=True)]
        return (each for each in found if fails or not each.is_error)

    def _denials(self) -> Iterator[Denial]:
        """Yield the denials of the validations. Raises OutOfBudget."""
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
            yield Denial(_aggregate(errors), is_error=True)
            return
        self._budget = Budget(REQUEST_LIMIT, MAX_EVALUATIONS)
        yield from self._broken_validations()
        self._budget = Budget(REQUEST_LIMIT, MAX_EVALUATIONS)
        for index, annotation in enumerate(self._spec.get("auditAnnotations") or ()):
            try:
                self._evaluate(self._compiled.annotations[index], annotation["valueExpression"])
            except SelectorError as error:
                yield Denial(str(error), is_error=True, is_of_annotation=True)

    def _broken_validations(self) -> Iterator[Denial]:
        found: list[tuple[int, Denial | None]] = []
        for index, validation in enumerate(self._spec.get("validations") or ()):
            try:
                if self._evaluate(self._compiled.validations[index], validation["expression"]) is not True:
                    found.append((index, None))
            except SelectorError as error:
                found.append((index, Denial(str(error), is_error=True)))
        for index, denial in found:
            yield denial or self._deny(index)

    def _deny(self, index: int) -> Denial:
        validation = self._spec["validations"][index]
        try:
            message = self._message(validation, self._compiled.messages[index])
        except OutOfBudget:
            return Denial(f"failed messageExpression: {_OUT_OF_BUDGET}", is_error=True)
        return Denial(message, validation.get("reason") or "Invalid")

    def variable(self, name: str) -> Value:
        """Return the value of a variable. Raises SelectorError."""
        expression = self._compiled.variables[name]
        if expression.error:
            raise SelectorError(f"composited variable {quote(name)} fails to compile: {expression.error}")
        meter = self._budget.start()
        try:
            value = expression.evaluate(self._values, meter)
        except EvaluationError as error:
            text = f"composited variable {quote(name)} fails to evaluate: {error}"
            raise SelectorError(text) from None
        self._of_variables.append(meter)
        return value

    def _evaluate(self, expression: Expression, text: str) -> Value:
        """Evaluate an expression. Raises SelectorError, with the text of upstream's error, and
        OutOfBudget."""
        if expression.error:
            raise SelectorError(f"compilation error: {expression.error}")
        meter, self._of_variables = self._budget.start(), []
        try:
            return expression.evaluate(self._values, meter)
        except EvaluationError as error:
            raise SelectorError(f"expression '{text}' resulted in error: {error}") from None
        finally:
            for each in (*self._of_variables, meter):
                self._budget.spend(each)

    def _message(self, validation: Manifest, expression: Expression | None) -> str:
        """Return the evaluated messageExpression, if it gives a text of one line; else the message; else the
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
    """Return a JSON value as a value of expressions. Texts of any meaning stay texts."""
    match value:
        case dict():
            return Map((name, to_cel(item)) for name, item in value.items())
        case list():
            return [to_cel(item) for item in value]
    return value


def _aggregate(errors: list[str]) -> str:
    """Return the text of several errors (utilerrors.NewAggregate)."""
    found = [*dict.fromkeys(errors)]
    return found[0] if len(found) == 1 else f"[{', '.join(found)}]"
