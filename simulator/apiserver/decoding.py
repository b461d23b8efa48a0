"""Decoding of request bodies into the stored form. Unknown fields and wrong types are faults (the API
server's strict field validation)."""

from collections.abc import Callable, Container
from typing import Any

from simulator.api import Manifest
from simulator.apiserver.base64_text import IllegalBase64, canonical_base64
from simulator.apiserver.custom_resources.embedded_resources import embedded_resources
from simulator.apiserver.faults import find_schema_faults
from simulator.apiserver.resources import Resource
from simulator.apiserver.schema import (
    KEPT,
    OBJECT_META,
    ZEROS,
    Schema,
    definitions,
    resolve_reference,
    type_name_of,
)
from simulator.apiserver.status import BadRequest, Cause
from simulator.apiserver.structural_schema import EMBEDDED, structural_schema
from simulator.apiserver.zero_values import is_dropped
from simulator.objects import quantity


def decode(resource: Resource, manifest: Manifest) -> tuple[Manifest, list[Cause]]:
    """Return the manifest in its stored form, and its faults.

    The result is a copy without nulls (null means "not set") and empty values, with quantities in canonical
    form, and with Go's zero values for missing fields that upstream always writes. For a kind without a
    schema only ``metadata`` is checked, and that of the resources in a custom one.
    """
    normal, causes = _decode_as(type_name_of(resource), manifest)
    if EMBEDDED in resource.schema_text:
        for path, embedded in embedded_resources(structural_schema(resource.schema_text), normal):
            _, found = _decode_as(OBJECT_META, embedded.get("metadata") or {})
            causes += [
                Cause(f"{path}.metadata.{cause.field}", cause.message, cause.reason) for cause in found
            ]
    return normal, causes


def stored_form(type_name: str, value: Manifest) -> Manifest:
    """Return a copy of a value of a type, which has no faults, as it is stored."""
    return dict(_normalize(definitions()[type_name], value))


def decode_body(type_name: str, value: Manifest) -> Manifest:
    """Decode a request body of a type that is not stored: Binding, Eviction, DeleteOptions. The caller checks
    for missing fields. Raises BadRequest."""
    body, causes = _decode_as(type_name, value)
    wrong = [cause for cause in causes if cause.reason != "FieldValueRequired"]
    if wrong:
        raise BadRequest(f"{type_name.rpartition('.')[2]}: {wrong[0]}", causes=wrong)
    return dict(body)


def _decode_as(type_name: str, value: Any) -> tuple[Any, list[Cause]]:
    normal = _normalize(definitions()[type_name], value)
    return normal, find_schema_faults(type_name, normal)


def _normalize(of: Schema, value: Any) -> Any:
    """Return a copy in the stored form. Values that do not fit the schema are copied unchanged;
    :func:`find_schema_faults` reports them.

    The depth of recursion is bounded by :data:`simulator.apiserver.bounds.MAX_DEPTH`."""
    of = resolve_reference(of)
    match value:
        case dict():
            return _normalize_fields(of, value)
        case list():
            return [_normalize(of.get("items", {}), item) for item in value]
        case str() | int() | float() if of.get("format") == "quantity":
            return _canonical_or_unchanged(quantity.canonical, value)
        case str() if of.get("format") == "byte":
            return _canonical_or_unchanged(canonical_base64, value)
        case float() if value.is_integer() and "integer" in of.get("type", ()):
            return int(value)
    return value


def _normalize_fields(of: Schema, value: Manifest) -> Manifest:
    fields, others = of.get("properties", {}), of.get("additionalProperties")
    kept_empty: Container[str] = of.get(KEPT) or of.get("required", ())
    kept = {}
    for key, item in value.items():
        schema = fields.get(key, others)
        if not schema:
            # The content of a custom resource keeps its nulls.
            kept[key] = item
        elif item is not None:
            normal = _normalize(schema, item)
            if normal or key not in fields or key in kept_empty or not is_dropped(normal, schema):
                kept[key] = normal
    for key, zero in of.get(ZEROS, {}).items():
        if key not in kept:
            kept[key] = _normalize(fields[key], zero)
    return kept


def _canonical_or_unchanged(canonical: Callable[[Any], str], value: Any) -> Any:
    try:
        return value if isinstance(value, bool) else canonical(value)
    except (quantity.QuantityError, IllegalBase64):
        return value
