"""Checks of the rules of a schema (``x-kubernetes-validations``), and of the JSON paths by which definitions
name a field of a schema: ``.spec.size``, ``.spec['a.b']``.

Upstream: ValidateCustomResourceDefinitionOpenAPISchema in
apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, and compilation.go and ValidFieldPath
in validation.go of apiextensions-apiserver/pkg/apiserver/schema/cel. Of the escapes in quotes, that of
a quote and of a backslash are known.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from simulator.apiserver.custom_resources.rules import (
    OLD_SELF,
    RULES,
    compile_message,
    compile_rule,
    has_declared_type,
)
from simulator.apiserver.go_structs import definition_struct
from simulator.apiserver.kinds.definitions.places import SchemaPlace
from simulator.apiserver.status import Cause, invalid, not_supported, required
from simulator.apiserver.structural_schema import META, Schema
from simulator.cel.expression import Expression

Rule = dict[str, Any]
_REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_WITHOUT_TYPE: Final = (
    "Internal error: internal error: failed to construct type information for x-kubernetes-validations "
    "rules: unable to convert structural schema to CEL declarations"
)
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\['((?:[^'\\]|\\['\\])*)'\]")
_BEGINNING: Final = re.compile(r"[^.\[\]]+|.")
_META_FIELDS: Final[Schema] = {"properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}}


class Expressions(NamedTuple):
    """The texts of the expressions of a definition."""

    rules: frozenset[str]
    messages: frozenset[str]


NO_EXPRESSIONS: Final = Expressions(frozenset(), frozenset())


def find_expressions(places: Iterable[SchemaPlace]) -> Expressions:
    """Return the expressions in schemas, and in those below them."""
    waiting, rules, messages = [*places], set[str](), set[str]()
    while waiting:
        place = waiting.pop()
        waiting += place.places_below()
        for rule in place.schema.get(RULES) or ():
            rules.add(rule.get("rule", ""))
            messages.add(rule.get("messageExpression", ""))
    return Expressions(frozenset(rules), frozenset(messages))


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


def compile_faults(place: SchemaPlace, stored: Expressions) -> Iterator[Cause]:
    """Yield the rules that do not compile, and those that compare old values where they are not known.
    ``stored``: the expressions of the definition that is updated. They may use more than new ones."""
    closed, path = place.closed, place.path
    if not has_declared_type(closed):
        yield Cause(f"{path}.{RULES}", _WITHOUT_TYPE, "InternalError")
        return
    for index, rule in enumerate(place.schema[RULES]):
        at = f"{path}.{RULES}[{index}]"
        compiled = compile_rule(closed, rule, is_new=rule.get("rule", "") not in stored.rules)
        error = _error_of(compiled, "must evaluate to a bool")
        if error:
            yield invalid(f"{at}.rule", definition_struct("ValidationRule", rule), error, whole=True)
        elif rule.get("messageExpression"):
            yield from _message_faults(closed, rule, stored, f"{at}.messageExpression")
        if OLD_SELF in compiled.names:
            if place.uncorrelated:
                portion = f"the uncorrelatable portion of the schema within {place.uncorrelated}"
                yield invalid(f"{at}.rule", rule["rule"], f"oldSelf cannot be used on {portion}")
        elif rule.get("optionalOldSelf") is not None:
            detail = "may not be set if oldSelf is not used in rule"
            yield invalid(f"{at}.optionalOldSelf", rule["optionalOldSelf"], detail)


def _message_faults(closed: Schema, rule: Rule, stored: Expressions, path: str) -> Iterator[Cause]:
    is_new = rule["messageExpression"] not in stored.messages
    error = _error_of(compile_message(closed, rule, is_new=is_new), "must evaluate to a string")
    if error:
        text = f"messageExpression {error.removeprefix('program ')}"
        yield invalid(path, definition_struct("ValidationRule", rule), text, whole=True)


def _error_of(compiled: Expression, without_result: str) -> str:
    return compiled.error or (without_result if compiled.result.is_dynamic else "")


class FieldPathError(ValueError):
    """A path is malformed, or names no field of its schema."""


class FoundField(NamedTuple):
    """The field that a path names."""

    names: tuple[str, ...]
    schema: Schema


def find_field(path: str, schema: Schema, *, with_brackets: bool = True) -> FoundField:
    """Return the field of a schema that a path names. Raises FieldPathError. ``with_brackets``: the path may
    have steps in brackets."""
    names: list[str] = []
    place = 0
    while place < len(path):
        if path[place] == "[" and not with_brackets:
            raise FieldPathError("array notation is not allowed")
        step = _STEP.match(path, place)
        if step is None:
            beginning = _BEGINNING.match(path, place)
            raise FieldPathError(f"expected [ or . but got: {beginning[0] if beginning else ''}")
        name = re.sub(r"\\(.)", r"\1", step[2]) if step[1] is None else step[1]
        schema = _step_into(_META_FIELDS if schema is META else schema, name)
        names.append(name)
        place = step.end()
    return FoundField(tuple(names), schema)


def _step_into(schema: Schema, name: str) -> Schema:
    found = (schema.get("properties") or {name: schema.get("additionalProperties")}).get(name)
    if not isinstance(found, dict):
        raise FieldPathError("does not refer to a valid field")
    return found
