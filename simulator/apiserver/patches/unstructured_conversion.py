"""Converts a merged object to its type: one that was patched strategically, or applied.

Upstream: fromUnstructured in apimachinery/pkg/runtime/converter.go, v1.34.
"""

from typing import Any, Final, NamedTuple

from simulator.apiserver.request_decoding.go_type_names import NAMED_TYPES
from simulator.apiserver.request_decoding.typed_values import TypedValues
from simulator.apiserver.resources import Resource
from simulator.apiserver.schema import Schema, reference_of, resolve_reference, type_name_of

_KINDS: Final[dict[type, str]] = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "slice",
}
_SCALARS: Final = {"string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float)}
_GO_KINDS: Final = {"boolean": "bool", "integer": "int64", "number": "float64"}


class Converted(NamedTuple):
    """An object with the fields of its type. ``error`` is the reason if it is none, else ""."""

    manifest: Any
    error: str
    unknown: list[str]


def from_unstructured(resource: Resource, value: Any) -> Converted:
    """Convert an object of a built-in resource."""
    error = conversion_error(reference_of(resource), value)
    decoder = TypedValues(names_fields=False)
    decoded = decoder.decode(type_name_of(resource), value)
    return Converted(decoded, error or decoder.error, decoder.strict)


def conversion_error(schema: Schema, value: Any, named_type: str = "") -> str:
    """Return the first error; "" if the value fits, or only its text is wrong. ``named_type``: the name of
    the Go type, if it is a text with a name or a list of these."""
    of = resolve_reference(schema)
    if value is None:
        return ""
    kind = "map" if isinstance(value, dict) else _KINDS[type(value)]
    match of.get("type"):
        case "object" if not isinstance(value, dict):
            wanted, joint = ("struct", " from: ") if "properties" in of else ("map", " from ")
            return f"cannot restore {wanted}{joint}{kind}"
        case "object":
            others = of.get("additionalProperties")
            struct = schema.get("$ref", "").rpartition(".")[2]
            for name, item in sorted(value.items()):
                field = of.get("properties", {}).get(name) or (others if isinstance(others, dict) else {})
                if error := conversion_error(field, item, NAMED_TYPES.get(f"{struct}.{name}", "")):
                    return error
        case "array" if not isinstance(value, list):
            return f"cannot restore slice from {kind}"
        case "array":
            items, named = of.get("items", {}), named_type.removeprefix("[]")
            return next(filter(None, (conversion_error(items, item, named) for item in value)), "")
        case str() as scalar if scalar in _SCALARS and not of.get("format", "").startswith(("date", "byte")):
            is_whole = scalar == "integer" and isinstance(value, float) and value.is_integer()
            if type(value) not in _SCALARS[scalar] and not is_whole:
                wanted = _GO_KINDS.get(scalar, scalar)
                if scalar == "integer":
                    wanted = of.get("format", wanted)
                # Go itself converts whole numbers to texts and fractions to numbers: these have another text.
                if (type(value), scalar) in ((int, "string"), (float, "integer")):
                    return f"cannot convert {kind} to {named_type or wanted}"
                return f"unrecognized type: {wanted}"
    return ""
