"""Evaluates the rules of a custom resource's schema (``x-kubernetes-validations``), with upstream's texts.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from simulator.apiserver.custom_resources.parts import ABSENT, Part, parts_of
from simulator.apiserver.custom_resources.rule_values import declare_types, to_cel
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, required
from simulator.cel.errors import CostExceeded, ExpressionError
from simulator.cel.expression import Expression, compile_expression
from simulator.cel.functions import Environment
from simulator.cel.meter import REQUEST_LIMIT, Budget, OutOfBudget
from simulator.cel.types import DYN, ObjectTypes, Type
from simulator.cel.values import NONE, Optional, Value
from simulator.kernel.go_text import quote
from simulator.kernel.work import OutOfWork

RULES: Final = "x-kubernetes-validations"
MAX_MESSAGE: Final = 5_120
"""Maximum number of bytes of an evaluated message (MaxEvaluatedMessageExpressionSizeBytes)."""
_DECLARED: Final = 256
"""Schemas whose types are kept."""
_OUT_OF_BUDGET: Final = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)
_OUT_OF_BUDGET_OF_MESSAGE: Final = (
    "messageExpression evaluation failed due to running out of cost budget, no further validation rules will "
    "be run"
)
_CALL_TOO_EXPENSIVE: Final = "no further validation rules will be run due to call cost exceeds limit"
_SELF: Final = "self"
OLD_SELF: Final = "oldSelf"


def rule_faults(schema: dict[str, Any], value: Any, old: Any = ABSENT, *, path: str = "") -> Iterator[Cause]:
    """Yield the rules of a schema and of the schemas below it that do not hold. ``old``: the value before an
    update. A rule that does not name the old value is not asked again for a value that did not change."""
    budget = Budget(REQUEST_LIMIT)
    for part in parts_of(Part(schema, value, path, old), scalars=True):
        if part.schema.get(RULES) and part.value is not None:
            yield from _broken_rules(part, budget)
        if budget.has_ended:
            return


def compile_rule(schema: dict[str, Any], rule: dict[str, Any], *, is_new: bool = False) -> Expression:
    """Return the compiled rule of a structural schema; its ``error`` is the reason if it is none. ``is_new``:
    it may only use what the version before knows, too, as it is written to the API server."""
    return _compile(str(rule.get("rule", "")), schema, rule, "bool", is_new)


def compile_message(schema: dict[str, Any], rule: dict[str, Any], *, is_new: bool = False) -> Expression:
    return _compile(str(rule["messageExpression"]), schema, rule, "string", is_new)


def has_declared_type(schema: dict[str, Any]) -> bool:
    """Whether rules can name the values of a structural schema."""
    return _declare(_SchemaKey(schema))[0] is not None


def _compile(
    text: str, schema: dict[str, Any], rule: dict[str, Any], result: str, is_new: bool
) -> Expression:
    declared, objects = _declare(_SchemaKey(schema))
    of = declared or DYN
    old = Type("optional_type", (of,)) if rule.get("optionalOldSelf") else of
    environment = Environment.NEW_EXPRESSIONS if is_new else Environment.STORED_EXPRESSIONS
    return compile_expression(text, ((_SELF, of), (OLD_SELF, old)), result, objects, environment)


class _SchemaKey:
    """A schema as the key of a cache: another one is another key, also if it is equal."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SchemaKey) and self.schema is other.schema


@lru_cache(_DECLARED)
def _declare(key: _SchemaKey) -> tuple[Type | None, ObjectTypes]:
    return declare_types(key.schema)


