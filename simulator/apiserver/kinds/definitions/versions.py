"""Validation of the versions of a definition, and of what they have in common, in the form of upstream's
internal type.

What all versions have in common is not at the versions there but at the spec, and so are the paths of faults:
``spec.validation.openAPIV3Schema``. Upstream: conversion.go in
apiextensions-apiserver/pkg/apis/apiextensions/v1, and validateCustomResourceDefinitionVersion and the
functions below it in apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.field_checks import too_many
from simulator.apiserver.kinds.definitions.places import SchemaPlace
from simulator.apiserver.kinds.definitions.rules import (
    NO_EXPRESSIONS,
    Expressions,
    FieldPathError,
    find_expressions,
    find_field,
)
from simulator.apiserver.kinds.definitions.schemas import validate_schema
from simulator.apiserver.shapes import PartRule, all_of, each, field, filled, must_have, needed, where
from simulator.apiserver.status import Cause, duplicate, invalid, required
from simulator.apiserver.structural_schema import Schema, structural_schema

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_SELECTABLE: Final = ("string", "boolean", "integer")
MAX_SELECTABLE_FIELDS: Final = 8
_MAX_WARNING: Final = 256
_SIMPLE_PATH: Final = "must be a simple json path starting with ."


_SHARED: Final = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")
"""The fields of a version that move to the spec if all versions have the same. There the schema is called
``validation``."""


class Section(NamedTuple):
    """A version, or the spec itself, with what is declared there."""

    path: str
    fields: Manifest
    """The fields of _SHARED under the names that a version has for them, and the version's other fields."""
    schema_path: str
    has_status: bool
    """Whether the schema is that of objects with the subresource status."""
    stored: Expressions
    """The expressions of the definition that is updated."""

    @property
    def schema(self) -> dict[str, Any] | None:
        found = (self.fields.get("schema") or {}).get("openAPIV3Schema")
        return found if isinstance(found, dict) else None


def to_internal_spec(spec: Manifest, stored: Expressions = NO_EXPRESSIONS) -> tuple[Section, list[Section]]:
    """Return what the versions of a definition's spec have in common, and the versions."""
    versions: list[Manifest] = spec.get("versions") or []
    moved = {field for field in _SHARED if _is_shared(field, versions)}
    if "schema" not in moved:
        moved.discard("selectableFields")
    shared: Manifest = {
        field: versions[0][field] for field in _SHARED if field in moved and field in versions[0]
    }
    sections = [
        Section(
            path := f"spec.versions[{index}]",
            {field: value for field, value in version.items() if field not in moved},
            f"{path}.schema.openAPIV3Schema",
            _has_status(version),
            stored,
        )
        for index, version in enumerate(versions)
    ]
    has_status = any(map(_has_status, versions))
    return Section("spec", shared, "spec.validation.openAPIV3Schema", has_status, stored), sections


def _is_shared(field: str, versions: list[Manifest]) -> bool:
    return bool(versions) and all(version.get(field) == versions[0].get(field) for version in versions)


def _has_status(version: Manifest) -> bool:
    return "status" in (version.get("subresources") or {})


def expressions_of(spec: Manifest) -> Expressions:
    """Return the expressions of a definition (findPreexistingExpressions)."""
    shared, versions = to_internal_spec(spec)
    schemas = [section.schema for section in (shared, *versions) if section.schema is not None]
    return find_expressions(SchemaPlace(schema, {}, "") for schema in schemas)


def validate_section(section: Section) -> Iterator[Cause]:
    """Yield the faults of a version, or of what all versions have in common."""
    fields, path = section.fields, section.path
    yield from _check_warning(fields, path)
    if section.schema is not None:
        yield from validate_schema(section.schema, section.schema_path, section.has_status, section.stored)
    yield from _FIELDS(fields, path)
    selectable = fields.get("selectableFields")
    if selectable and section.schema is not None:
        yield from _selectable_faults(selectable, section.schema, f"{path}.selectableFields")


def _check_warning(fields: Manifest, path: str) -> Iterator[Cause]:
    warning, path = fields.get("deprecationWarning"), f"{path}.deprecationWarning"
    if warning is None:
        return
    if not fields.get("deprecated"):
        yield invalid(path, warning, "can only be set for deprecated versions")
        return
    if len(warning.encode()) > _MAX_WARNING:
        yield invalid(path, warning, "must be <= 256 characters long")
    if not warning.isprintable():
        index = next(index for index, letter in enumerate(warning) if not letter.isprintable())
        found = f"non-printable character found at index {len(warning[:index].encode())}"
        yield invalid(path, warning, f"must only contain printable UTF-8 characters; {found}")


def _path_below(*roots: str) -> PartRule:
    beginnings = tuple(f"{root}." for root in roots)
    where_to = f"either {' or '.join(roots)}" if len(roots) > 1 else roots[0]

    def check(value: str, path: str) -> Iterator[Cause]:
        if not value.startswith("."):
            yield invalid(path, value, _SIMPLE_PATH)
        elif not value.startswith(beginnings):
            yield invalid(path, value, f"should be a json path under {where_to}")

    return check


def _is_one_of(choices: tuple[str, ...]) -> PartRule:
    return where(choices.__contains__, _one_of_these(choices))


def _one_of_these(choices: tuple[str, ...]) -> str:
    return f"must be one of {','.join(choices)}"


def _check_column_path(column: Manifest, path: str) -> Iterator[Cause]:
    found, at = column.get("jsonPath", ""), f"{path}.JSONPath"
    if not found:
        yield required(at)
    elif not found.startswith("."):
        yield invalid(at, found, _SIMPLE_PATH)


_FIELDS: Final = all_of(
    field(
        "subresources.scale",
        needed("specReplicasPath", _path_below(".spec")),
        needed("statusReplicasPath", _path_below(".status")),
        filled("labelSelectorPath", _path_below(".spec", ".status")),
    ),
    each(
        "additionalPrinterColumns",
        must_have("name"),
        needed("type", _is_one_of(_COLUMN_TYPES), detail=_one_of_these(_COLUMN_TYPES)),
        filled("format", _is_one_of(_COLUMN_FORMATS)),
        _check_column_path,
    ),
)


def _selectable_faults(fields: list[Manifest], schema: Schema, path: str) -> Iterator[Cause]:
    closed = structural_schema(json.dumps(schema))
    known: set[tuple[str, ...]] = set()
    for index, selectable in enumerate(fields):
        at, given = f"{path}[{index}].jsonPath", selectable.get("jsonPath", "")
        if not given:
            yield required(at)
            continue
        try:
            found = find_field(given, closed, with_brackets=False)
        except FieldPathError as error:
            yield invalid(at, given, f"is an invalid path: {error}")
            continue
        if found.names[0] == "metadata":
            yield invalid(at, given, "must not point to fields in metadata")
        if found.schema.get("type") not in _SELECTABLE:
            detail = (
                "must point to a field of type string, boolean or integer. Enum string fields and strings "
                "with formats are allowed."
            )
            yield invalid(at, given, detail)
        if found.names in known:
            yield duplicate(at, given)
        known.add(found.names)
    if len(known) > MAX_SELECTABLE_FIELDS:
        yield too_many(path, len(known), MAX_SELECTABLE_FIELDS)
