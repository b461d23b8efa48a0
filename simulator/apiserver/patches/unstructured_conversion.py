"""Converts a merged object to its type: one that was patched strategically, or applied.

Upstream: fromUnstructured in apimachinery/pkg/runtime/converter.go.
"""

from typing import Any, Final, NamedTuple

from simulator.apiserver.request_decoding.typed_values import TypedValues
from simulator.apiserver.resource import Resource
from simulator.apiserver.types.model import ListType, MapType, Scalar, StructType, Type
from simulator.apiserver.types.schema_types import decoded_type

_KINDS: Final[dict[type, str]] = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "slice",
}
_SCALARS: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "bool": (bool,),
    "int32": (int,),
    "int64": (int,),
    "float64": (int, float),
}


class Converted(NamedTuple):
    """An object with the fields of its type. ``error`` is the reason if it is none, else ""."""

    manifest: Any
    error: str
    unknown: list[str]


def from_unstructured(resource: Resource, value: Any) -> Converted:
    """Convert an object of a built-in resource."""
    of = decoded_type(resource)
    error = conversion_error(of, value)
    decoder = TypedValues(names_fields=False)
    decoded = decoder.decode(of, value)
    return Converted(decoded, error or decoder.error, decoder.strict)


def conversion_error(of: Type, value: Any) -> str:
    """Return the first error; "" if the value fits, or only its text is wrong."""
    if value is None:
        return ""
    kind = "map" if isinstance(value, dict) else _KINDS[type(value)]
    match of:
        case StructType() if not isinstance(value, dict):
            return f"cannot restore struct from: {kind}"
        case StructType():
            known = ((of.fields[name].type, value[name]) for name in sorted(value) if name in of.fields)
            return next(filter(None, (conversion_error(field, item) for field, item in known)), "")
        case MapType() if not isinstance(value, dict):
            return f"cannot restore map from {kind}"
        case MapType():
            items = (value[name] for name in sorted(value))
            return next(filter(None, (conversion_error(of.values, item) for item in items)), "")
        case ListType() if not isinstance(value, list):
            return f"cannot restore slice from {kind}"
        case ListType():
            return next(filter(None, (conversion_error(of.items, item) for item in value)), "")
        case Scalar() if of.kind != "bytes":
            return _scalar_error(of, value, kind)
    return ""


def _scalar_error(of: Scalar, value: Any, kind: str) -> str:
    is_integer = of.kind in ("int32", "int64")
    if type(value) in _SCALARS[of.kind] or (is_integer and isinstance(value, float) and value.is_integer()):
        return ""
    # Go itself converts whole numbers to texts and fractions to numbers: these have another text.
    if (type(value) is int and of.kind == "string") or (type(value) is float and is_integer):
        return f"cannot convert {kind} to {of.go_name}"
    return f"unrecognized type: {of.kind}"
