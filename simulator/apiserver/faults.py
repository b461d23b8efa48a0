"""Validation of values against their schema: unknown and missing fields, wrong types and formats.

The library jsonschema finds the errors; this module converts them to the causes that the API server reports.
"""

import difflib
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from referencing.jsonschema import DRAFT202012, SchemaRegistry

from simulator.apiserver.base64_text import IllegalBase64, decode_base64
from simulator.apiserver.schema import ZEROS, definitions, resolve_reference
from simulator.apiserver.status import Cause, invalid, not_supported, required
from simulator.objects import quantity
from simulator.objects.timestamps import NO_TIMESTAMP, is_timestamp

MAX_CAUSES = 50
"""Maximum number of faults in one response."""
MAX_SHOWN = 300
"""Maximum number of characters of a key in a message, because a key may be as long as the request."""


def find_schema_faults(type_name: str, value: Any) -> list[Cause]:
    """Return the faults of a value (without nulls) against its schema: at most MAX_CAUSES, sorted by field.

    Missing fields come last, as upstream: often a misspelt field, which is listed earlier, is the reason."""
    errors = _validator(type_name).iter_errors(value)
    causes = {*islice((cause for error in errors for cause in _to_causes(type_name, error)), MAX_CAUSES)}
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
"""Checks of strings and numbers by ``format``. They accept values of other types, for which ``type`` is
reported."""


@FORMATS.checks("date-time", raises=ValueError)
def _is_time(value: object) -> bool:
    if isinstance(value, str) and not is_timestamp(value):
        raise ValueError(NO_TIMESTAMP)
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


@FORMATS.checks("byte", raises=IllegalBase64)
def _is_base64(value: object) -> bool:
    if isinstance(value, str):
        decode_base64(value)
    return True


@FORMATS.checks("quantity", raises=quantity.QuantityError)
def _is_quantity(value: object) -> bool:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        quantity.canonical(value)
    return True


def _to_causes(type_name: str, error: ValidationError) -> Iterator[Cause]:
    """Convert one error of jsonschema to causes with the API server's messages."""
    field = _field_path(type_name, error.absolute_path)
    value: Any = error.instance
    schema: Any = error.schema
    expected: Any = error.validator_value
    match error.validator:
        case "additionalProperties":
            for key in value:
                if key not in schema["properties"]:
                    yield _unknown_field(_join_path(field, key), key, schema["properties"])
        # For the types of Kubernetes, missing fields are found by their validation.
        case "required" if ZEROS not in schema:
            for key in expected:
                if key not in value:
                    yield required(_join_path(field, key))
        case "type" | "anyOf":
            wanted = schema.get("title", expected)
            scalar = isinstance(value, bool | int | float)
            hint = "; put it in quotes" if wanted == "string" and scalar else ""
            message = invalid(field, value, f"must be of type {wanted}{hint}").message
            yield Cause(field, message, "FieldValueTypeInvalid")
        case "format":
            close = quantity.suggest(value) if expected == "quantity" else []
            hint = "; did you mean " + " or ".join(f'"{each}"' for each in close) + "?" if close else ""
            yield invalid(field, value, f"{error.cause}{hint}")
        case "enum":
            yield not_supported(field, value, expected)


def _unknown_field(field: str, key: str, fields: Iterable[str]) -> Cause:
    close = difflib.get_close_matches(key[:100], fields, n=1)
    hint = f'; did you mean "{close[0]}"?' if close else ""
    return Cause(field, f'unknown field "{field}"{hint}')


def _field_path(type_name: str, path: Iterable[str | int]) -> str:
    """Return a path in the API server's notation: ``spec.containers[0].resources.requests[cpu]``."""
    schema, field = definitions()[type_name], ""
    for part in path:
        fields = schema.get("properties", {})
        if part in fields:
            field, schema = _join_path(field, str(part)), fields[part]
        else:
            field = f"{field}[{str(part)[:MAX_SHOWN]}]"
            schema = schema.get("items") or schema["additionalProperties"]
        schema = resolve_reference(schema)
    return field


def _join_path(field: str, key: str) -> str:
    return f"{field}.{key[:MAX_SHOWN]}" if field else key[:MAX_SHOWN]
