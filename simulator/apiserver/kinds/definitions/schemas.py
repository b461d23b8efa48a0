"""Validation of the schemas of a definition.

Upstream: validateCustomResourceDefinitionValidation and ValidateCustomResourceDefinitionOpenAPISchema in
apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, and ValidateDefaults in
apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go.
"""

import json
from collections.abc import Iterator
from typing import Final

from simulator.apiserver.custom_resources.coercion import prune
from simulator.apiserver.custom_resources.rules import RULES, rule_faults
from simulator.apiserver.custom_resources.schema_validation import schema_faults
from simulator.apiserver.go_structs import DEFINITION_TYPES, definition_struct
from simulator.apiserver.kinds.definitions.places import SchemaPlace, fields_of
from simulator.apiserver.kinds.definitions.rules import Expressions, compile_faults, rule_field_faults
from simulator.apiserver.kinds.definitions.structural import (
    list_type_faults,
    map_type_faults,
    structural_faults,
    undeclared_faults,
)
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported
from simulator.apiserver.structural_schema import EMBEDDED, META, PRESERVES, Schema, structural_schema
from simulator.apiserver.types.api_types import api_types

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_AT_ROOT: Final = (
    "Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum",
    "MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required",
    "Items", "Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
)  # fmt: skip
"""The fields of a root schema beside the subresource status, by their names in Go."""
_BESIDE_STATUS: Final = "at the root of the schema if the status subresource is enabled"
_UNSUPPORTED: Final = (
    "id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref",
)  # fmt: skip


class _Examined:
    """What was found in a schema and all below it."""

    def __init__(self) -> None:
        self.is_convertible = True
        """Whether no schema has a field that a structural one cannot have (validateUnsupportedFields)."""
        self.structural: list[Cause] = []
        self.faults: list[Cause] = []
        self.with_default: list[SchemaPlace] = []
        self.with_rules: list[SchemaPlace] = []
        """The schemas without faults whose rules are to be compiled."""

    def examine(self, place: SchemaPlace) -> None:
        schema, before = place.schema, len(self.faults)
        self.is_convertible &= not (
            any(schema.get(name) for name in (*_UNSUPPORTED, "$schema"))
            or schema.get(PRESERVES) is False
            or isinstance(schema.get("items"), list)
        )
        self.structural += structural_faults(place)
        if schema.get("default") is not None and place.closed and place.closed is not META:
            self.with_default.append(place)
        self.faults += _standard_faults(place)
        for below in place.places_below():
            self.examine(below)
        self.faults += _extension_faults(place)
        if schema.get(RULES) and place.level != "nested" and len(self.faults) == before:
            self.with_rules.append(place)


def validate_schema(schema: Schema, path: str, has_status: bool, stored: Expressions) -> list[Cause]:
    """Return the faults of the schema of a version, or of that of all versions. ``has_status``: it is that of
    objects with the subresource status. ``stored``: the expressions of the definition that is updated."""
    found = _Examined()
    found.examine(SchemaPlace(schema, structural_schema(json.dumps(schema)), path))
    faults = [*_root_faults(schema, path, has_status)]
    rules: list[Cause] = []
    if found.is_convertible:
        found.structural += undeclared_faults(schema, schema, path, path)
        structural = sorted(found.structural, key=str)
        structural = structural or [fault for place in found.with_default for fault in _default_faults(place)]
        if not structural:
            rules = [fault for place in found.with_rules for fault in compile_faults(place, stored)]
        faults += structural
    faults += [*found.faults, *rules]
    if not faults and not found.is_convertible:
        faults.append(invalid(path, "", "OpenAPIV3Schema 'schema' is not supported"))
    return faults


def _root_faults(schema: Schema, path: str, has_status: bool) -> Iterator[Cause]:
    kind = schema.get("type", "")
    fields = api_types().struct(f"{DEFINITION_TYPES}JSONSchemaProps").fields if has_status else {}
    if has_status and kind not in ("", "object"):
        yield invalid(f"{path}.type", kind, f'only "object" is allowed as the type {_BESIDE_STATUS}')
    elif any(schema.get(name) and field.go_name not in _AT_ROOT for name, field in fields.items()):
        detail = f"only [{' '.join(_AT_ROOT)}] fields are allowed {_BESIDE_STATUS}"
        yield invalid(path, definition_struct("JSONSchemaProps", schema), detail, whole=True)
    if schema.get("nullable"):
        yield forbidden(f"{path}.nullable", "nullable cannot be true at the root")


def _default_faults(place: SchemaPlace) -> Iterator[Cause]:
    """Yield why a default is no value of its schema."""
    value, at = place.schema["default"], f"{place.path}.default"
    if prune(place.closed, value).unknown:
        yield invalid(at, value, "must not have unknown fields")
    found = [*schema_faults(place.closed, value, at)]
    yield from found or rule_faults(place.closed, value, path=at)


def _standard_faults(place: SchemaPlace) -> Iterator[Cause]:
    schema, path, kind = place.schema, place.path, place.schema.get("type", "")
    if kind and kind not in _TYPES:
        yield not_supported(f"{path}.type", kind, _TYPES)
    if schema.get("default") is not None and place.no_default:
        yield forbidden(f"{path}.default", f"must not be set {place.no_default}")
    for name in _UNSUPPORTED:
        if schema.get(name) or (name in ("additionalItems", "dependencies") and name in schema):
            yield forbidden(f"{path}.{name}", f"{name} is not supported")
    if kind == "null":
        yield forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
    if schema.get("items") and isinstance(schema["items"], list):
        yield forbidden(f"{path}.items", "items must be a schema object and not an array")
    if place.in_metadata and schema.get(EMBEDDED):
        yield forbidden(f"{path}.{EMBEDDED}", "must not be used inside of resource meta")
    if schema.get("uniqueItems"):
        detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(f"{path}.uniqueItems", detail)
    if fields_of(schema) and schema.get("additionalProperties") not in (None, True):
        detail = "additionalProperties and properties are mutual exclusive"
        yield forbidden(f"{path}.additionalProperties", detail)


def _extension_faults(place: SchemaPlace) -> Iterator[Cause]:
    schema, path = place.schema, place.path
    if schema.get(PRESERVES) is False:
        yield invalid(f"{path}.{PRESERVES}", False, "must be true or undefined")
    yield from map_type_faults(schema, path)
    yield from list_type_faults(schema, path)
    yield from rule_field_faults(schema, place.closed, path)
