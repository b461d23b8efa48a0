"""Has a value the fields and types of its schema, and no others?

The library jsonschema finds out; ours are the words of the API server for what it finds.
"""

import difflib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from referencing.jsonschema import DRAFT202012, SchemaRegistry

from simulator.apiserver.schema import definitions, referenced
from simulator.apiserver.status import Cause, invalid, not_supported, required
from simulator.objects import quantity

MAX_CAUSES = 50
"""Faults that one answer lists; nobody reads more, and each costs room in the answer."""
MAX_SHOWN = 300
"""Characters of a key that a fault shows: a key may be as long as the request."""


def faults(type_name: str, value: Any) -> list[Cause]:
    """What keeps a value, its nulls left out, from being of a type: at most MAX_CAUSES, sorted by field. What
    is missing comes last, as upstream: a field misspelt is why."""
    errors = _validator(type_name).iter_errors(value)
    causes = {*islice((cause for error in errors for cause in _causes(type_name, error)), MAX_CAUSES)}
    return sorted(
        causes, key=lambda cause: (cause.reason == "FieldValueRequired", cause.field, cause.message)
    )


@cache
def _registry() -> SchemaRegistry:
    return SchemaRegistry().with_resources(
        (name, DRAFT202012.create_resource(schema)) for name, schema in definitions().items()
    )


@cache
def _validator(type_name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": type_name}, registry=_registry(), format_checker=FORMATS)


FORMATS = FormatChecker(())
"""What is said of texts and numbers beyond their type. A value of another type is another fault."""

_TIME = re.compile(
    r"\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)",
    re.ASCII,
)


@FORMATS.checks("date-time", raises=ValueError)
def _is_time(value: object) -> bool:
    if isinstance(value, str) and not _TIME.fullmatch(value):
        raise ValueError("must be a time as RFC 3339 has it: 2006-01-02T15:04:05Z")
    return True


@FORMATS.checks("int32", raises=ValueError)
def _is_int32(value: object) -> bool:
    if isinstance(value, int) and not -(1 << 31) <= value < 1 << 31:
        raise ValueError("must be in the range of int32")
    return True


@FORMATS.checks("int64", raises=ValueError)
def _is_int64(value: object) -> bool:
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise ValueError("must be in the range of int64")
    return True


@FORMATS.checks("quantity", raises=quantity.QuantityError)
def _is_quantity(value: object) -> bool:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        quantity.canonical(value)
    return True


def _causes(type_name: str, error: ValidationError) -> Iterator[Cause]:
    """One of the library's errors in the words of the API server."""
    field = _field(type_name, error.absolute_path)
    value: Any = error.instance
    schema: Any = error.schema
    expected: Any = error.validator_value
    match error.validator:
        case "additionalProperties":
            for key in value:
                if key not in schema["properties"]:
                    yield _unknown(_inside(field, key), key, schema["properties"])
        # A PodDisruptionBudget's counters are "required", yet the API server takes 0 for what is left out.
        case "required" if field != "status":
            for key in expected:
                if key not in value:
                    yield required(_inside(field, key))
        case "type":
            wanted = schema.get("title", expected)
            scalar = isinstance(value, bool | int | float)
            hint = "; put it in quotes" if wanted == "string" and scalar else ""
            message = invalid(field, value, f"must be of type {wanted}{hint}").message
            yield Cause(field, message, "FieldValueTypeInvalid")
        case "format":
            yield invalid(field, value, str(error.cause))
        case "enum":
            yield not_supported(field, value, expected)


def _unknown(field: str, key: str, fields: Iterable[str]) -> Cause:
    close = difflib.get_close_matches(key[:100], fields, n=1)
    hint = f'; did you mean "{close[0]}"?' if close else ""
    return Cause(field, f'unknown field "{field}"{hint}')


def _field(type_name: str, path: Iterable[str | int]) -> str:
    """A path as the API server writes it: ``spec.containers[0].resources.requests[cpu]``."""
    schema, field = definitions()[type_name], ""
    for part in path:
        fields = schema.get("properties", {})
        if part in fields:
            field, schema = _inside(field, str(part)), fields[part]
        else:
            field = f"{field}[{str(part)[:MAX_SHOWN]}]"
            schema = schema.get("items") or schema["additionalProperties"]
        schema = referenced(schema)
    return field


def _inside(field: str, key: str) -> str:
    return f"{field}.{key[:MAX_SHOWN]}" if field else key[:MAX_SHOWN]
