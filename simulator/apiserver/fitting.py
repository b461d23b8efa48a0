"""Makes a value of another API server's fit our schemas: what they do not know is left out, not refused.

Unlike :mod:`simulator.apiserver.decoding`, which holds what people write to every field.
"""

from collections.abc import Callable
from typing import Any, Final

from jsonschema.exceptions import FormatError

from simulator.api import Manifest
from simulator.apiserver.faults import FORMATS
from simulator.apiserver.resources import Resource
from simulator.apiserver.schema import Schema, referenced, schema_of
from simulator.objects import quantity

Note = Callable[[str], None]
"""Takes the path of a field that is not known, or not of its type."""

TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


class Unfit(ValueError):
    """A value lacks what its type must have. The message is the field's path."""


def fit(resource: Resource, manifest: Manifest, note: Note) -> Manifest:
    """A copy that is of the resource's type, nulls left out, quantities in their canonical text. Raises
    Unfit."""
    fitted: Manifest = _fitted(schema_of(resource), manifest, "", note)
    return fitted


def _fitted(of: Schema, value: Any, path: str, note: Note) -> Any:
    """Raises Unfit, by the path of what is missing or wrong. Recursion goes no deeper than the schema."""
    of = referenced(of)
    wanted = of.get("type")
    if wanted is not None and not _is(value, wanted):
        raise Unfit(path)
    if isinstance(value, dict):
        return _object(of, value, path, note)
    if isinstance(value, list):
        items = of.get("items")
        return [_fitted(items, item, f"{path}[]", note) for item in value] if items else value
    if of.get("format") == "quantity":
        try:
            return quantity.canonical(value)
        except quantity.QuantityError:
            raise Unfit(path) from None
    if "format" in of:
        try:
            FORMATS.check(value, of["format"])
        except FormatError:
            raise Unfit(path) from None
    if "enum" in of and value not in of["enum"]:
        raise Unfit(path)
    return value


def _object(of: Schema, value: Manifest, path: str, note: Note) -> Manifest:
    fields, others = of.get("properties", {}), of.get("additionalProperties")
    kept = {}
    for key, item in value.items():
        schema = fields.get(key, others)
        at = f"{path}.{key}" if path else key
        if not isinstance(key, str) or schema is False or (schema is None and fields):
            if item is not None:
                note(at)
        elif isinstance(schema, dict):
            if item is not None:
                try:
                    kept[key] = _fitted(schema, item, at, note)
                except Unfit as unfit:
                    if key in of.get("required", ()):
                        raise
                    note(str(unfit))
        else:
            kept[key] = item
    for key in of.get("required", ()):
        # What components report is taken as it is: counters that are 0, conditions without a message.
        if key not in kept and not path.startswith("status"):
            raise Unfit(f"{path}.{key}" if path else key)
    return kept


def _is(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return any(_is(value, each) for each in wanted)
    if isinstance(value, bool):
        return bool(wanted == "boolean")
    return isinstance(value, TYPES[wanted])
