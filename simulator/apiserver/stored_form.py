"""The form in which objects are stored: without nulls (null means "not set") and empty values, with
quantities and base64 in canonical form, and with Go's zero values for missing fields that upstream always
writes.

One function is compiled for each type. It also notes what is not as a type demands, or not as Go's decoder
takes it, so that the slower walks that say what is wrong are needed only then.
"""

from collections.abc import Callable
from typing import Any, Final

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


def _struct(of: StructType) -> Normalize:
    fields: dict[str, tuple[Normalize, type | None]] = {}
    zeros: list[tuple[str, Normalize, Any]] = []
    kinds: dict[str, tuple[str, ...]] = {}

    def prepare() -> None:
        """Read the fields when the first value is normalized: a type may contain itself."""
        for field in of.fields.values():
            fields[field.name] = (normalizer(field.type), _dropped_type(field))
            if not of.reports_missing and _adds_zero(field):
                is_struct = isinstance(field.type, StructType)
                add = normalizer(field.type) if is_struct else _as_it_is
                zeros.append((field.name, add, {} if is_struct else zero_value(field.type)))
        if of.kinds:
            kinds["apiVersion"], kinds["kind"] = zip(*of.kinds, strict=True)

    def normalize(value: Any, misfits: Misfits) -> Any:
        if type(value) is not dict and not _is_plain_object(value, misfits):
            return value
        if not fields:
            prepare()
        kept = {}
        for name, item in value.items():
            known = fields.get(name)
            if known is None:
                if of.others is None:
                    misfits.append(item)
                kept[name] = item  # the content of a custom resource keeps its nulls
            elif item is not None:
                normal = known[0](item, misfits)
                if normal or type(normal) is not known[1]:
                    kept[name] = normal
                if name in kinds and normal not in kinds[name]:
                    misfits.append(normal)
        for name, zero_of, zero in zeros:
            if name not in kept:
                kept[name] = zero_of(zero, misfits)
        return kept

    return normalize


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
