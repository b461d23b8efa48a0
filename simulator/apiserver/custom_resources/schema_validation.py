"""Validates a custom resource against its schema, with upstream's texts.

Upstream: ValidateCustomResource in apiextensions-apiserver/pkg/apiserver/validation/validation.go,
kube-openapi/pkg/validation and apiextensions-apiserver/pkg/apiserver/schema/listtype. Looked at
jsonschema: its errors would have to be translated one by one into these texts, which is as long as the
checks.
"""

import json
from collections.abc import Collection, Hashable, Iterator
from itertools import chain
from typing import Any, Final

from simulator.apiserver.bounds import join_key
from simulator.apiserver.custom_resources.parts import ABSENT, Part, keys_of, parts_of, parts_within
from simulator.apiserver.custom_resources.text_formats import has_format
from simulator.apiserver.field_checks import too_many
from simulator.apiserver.repeated import identity, repeats
from simulator.apiserver.status import Cause, duplicate, invalid, not_supported, required, too_long
from simulator.apiserver.structural_schema import Schema
from simulator.kernel.go_regexp import PatternFault, Regexp
from simulator.kernel.go_text import quote
from simulator.kernel.work import OutOfWork, spend_work

STEP_WORK: Final = 4
"""The work of one comparison of a value with a schema."""
LIST_TYPE: Final = "x-kubernetes-list-type"
_TYPES: Final = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}


def schema_faults(schema: Schema, value: Any, path: str = "", old: Any = ABSENT) -> Iterator[Cause]:
    """Yield what of a value does not fit its schema. ``old``: the value before an update; what did not change
    has no faults. The last fault says if the work of the request was done before."""
    try:
        yield from _Validation().faults(schema, value, path, old)
    except OutOfWork as error:
        yield Cause(path, f"could not be compared with all of its schema: {error}")


class _Validation:
    """The validation of one object."""

    def __init__(self) -> None:
        self._choices: dict[int, frozenset[Hashable]] = {}
        """The choices of each ``enum``, by the identity of its list in the schema."""

    def faults(self, schema: Schema, value: Any, path: str, old: Any = ABSENT) -> Iterator[Cause]:
        spend_work(STEP_WORK)
        if old is not ABSENT and old == value:
            return
        if value is None:
            if not schema.get("nullable") and schema.get("type"):
                yield _wrong_type(path, "null", schema)
            return
        if not _has_type(schema, value):
            yield _wrong_type(path, _type_name(value), schema)
            return
        yield from self._junctor_faults(schema, value, path)
        if "enum" in schema and not self._is_choice(value, schema["enum"]):
            spend_work(len(schema["enum"]))
            choices = [each if isinstance(each, str) else json.dumps(each) for each in schema["enum"]]
            yield not_supported(path, value, choices)
        match value:
            case str():
                yield from _text_faults(schema, value, path)
            case int() | float() if not isinstance(value, bool):
                yield from _number_faults(schema, value, path)
            case list():
                yield from _count_faults(schema, value, path, "items")
                if schema.get("uniqueItems") and any(repeats(value)):
                    yield invalid(path, "", f"{_body(path)} shouldn't contain duplicates")
            case dict():
                yield from _count_faults(schema, value, path, "properties")
                names = schema.get("required", ())
                spend_work(len(names))
                yield from (required(join_key(path, name)) for name in names if name not in value)
        if isinstance(value, dict | list):
            for part in parts_within(Part(schema, value, path, old), join_key):
                yield from self.faults(*part)

    def _junctor_faults(self, schema: Schema, value: Any, path: str) -> Iterator[Cause]:
        """Yield what of a value does not fit the alternatives (schemaPropsValidator). If none of anyOf or
        oneOf fits, the faults of the one that has most to say about the value follow."""
        for name in ("anyOf", "oneOf", "allOf"):
            schemas: list[Schema] = schema.get(name) or []
            found = [[*self.faults(each, value, path)] for each in schemas]
            fitting = sum(not faults for faults in found)
            if name == "anyOf" and schemas and not fitting:
                yield _junctor_fault(path, "must validate at least one schema (anyOf)")
                yield from _of_best(schemas, found, value)
            elif name == "oneOf" and schemas and fitting != 1:
                detail = f"Found {fitting} valid alternatives" if fitting else "Found none valid"
                yield _junctor_fault(path, f"must validate one and only one schema (oneOf). {detail}")
                yield from _of_best(schemas, found, value) if not fitting else ()
            elif name == "allOf" and fitting < len(schemas):
                yield from chain.from_iterable(found)
                detail = "" if fitting else ". None validated"
                yield _junctor_fault(path, f"must validate all the schemas (allOf){detail}")
        negated = schema.get("not")
        if isinstance(negated, dict) and not any(self.faults(negated, value, path)):
            yield _junctor_fault(path, "must not validate the schema (not)")

    def _is_choice(self, value: Any, choices: list[Any]) -> bool:
        known = self._choices.get(id(choices))
        if known is None:
            known = self._choices[id(choices)] = frozenset(map(_choice, choices))
        return _choice(value) in known


