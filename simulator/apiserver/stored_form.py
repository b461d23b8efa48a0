"""The form in which objects are stored: without nulls (null means "not set") and empty values, with
quantities and base64 in canonical form, and with Go's zero values for missing fields that upstream always
writes.

One function is compiled for each type. It also notes what is not as a type demands, or not as Go's decoder
takes it, so that the slower walks that say what is wrong are needed only then.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from simulator.apiserver.base64_text import IllegalBase64, canonical_base64
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import (
    INT_LIMITS,
    STRING,
    Field,
    ListType,
    MapType,
    OwnType,
    Scalar,
    StructType,
    Type,
    once_per_type,
)
from simulator.apiserver.types.zero_values import keeps_empty, writes_zero, zero_value
from simulator.objects import quantity
from simulator.objects.timestamps import is_timestamp

Misfits = list[Any]
"""The values that do not fit their type, and those that Go's decoder treats in another way: whole numbers
with a point, nulls in maps, objects that repeat a key."""
Normalize = Callable[[Any, Misfits], Any]
"""A function that returns a copy of a value of one type in the stored form. It returns a value that does not
fit as it is, and notes it."""


@once_per_type
def normalizer(of: Type) -> Normalize:
    """Return the function for a type. The depth of recursion is bounded by
    :data:`simulator.apiserver.bounds.MAX_DEPTH`."""
    match of:
        case StructType():
            return _struct(of)
        case ListType():
            return _list(of.items)
        case MapType():
            return _map(of.values)
        case OwnType():
            return _OWN.get(of.short_name) or _alternatives(of)
        case Scalar():
            return _SCALARS[of.kind]
    return _as_it_is


class _Known(NamedTuple):
    """A declared field."""

    normalize: Normalize
    dropped: type | None
    """The type of the empty value that is left out; None if any value is kept."""
    accepted: tuple[str, ...]
    """The only values of a kind's apiVersion or kind; () = any."""


class _Fields(NamedTuple):
    known: dict[str, _Known]
    zeros: list[tuple[str, Normalize, Any]]
    """What is added where it is missing: the name, and a function with its argument."""


def _struct(of: StructType) -> Normalize:
    fields: _Fields | None = None

    def normalize(value: Any, misfits: Misfits) -> Any:
        nonlocal fields
        if type(value) is not dict and not _is_plain_object(value, misfits):
            return value
        if fields is None:
            # Only now, as a type may contain itself. Several threads may come here at once.
            fields = _fields_of(of)
        kept = {}
        for name, item in value.items():
            known = fields.known.get(name)
            if known is None:
                if of.others is None:
                    misfits.append(item)
                kept[name] = item  # the content of a custom resource keeps its nulls
            elif item is not None:
                normal = known.normalize(item, misfits)
                if normal or type(normal) is not known.dropped:
                    kept[name] = normal
                if known.accepted and normal not in known.accepted:
                    misfits.append(normal)
        for name, add, zero in fields.zeros:
            if name not in kept:
                kept[name] = add(zero, misfits)
        return kept

    return normalize


def _fields_of(of: StructType) -> _Fields:
    accepted = dict(zip(("apiVersion", "kind"), zip(*of.kinds, strict=True), strict=False))
    known, zeros = {}, []
    for name, field in of.fields.items():
        known[name] = _Known(normalizer(field.type), _dropped_type(field), accepted.get(name, ()))
        if not of.reports_missing and _adds_zero(field):
            is_struct = isinstance(field.type, StructType)
            add = known[name].normalize if is_struct else _as_it_is
            zeros.append((name, add, {} if is_struct else zero_value(field.type)))
    return _Fields(known, zeros)


def _is_plain_object(value: Any, misfits: Misfits) -> bool:
    """Whether the value is an object. Notes one that repeats a key: a RecordedObject knows it."""
    if not isinstance(value, dict) or bool(getattr(value, "repeated", "")):
        misfits.append(value)
    return isinstance(value, dict)


