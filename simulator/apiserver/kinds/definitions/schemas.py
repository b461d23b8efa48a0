"""Validation of the schemas of a definition.

Upstream: validateCustomResourceDefinitionValidation and ValidateCustomResourceDefinitionOpenAPISchema in
apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, v1.34.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from simulator.apiserver.bounds import index_key
from simulator.apiserver.custom_resources.rules import RULES
from simulator.apiserver.kinds.definitions.defaults import default_faults
from simulator.apiserver.kinds.definitions.go_schema import schema_struct
from simulator.apiserver.kinds.definitions.internal_spec import Section
from simulator.apiserver.kinds.definitions.list_types import list_type_faults, map_type_faults
from simulator.apiserver.kinds.definitions.rules import compile_faults, rule_field_faults
from simulator.apiserver.kinds.definitions.structural import child, fields_of, structural_faults
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported
from simulator.apiserver.structural_schema import (
    EMBEDDED,
    PRESERVES,
    Schema,
    structural_schema,
)

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
_META_FIELDS: Final = ("metadata", "kind", "apiVersion")
_JUNCTORS: Final = ("allOf", "oneOf", "anyOf")


class _Place(NamedTuple):
    """The place of a schema."""

    path: str
    no_default: str = ""
    """The reason for which it must not have a default."""
    in_metadata: bool = False
    uncorrelated: str = ""
    """The path of the outermost list or map whose items cannot be compared with their old ones."""
    is_structural: bool = True
    """Whether rules are compiled."""


class _Faults(NamedTuple):
    of_schema: list[Cause]
    of_rules: list[Cause]

    def extend(self, other: "_Faults") -> None:
        self.of_schema.extend(other.of_schema)
        self.of_rules.extend(other.of_rules)


def validate_schema(section: Section) -> Iterator[Cause]:
    """Yield the faults of the schema of a version, or of that of all versions."""
    schema, path = section.schema, section.schema_path
    if schema is None:
        return
    faults = [*_root_faults(schema, path, section.has_status)]
    structural = structural_faults(schema, path) if _is_convertible(schema) else []
    closed: Schema = {}
    if _is_convertible(schema) and not structural:
        closed = structural_schema(json.dumps(schema))
        structural = default_faults(schema, closed, path)
    faults += structural
    is_structural = _is_convertible(schema) and not structural
    found = _faults(schema, closed, _Place(path, is_structural=is_structural), is_root=True)
    faults += [*found.of_schema, *found.of_rules]
    if not faults and not _is_convertible(schema):
        faults.append(invalid(path, "", "OpenAPIV3Schema 'schema' is not supported"))
    yield from faults


def _is_convertible(schema: Any) -> bool:
    """Whether no schema has a field that a structural one cannot have (validateUnsupportedFields)."""
    match schema:
        case dict():
            if any(schema.get(name) for name in (*_UNSUPPORTED, "$schema")) or schema.get(PRESERVES) is False:
                return False
            below = [schema.get(name) for name in ("items", "additionalProperties", "not")]
            for name in _JUNCTORS:
                below += schema.get(name) or []
            return not isinstance(schema.get("items"), list) and all(
                map(_is_convertible, [*below, *fields_of(schema).values()])
            )
    return True


def _root_faults(schema: Schema, path: str, has_status: bool) -> Iterator[Cause]:
    kind = schema.get("type", "")
    struct = schema_struct(schema)
    for name, value in struct.items() if has_status else ():
        if name == "Type" and kind not in ("", "object"):
            detail = f'only "object" is allowed as the type {_BESIDE_STATUS}'
            yield invalid(f"{path}.type", kind, detail)
            break
        if value and name not in _AT_ROOT:
            detail = f"only [{' '.join(_AT_ROOT)}] fields are allowed {_BESIDE_STATUS}"
            yield invalid(path, struct, detail, whole=True)
            break
    if schema.get("nullable"):
        yield forbidden(f"{path}.nullable", "nullable cannot be true at the root")


def _faults(schema: Schema, closed: Schema, place: _Place, *, is_root: bool = False) -> _Faults:
    """Return the faults of a schema. ``closed``: the same schema as a part of the structural schema, in which
    rules are compiled."""
    path = place.path
    found = _Faults([*_standard_faults(schema, place)], [])
    if schema.get("uniqueItems"):
        detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        found.of_schema.append(forbidden(f"{path}.uniqueItems", detail))
    if fields_of(schema) and schema.get("additionalProperties") not in (None, True):
        detail = "additionalProperties and properties are mutual exclusive"
        found.of_schema.append(forbidden(f"{path}.additionalProperties", detail))
    for each, below, at in _children(schema, closed, place, is_root):
        found.extend(_faults(each, below, at))
    found.of_schema.extend(_extension_faults(schema, path))
    found.of_schema.extend(rule_field_faults(schema, closed, path))
    if schema.get(RULES) and place.is_structural and not found.of_schema:
        found.of_rules.extend(compile_faults(schema, closed, path, place.uncorrelated))
    return found


def _standard_faults(schema: Schema, place: _Place) -> Iterator[Cause]:
    path, kind = place.path, schema.get("type", "")
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


def _children(
    schema: Schema, closed: Schema, place: _Place, is_root: bool
) -> Iterator[tuple[Schema, Schema, _Place]]:
    path = place.path
    others, items = child(schema, "additionalProperties"), child(schema, "items")
    if others is not None:
        reason = "inside additionalProperties applying to object metadata" if place.in_metadata else ""
        at = place._replace(path=f"{path}.additionalProperties", no_default=reason or place.no_default)
        yield others, child(closed, "additionalProperties") or {}, at
    is_atomic = schema.get("x-kubernetes-map-type") == "atomic"
    for name, field in sorted(fields_of(schema).items()):
        at = place._replace(
            path=index_key(f"{path}.properties", name), uncorrelated=_within(place, is_atomic)
        )
        if (is_root or schema.get(EMBEDDED)) and name in _META_FIELDS:
            reason = f"in top-level {name}" if is_root else place.no_default
            at = at._replace(in_metadata=True, no_default=reason)
        yield field, fields_of(closed).get(name, {}), at
    for each, step in _nested(schema):
        yield each, {}, place._replace(path=f"{path}.{step}", is_structural=False)
    if items is not None:
        is_keyed = schema.get("x-kubernetes-list-type") == "map"
        at = place._replace(path=f"{path}.items", uncorrelated=_within(place, not is_keyed))
        yield items, child(closed, "items") or {}, at


def _within(place: _Place, is_uncorrelated: bool) -> str:
    return place.uncorrelated or (place.path if is_uncorrelated else "")


def _nested(schema: Schema) -> Iterator[tuple[Schema, str]]:
    negated = child(schema, "not")
    if negated is not None:
        yield negated, "not"
    for name in _JUNCTORS:
        for index, each in enumerate(schema.get(name) or ()):
            if isinstance(each, dict):
                yield each, f"{name}[{index}]"


def _extension_faults(schema: Schema, path: str) -> Iterator[Cause]:
    if schema.get(PRESERVES) is False:
        yield invalid(f"{path}.{PRESERVES}", False, "must be true or undefined")
    yield from map_type_faults(schema, path)
    yield from list_type_faults(schema, path)
