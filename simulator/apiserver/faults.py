"""Faults of values that do not fit their type: unknown and missing fields, wrong types and formats, in the
words of the API server."""

import difflib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from simulator.apiserver.base64_text import IllegalBase64, decode_base64
from simulator.apiserver.bounds import index_key, join_key
from simulator.apiserver.status import Cause, invalid, not_supported, required
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import (
    INT_LIMITS,
    STRING,
    ListType,
    MapType,
    OwnType,
    Scalar,
    StructType,
    Type,
)
from simulator.objects import quantity
from simulator.objects.timestamps import NO_TIMESTAMP, is_timestamp

MAX_CAUSES = 50
"""Maximum number of faults in one response."""
_TYPE_NAMES: Final = {
    "bool": "boolean",
    "bytes": "string",
    "float64": "number",
    "int32": "integer",
    "int64": "integer",
    "FieldsV1": "object",
    "IntOrString": "integer or string",
    "JSONSchemaPropsOrArray": "JSON schema or array of JSON schemas",
    "JSONSchemaPropsOrBool": "boolean or JSON schema",
    "JSONSchemaPropsOrStringArray": "JSON schema or array of strings",
    "MicroTime": "string",
    "Quantity": "quantity",
    "Time": "string",
}
"""What a value must be, in messages, by the kind of a scalar or the name of a type."""


def find_faults(of: Type, value: Any) -> list[Cause]:
    """Return the faults of a value without nulls: at most MAX_CAUSES, sorted by field.

    Missing fields come last, as upstream: often a misspelt field, which is listed earlier, is the reason."""
    causes = {*islice(_faults(of, value, ""), MAX_CAUSES)}
    return sorted(
        causes, key=lambda cause: (cause.reason == "FieldValueRequired", cause.field, cause.message)
    )


def _faults(of: Type, value: Any, path: str) -> Iterator[Cause]:
    match of, value:
        case StructType(), dict():
            yield from _struct_faults(of, value, path)
        case ListType(), list():
            for index, item in enumerate(value):
                yield from _faults(of.items, item, f"{path}[{index}]")
        case MapType(), dict():
            for key, item in value.items():
                yield from _faults(of.values, item, index_key(path, key))
        case StructType() | MapType(), _:
            yield _wrong_type(path, value, "object")
        case ListType(), _:
            yield _wrong_type(path, value, "array")
        case Scalar(kind=kind), _:
            yield from _scalar_faults(kind, value, path)
        case OwnType(), _:
            yield from _own_faults(of, value, path)


def _struct_faults(of: StructType, value: dict[str, Any], path: str) -> Iterator[Cause]:
    for name, item in value.items():
        at = join_key(path, name)
        if name in of.fields:
            yield from _faults(of.fields[name].type, item, at)
            if of.kinds and name in ("apiVersion", "kind"):
                accepted = [*dict.fromkeys(kind[name == "kind"] for kind in of.kinds)]
                if item not in accepted:
                    yield not_supported(at, item, accepted)
        elif of.others is None:
            yield _unknown_field(at, name, of.fields)
    for field in of.fields.values() if of.reports_missing else ():
        if field.is_required and field.name not in value:
            yield required(join_key(path, field.name))


def _scalar_faults(kind: str, value: Any, path: str) -> Iterator[Cause]:
    match kind, value:
        case ("string", str()) | ("bool", bool()):
            return
        case "bytes", str():
            try:
                decode_base64(value)
            except IllegalBase64 as error:
                yield invalid(path, value, str(error))
        case (("int32" | "int64" | "float64"), int()) if not isinstance(value, bool):
            limit = INT_LIMITS.get(kind)
            if limit is not None and not -limit <= value < limit:
                yield invalid(path, value, f"must be in the range of {kind}")
        case "float64", float():
            return
        case _:
            yield _wrong_type(path, value, _TYPE_NAMES.get(kind, kind))


def _own_faults(of: OwnType, value: Any, path: str) -> Iterator[Cause]:
    match of.short_name, value:
        case (("JSON" | "RawExtension"), _):
            return
        case "FieldsV1", dict():
            return
        case (("Time" | "MicroTime"), str()):
            if not is_timestamp(value):
                yield invalid(path, value, NO_TIMESTAMP)
        case "IntOrString", str():
            return
        case "IntOrString", int() if not isinstance(value, bool):
            yield from _scalar_faults("int32", value, path)
        case "Quantity", str() | int() | float() if not isinstance(value, bool):
            yield from _quantity_faults(value, path)
        case name, _:
            schema, _, other = of.name.rpartition("Or")
            items = STRING if other == "StringArray" else api_types().find(schema)
            if isinstance(value, dict) and schema.endswith("JSONSchemaProps"):
                yield from _faults(api_types().struct(schema), value, path)
            elif isinstance(value, list) and other.endswith("Array") and items is not None:
                yield from _faults(ListType(items), value, path)
            elif other != "Bool" or not isinstance(value, bool):
                yield _wrong_type(path, value, _TYPE_NAMES[name])


def _quantity_faults(value: Any, path: str) -> Iterator[Cause]:
    try:
        quantity.canonical(value)
    except quantity.QuantityError as error:
        close = quantity.suggest(value)
        hint = "; did you mean " + " or ".join(f'"{each}"' for each in close) + "?" if close else ""
        yield invalid(path, value, f"{error}{hint}")


def _wrong_type(path: str, value: Any, wanted: str) -> Cause:
    is_scalar = isinstance(value, bool | int | float)
    hint = "; put it in quotes" if wanted == "string" and is_scalar else ""
    message = invalid(path, value, f"must be of type {wanted}{hint}").message
    return Cause(path, message, "FieldValueTypeInvalid")


def _unknown_field(path: str, name: str, fields: Iterable[str]) -> Cause:
    close = difflib.get_close_matches(name[:100], fields, n=1)
    hint = f'; did you mean "{close[0]}"?' if close else ""
    return Cause(path, f'unknown field "{path}"{hint}')
