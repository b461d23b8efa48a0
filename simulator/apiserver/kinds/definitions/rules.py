"""Checks of the rules of a schema (``x-kubernetes-validations``).

Upstream: ValidateCustomResourceDefinitionOpenAPISchema in
apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, and Compile in
apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go, v1.34.
"""

from collections.abc import Iterator
from typing import Any, Final

from simulator.apiserver.custom_resources.rules import (
    OLD_SELF,
    RULES,
    compile_message,
    compile_rule,
    has_declared_type,
)
from simulator.apiserver.go_structs import definition_struct
from simulator.apiserver.kinds.definitions.field_paths import FieldPathError, find_field
from simulator.apiserver.kinds.definitions.places import Place
from simulator.apiserver.status import Cause, invalid, not_supported, required
from simulator.apiserver.structural_schema import Schema
from simulator.cel.expression import Expression

Rule = dict[str, Any]
_REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_WITHOUT_TYPE: Final = (
    "Internal error: internal error: failed to construct type information for x-kubernetes-validations "
    "rules: unable to convert structural schema to CEL declarations"
)


def rule_field_faults(schema: Schema, closed: Schema, path: str) -> Iterator[Cause]:
    """Yield the faults of the fields of rules; no expression is compiled. ``closed``: the structural
    schema."""
    for index, rule in enumerate(schema.get(RULES) or ()):
        at = f"{path}.{RULES}[{index}]"
        yield from _text_faults(rule, at)
        reason = rule.get("reason")
        if reason is not None and reason not in _REASONS:
            yield not_supported(f"{at}.reason", reason, _REASONS)
        yield from _path_faults(rule.get("fieldPath", ""), closed or schema, f"{at}.fieldPath")


def _text_faults(rule: Rule, path: str) -> Iterator[Cause]:
    text, message = str(rule.get("rule", "")).strip(), str(rule.get("message", ""))
    if not text:
        yield required(f"{path}.rule", "rule is not specified")
    elif message and not message.strip():
        yield invalid(f"{path}.message", message, "message must be non-empty if specified")
    elif _has_line_breaks(message.strip()):
        yield invalid(f"{path}.message", message, "message must not contain line breaks")
    elif _has_line_breaks(text) and not message:
        yield required(f"{path}.message", "message must be specified if rule contains line breaks")
    expression = str(rule.get("messageExpression", ""))
    if expression and not expression.strip():
        yield required(f"{path}.messageExpression", "messageExpression must be non-empty if specified")


def _path_faults(field: str, schema: Schema, path: str) -> Iterator[Cause]:
    if field and not field.strip():
        yield invalid(path, field, "fieldPath must be non-empty if specified")
    if _has_line_breaks(field):
        yield invalid(path, field, "fieldPath must not contain line breaks")
    if field:
        try:
            find_field(field, schema)
        except FieldPathError:
            yield invalid(path, field, "fieldPath must be a valid path")


def _has_line_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def compile_faults(place: Place) -> Iterator[Cause]:
    """Yield the rules that do not compile, and those that compare old values where they are not known."""
    closed, path = place.closed, place.path
    if not has_declared_type(closed):
        yield Cause(f"{path}.{RULES}", _WITHOUT_TYPE, "InternalError")
        return
    for index, rule in enumerate(place.schema[RULES]):
        at, compiled = f"{path}.{RULES}[{index}]", compile_rule(closed, rule)
        error = _error_of(compiled, "must evaluate to a bool")
        if error:
            yield invalid(f"{at}.rule", definition_struct("ValidationRule", rule), error, whole=True)
        elif rule.get("messageExpression"):
            yield from _message_faults(closed, rule, f"{at}.messageExpression")
        if OLD_SELF in compiled.names:
            if place.uncorrelated:
                portion = f"the uncorrelatable portion of the schema within {place.uncorrelated}"
                yield invalid(f"{at}.rule", rule["rule"], f"oldSelf cannot be used on {portion}")
        elif rule.get("optionalOldSelf") is not None:
            detail = "may not be set if oldSelf is not used in rule"
            yield invalid(f"{at}.optionalOldSelf", rule["optionalOldSelf"], detail)


def _message_faults(closed: Schema, rule: Rule, path: str) -> Iterator[Cause]:
    error = _error_of(compile_message(closed, rule), "must evaluate to a string")
    if error:
        text = f"messageExpression {error.removeprefix('program ')}"
        yield invalid(path, definition_struct("ValidationRule", rule), text, whole=True)


def _error_of(compiled: Expression, without_result: str) -> str:
    return compiled.error or (without_result if compiled.result.is_dynamic else "")
