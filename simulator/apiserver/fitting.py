"""Conversion of objects of another API server to the schemas of v1.34: unknown fields are left out.

:mod:`simulator.apiserver.decoding`, for manifests that users write, refuses unknown fields instead.
"""

from collections.abc import Callable
from typing import Any, Final

from jsonschema.exceptions import FormatError

from simulator.api import Manifest
from simulator.apiserver.faults import FORMATS
from simulator.apiserver.resources import Resource
from simulator.apiserver.schema import Schema, resolve_reference, schema_of
from simulator.objects import quantity

ReportField = Callable[[str], None]
"""A function that is called with the path of each field that is left out."""

TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


class Unfit(ValueError):
    """A required field is missing or has a wrong value. The message is the field's path."""


def fit_to_schema(resource: Resource, manifest: Manifest, note: ReportField) -> Manifest:
    """Return a copy that fits the resource's schema, without nulls and with canonical quantities. Raises
    Unfit."""
    fitted: Manifest = _fit_value(schema_of(resource), manifest, "", note)
    return fitted


def _fit_value(of: Schema, value: Any, path: str, note: ReportField) -> Any:
    """Return a copy of a value that fits its schema. The depth of recursion is bounded by the schema's."""
    of = resolve_reference(of)
    wanted = of.get("type")
    if wanted is not None and not _has_type(value, wanted):
        raise Unfit(path)
    if isinstance(value, dict):
        return _fit_object(of, value, path, note)
    if isinstance(value, list):
        items = of.get("items")
        return [_fit_value(items, item, f"{path}[]", note) for item in value] if items else value
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


def _fit_object(of: Schema, value: Manifest, path: str, note: ReportField) -> Manifest:
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
                    kept[key] = _fit_value(schema, item, at, note)
                except Unfit as unfit:
                    if key in of.get("required", ()):
                        raise
                    note(str(unfit))
        else:
            kept[key] = item
    for key in of.get("required", ()):
        # A status may lack required fields: counters that are 0, the message of a condition.
        if key not in kept and not path.startswith("status"):
            raise Unfit(f"{path}.{key}" if path else key)
    return kept


def _has_type(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return any(_has_type(value, each) for each in wanted)
    if isinstance(value, bool):
        return bool(wanted == "boolean")
    return isinstance(value, TYPES[wanted])
