"""Sets the defaults of a custom resource's schema, and drops nulls before that (defaulting/algorithm.go and
prunenulls.go)."""

import copy
from typing import Any

from simulator.apiserver.structural_schema import META, TYPE_FIELDS, Schema


def drop_nulls(schema: Schema, value: Any) -> None:
    """Drop the fields that are null although they may not be, in place. Those that have a default stay null
    until it is set; the items of lists stay."""
    match value:
        case dict() if schema is not META:
            for name, item in [*value.items()]:
                field = _schema_of_field(schema, name)
                if field is None or field is TYPE_FIELDS.get(name):
                    continue
                if item is None and not field.get("nullable") and field.get("default") is None:
                    del value[name]
                else:
                    drop_nulls(field, item)
        case list():
            for item in value:
                drop_nulls(schema.get("items") or {}, item)


def set_schema_defaults(schema: Schema, value: Any) -> None:
    """Set the missing fields that have a default, in place. A null that may not be null counts as missing."""
    match value:
        case dict() if schema is not META:
            for name, field in (schema.get("properties") or {}).items():
                if name not in value and field.get("default") is not None:
                    value[name] = copy.deepcopy(field["default"])
            for name in value:
                _set_default(_schema_of_field(schema, name), value, name)
        case list():
            for index in range(len(value)):
                _set_default(schema.get("items"), value, index)


def _set_default(schema: Schema | None, values: Any, place: Any) -> None:
    """Set the default of a field or an item that is null, and those within it."""
    if schema is None:
        return
    if values[place] is None and not schema.get("nullable"):
        values[place] = copy.deepcopy(schema.get("default"))
    set_schema_defaults(schema, values[place])


def _schema_of_field(schema: Schema, name: str) -> Schema | None:
    found = (schema.get("properties") or {}).get(name, schema.get("additionalProperties"))
    return found if isinstance(found, dict) else None