def _broken_rules(part: Part, budget: Budget) -> Iterator[Cause]:
    schema, value, path, old = part
    kind = schema.get("type", "") if isinstance(schema.get("type", ""), str) else ""
    try:
        this = to_cel(schema, value)
        before: tuple[Value, ...] = () if old is ABSENT or old is None else (to_cel(schema, old),)
    except OutOfWork:
        yield from _end(budget, path, kind, _OUT_OF_BUDGET)
        return
    has_changed = old is ABSENT or old != value
    for rule in schema[RULES]:
        compiled = compile_rule(schema, rule)
        if compiled.error:
            yield invalid(path or "<nil>", kind, f"rule compile error: {compiled.error}")
            continue
        is_transition = OLD_SELF in compiled.names
        if is_transition and not before and not rule.get("optionalOldSelf"):
            continue
        if not is_transition and not has_changed:
            continue
        values: dict[str, Value] = {_SELF: this}
        if rule.get("optionalOldSelf"):
            values[OLD_SELF] = Optional(before) if before else NONE
        elif before:
            values[OLD_SELF] = before[0]
        try:
            holds = _evaluate(compiled, values, budget)
        except OutOfBudget:
            yield from _end(budget, path, kind, _OUT_OF_BUDGET)
            return
        except CostExceeded as error:
            yield from _end(budget, path, kind, _error_text(str(error), _text_of(rule)))
            return
        except ExpressionError as error:
            yield invalid(path or "<nil>", kind, _error_text(str(error), _text_of(rule)))
            continue
        if holds is not True:
            try:
                detail = _message(schema, rule, values, budget)
            except _EndedByMessage as ended:
                yield from _end(budget, _place(path, rule), kind, str(ended))
                return
            yield _fault(rule, detail, _place(path, rule), kind)


def _evaluate(compiled: Expression, values: Mapping[str, Value], budget: Budget) -> Value:
    """Evaluate an expression. Raises EvaluationError and OutOfBudget."""
    meter = budget.start()
    try:
        return compiled.evaluate(values, meter)
    finally:
        budget.spend(meter)


def _end(budget: Budget, path: str, kind: str, detail: str) -> Iterator[Cause]:
    """Yield why no further rule is evaluated."""
    budget.end()
    yield invalid(path or "<nil>", kind, detail)


def _error_text(error: str, rule: str) -> str:
    if error.startswith("no such overload"):
        return (
            f"'{error}': call arguments did not match a supported operator, function or macro signature for "
            f"rule: {rule}"
        )
    if error.startswith("operation cancelled: actual cost limit exceeded"):
        return f"'{error}': {_CALL_TOO_EXPENSIVE} for rule: {rule}"
    return f"{error} evaluating rule: {rule}"


def _place(path: str, rule: dict[str, Any]) -> str:
    field = str(rule.get("fieldPath") or "").replace("['", "[").replace("']", "]").removeprefix(".")
    if not field:
        return path or "<nil>"
    return f"{path}.{field}" if path else field


def _fault(rule: dict[str, Any], detail: str, path: str, kind: str) -> Cause:
    match rule.get("reason"):
        case "FieldValueForbidden":
            return forbidden(path, detail)
        case "FieldValueRequired":
            return required(path, detail)
        case "FieldValueDuplicate":
            return duplicate(path, kind)
    return invalid(path, kind, detail)


class _EndedByMessage(Exception):
    """The evaluation of a message ended that of all rules."""


def _message(schema: dict[str, Any], rule: dict[str, Any], values: dict[str, Value], budget: Budget) -> str:
    """Return the evaluated messageExpression, if it gives a text of one line; else the message; else the
    rule. Raises _EndedByMessage."""
    if rule.get("messageExpression"):
        found: Value = None
        try:
            found = _evaluate(compile_message(schema, rule), values, budget)
        except OutOfBudget:
            raise _EndedByMessage(_OUT_OF_BUDGET_OF_MESSAGE) from None
        except CostExceeded:
            detail = (
                "no further validation rules will be run due to call cost exceeds limit for messageExpression"
            )
            raise _EndedByMessage(f"{detail}: {quote(rule['messageExpression'])}") from None
        except ExpressionError:
            pass  # the message of the rule is used
        text = found.strip() if isinstance(found, str) else ""
        if text and "\n" not in text and len(text.encode()) <= MAX_MESSAGE:
            return text
    return _text_of(rule) if rule.get("message") else f"failed rule: {_text_of(rule)}"


def _text_of(rule: dict[str, Any]) -> str:
    return str(rule.get("message") or rule.get("rule") or "").strip()