def _junctor_fault(path: str, detail: str) -> Cause:
    """Return the fault of a junctor. Upstream's error has no field; the text contains it."""
    return invalid("<nil>", "", f"{quote(path)} {detail}")


def _of_best(schemas: list[Schema], found: list[list[Cause]], value: Any) -> list[Cause]:
    """Return the faults of the alternative with which most parts of the value are compared, the first of
    several."""
    counts = [_count_compared(schema, value) for schema in schemas]
    return found[counts.index(max(counts))]


def _count_compared(schema: Schema, value: Any) -> int:
    spend_work(1)
    match value:
        case dict():
            fields = schema.get("properties") or {}
            return 1 + sum(_count_compared(fields[name], value[name]) for name in value if name in fields)
        case list() if isinstance(schema.get("items"), dict):
            return 1 + sum(_count_compared(schema["items"], item) for item in value)
    return 1


def _choice(value: Any) -> Hashable:
    """Return what a value and an equal choice have in common: numbers may be written in two ways."""
    return identity(int(value) if isinstance(value, float) and value.is_integer() else value)


def _type_name(value: Any) -> str:
    return _TYPES.get(type(value), "object")


def _has_type(schema: Schema, value: Any) -> bool:
    wanted = schema.get("type")
    if not wanted:
        return True
    name = _type_name(value)
    choices = wanted if isinstance(wanted, list) else [wanted]
    return (
        name in choices
        or (name == "integer" and "number" in choices)
        or (isinstance(value, float) and value.is_integer() and "integer" in choices)
    )


def _wrong_type(path: str, given: str, schema: Schema) -> Cause:
    wanted = schema["type"]
    named = wanted if isinstance(wanted, str) else ",".join(wanted)
    detail = f'{_body(path)} must be of type {named}: "{given}"'
    return Cause(path or "<nil>", f'Invalid value: "{given}": {detail}', "FieldValueTypeInvalid")


def _body(path: str) -> str:
    return f"{path} in body" if path else "<nil> in body"


def _text_faults(schema: Schema, value: str, path: str) -> Iterator[Cause]:
    if len(value) > schema.get("maxLength", len(value)):
        yield too_long(path, schema["maxLength"])
    if len(value) < schema.get("minLength", 0):
        yield invalid(path, value, f"{_body(path)} should be at least {schema['minLength']} chars long")
    form = schema.get("format", "")
    if not has_format(form, value):
        detail = f"{_body(path)} must be of type {form}: {quote(value)}"
        yield Cause(path or "<nil>", f"Invalid value: {quote(value)}: {detail}", "FieldValueTypeInvalid")
    pattern = schema.get("pattern")
    if pattern:
        yield from _pattern_faults(pattern, value, path)


def _pattern_faults(pattern: str, value: str, path: str) -> Iterator[Cause]:
    try:
        matches = Regexp(pattern).is_found_in(value)
    except OutOfWork as error:
        yield invalid(path, value, f"{_body(path)} could not be matched with '{pattern}': {error}")
    except PatternFault:  # the definition is refused for it
        return
    else:
        if not matches:
            yield invalid(path, value, f"{_body(path)} should match '{pattern}'")


def _number_faults(schema: Schema, value: float, path: str) -> Iterator[Cause]:
    least, most, step = schema.get("minimum"), schema.get("maximum"), schema.get("multipleOf")
    if most is not None and (value >= most if schema.get("exclusiveMaximum") else value > most):
        relation = "less than" if schema.get("exclusiveMaximum") else "less than or equal to"
        yield invalid(path, value, f"{_body(path)} should be {relation} {most}")
    if least is not None and (value <= least if schema.get("exclusiveMinimum") else value < least):
        relation = "greater than" if schema.get("exclusiveMinimum") else "greater than or equal to"
        yield invalid(path, value, f"{_body(path)} should be {relation} {least}")
    if step and value % step:
        yield invalid(path, value, f"{_body(path)} should be a multiple of {step}")


def _count_faults(schema: Schema, value: Collection[Any], path: str, counted: str) -> Iterator[Cause]:
    """Yield the faults of ``minItems``, ``maxItems`` and their like. ``counted``: items or properties."""
    least, most = (schema.get(f"{bound}{counted.capitalize()}") for bound in ("min", "max"))
    if most is not None and len(value) > most:
        yield too_many(path, len(value), most)
    if least is not None and len(value) < least:
        yield invalid(path, len(value), f"{_body(path)} should have at least {least} {counted}")


_json_of: Final = json.JSONEncoder(sort_keys=True).encode
"""Writes a value as JSON that is the same for equal values. ``json.dumps`` would make an encoder for each."""


def list_type_faults(schema: Schema, value: Any) -> Iterator[Cause]:
    """Yield the repeated items of all lists of a value."""
    for part in parts_of(Part(schema, value)):
        kind = part.schema.get(LIST_TYPE)
        if not isinstance(part.value, list) or kind not in ("set", "map"):
            continue
        seen: set[str] = set()
        for index, item in enumerate(part.value):
            if kind == "set" or isinstance(item, dict):
                identity = keys_of(part.schema, item) if kind == "map" else item
                text = _json_of(identity)
                if text in seen:
                    yield duplicate(f"{part.path}[{index}]", identity)
                seen.add(text)