def _dropped_type(field: Field) -> type | None:
    """Return the type of the empty value of a field that is left out; None if any value is kept."""
    match field.type:
        case ListType() if field.name == "managedFields":
            return None  # an empty list removes all managers
        case ListType():
            return None if field.is_required else list  # where it is not, upstream writes null
        case MapType():
            return None if field.is_required else dict
        case Scalar(kind=kind) if not keeps_empty(field):
            return {"string": str, "bytes": str, "bool": bool, "float64": None}.get(kind, int)
    return None


def _adds_zero(field: Field) -> bool:
    """Whether a missing field is written with its zero value. Upstream writes null for lists and maps."""
    return writes_zero(field) and not field.is_pointer and not isinstance(field.type, ListType | MapType)


def _list(items: Type) -> Normalize:
    normalize_item = normalizer(items)

    def normalize(value: Any, misfits: Misfits) -> Any:
        if not isinstance(value, list):
            misfits.append(value)
            return value
        return [normalize_item(item, misfits) for item in value]

    return normalize


def _map(values: Type) -> Normalize:
    normalize_item = normalizer(values)

    def normalize(value: Any, misfits: Misfits) -> Any:
        if type(value) is not dict and not _is_plain_object(value, misfits):
            return value
        if None in value.values():
            misfits.append(value)
            value = {key: item for key, item in value.items() if item is not None}
        return {key: normalize_item(item, misfits) for key, item in value.items()}

    return normalize


def _alternatives(of: OwnType) -> Normalize:
    """Return the function for a JSON schema of a CustomResourceDefinition, or what may be in its place
    (JSONSchemaPropsOrBool, JSONSchemaPropsOrArray, JSONSchemaPropsOrStringArray)."""
    schema, _, other = of.name.rpartition("Or")
    normalize_schema = normalizer(api_types().struct(schema))
    normalize_list = _list(STRING if other == "StringArray" else api_types().struct(schema))

    def normalize(value: Any, misfits: Misfits) -> Any:
        if isinstance(value, dict):
            return normalize_schema(value, misfits)
        return _boolean(value, misfits) if other == "Bool" else normalize_list(value, misfits)

    return normalize


def _as_it_is(value: Any, misfits: Misfits) -> Any:
    return value


def _instance_of(kind: type) -> Normalize:
    def normalize(value: Any, misfits: Misfits) -> Any:
        if not isinstance(value, kind):
            misfits.append(value)
        return value

    return normalize


def _number(value: Any, misfits: Misfits) -> Any:
    if not isinstance(value, int | float) or isinstance(value, bool):
        misfits.append(value)
    return value


def _integer(limit: int) -> Normalize:
    def normalize(value: Any, misfits: Misfits) -> Any:
        if type(value) is float and value.is_integer():
            misfits.append(value)
            value = int(value)
        if type(value) is not int or not -limit <= value < limit:
            misfits.append(value)
        return value

    return normalize


def _int_or_string(value: Any, misfits: Misfits) -> Any:
    return value if isinstance(value, str) else _int32(value, misfits)


def _quantity(value: Any, misfits: Misfits) -> Any:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            return quantity.canonical(value)
        except quantity.QuantityError:
            pass
    misfits.append(value)
    return value


def _bytes(value: Any, misfits: Misfits) -> Any:
    if isinstance(value, str):
        try:
            return canonical_base64(value)
        except IllegalBase64:
            pass
    misfits.append(value)
    return value


def _time(value: Any, misfits: Misfits) -> Any:
    if not isinstance(value, str) or not is_timestamp(value):
        misfits.append(value)
    return value


_boolean: Final = _instance_of(bool)
_int32: Final = _integer(INT_LIMITS["int32"])
_SCALARS: Final[dict[str, Normalize]] = {
    "string": _instance_of(str),
    "bool": _boolean,
    "bytes": _bytes,
    "float64": _number,
    "int32": _int32,
    "int64": _integer(INT_LIMITS["int64"]),
}
_OWN: Final[dict[str, Normalize]] = {
    "FieldsV1": _instance_of(dict),
    "IntOrString": _int_or_string,
    "JSON": _as_it_is,
    "MicroTime": _time,
    "Quantity": _quantity,
    "RawExtension": _as_it_is,
    "Time": _time,
}
"""The functions for the types that decode themselves."""
