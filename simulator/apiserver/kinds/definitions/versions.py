"""Validation of the versions of a definition, and of what they have in common.

Upstream: validateCustomResourceDefinitionVersion and the functions below it in
apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, v1.34.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from simulator.apiserver.kinds.definitions.field_paths import FieldPathError, find_field
from simulator.apiserver.kinds.definitions.internal_spec import Section
from simulator.apiserver.kinds.definitions.schemas import validate_schema
from simulator.apiserver.status import Cause, duplicate, invalid, required
from simulator.apiserver.structural_schema import Schema, structural_schema

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_SELECTABLE: Final = ("string", "boolean", "integer")
MAX_SELECTABLE_FIELDS: Final = 8
_MAX_WARNING: Final = 256


def validate_section(section: Section) -> Iterator[Cause]:
    """Yield the faults of a version, or of what all versions have in common."""
    fields, path = section.fields, section.path
    yield from _deprecation_faults(fields, f"{path}.deprecationWarning")
    yield from validate_schema(section)
    yield from _scale_faults((fields.get("subresources") or {}).get("scale"), f"{path}.subresources.scale")
    for index, column in enumerate(fields.get("additionalPrinterColumns") or ()):
        yield from _column_faults(column, f"{path}.additionalPrinterColumns[{index}]")
    selectable = fields.get("selectableFields")
    if selectable:
        yield from _selectable_faults(selectable, section.schema, f"{path}.selectableFields")


def _deprecation_faults(fields: dict[str, Any], path: str) -> Iterator[Cause]:
    warning = fields.get("deprecationWarning")
    if warning is None:
        return
    if not fields.get("deprecated"):
        yield invalid(path, warning, "can only be set for deprecated versions")
        return
    if len(warning.encode()) > _MAX_WARNING:
        yield invalid(path, warning, "must be <= 256 characters long")
    for index, letter in enumerate(warning):
        if not letter.isprintable():
            offset = len(warning[:index].encode())
            found = f"non-printable character found at index {offset}"
            yield invalid(path, warning, f"must only contain printable UTF-8 characters; {found}")
            break


def _scale_faults(scale: dict[str, Any] | None, path: str) -> Iterator[Cause]:
    if scale is None:
        return
    for field, root in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        found = scale.get(field, "")
        if not found:
            yield required(f"{path}.{field}")
        elif not found.startswith("."):
            yield invalid(f"{path}.{field}", found, "must be a simple json path starting with .")
        elif not found.startswith(root):
            yield invalid(f"{path}.{field}", found, f"should be a json path under {root[:-1]}")
    selector = scale.get("labelSelectorPath")
    if selector and not selector.startswith("."):
        yield invalid(f"{path}.labelSelectorPath", selector, "must be a simple json path starting with .")
    elif selector and not selector.startswith((".spec.", ".status.")):
        detail = "should be a json path under either .spec or .status"
        yield invalid(f"{path}.labelSelectorPath", selector, detail)


def _column_faults(column: dict[str, Any], path: str) -> Iterator[Cause]:
    if not column.get("name"):
        yield required(f"{path}.name")
    kind, of_types = column.get("type", ""), f"must be one of {','.join(_COLUMN_TYPES)}"
    if not kind:
        yield required(f"{path}.type", of_types)
    elif kind not in _COLUMN_TYPES:
        yield invalid(f"{path}.type", kind, of_types)
    form = column.get("format")
    if form and form not in _COLUMN_FORMATS:
        yield invalid(f"{path}.format", form, f"must be one of {','.join(_COLUMN_FORMATS)}")
    at = column.get("jsonPath", "")
    if not at:
        yield required(f"{path}.JSONPath")
    elif not at.startswith("."):
        yield invalid(f"{path}.JSONPath", at, "must be a simple json path starting with .")


def _selectable_faults(fields: list[dict[str, Any]], schema: Schema | None, path: str) -> Iterator[Cause]:
    if schema is None:
        detail = "selectableFields may only be set when version.schema.openAPIV3Schema is not included"
        yield invalid(path, "", detail)
        return
    closed = structural_schema(json.dumps(schema))
    known: set[tuple[str, ...]] = set()
    for index, field in enumerate(fields):
        at, given = f"{path}[{index}].jsonPath", field.get("jsonPath", "")
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
        detail = f"Too many: {len(known)}: must have at most {MAX_SELECTABLE_FIELDS} items"
        yield Cause(path, detail, "FieldValueTooMany")
