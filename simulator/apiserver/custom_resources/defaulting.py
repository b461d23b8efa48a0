"""Sets the defaults of a custom resource's schema, and drops nulls before that (defaulting/algorithm.go and
prunenulls.go)."""

import copy
import json
from typing import Any, Final

from simulator.apiserver.bounds import MAX_OBJECT_BYTES
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.structural_schema import META, TYPE_FIELDS, Schema
from simulator.kernel.work import OutOfWork, spend_work

MAX_DEFAULT_BYTES: Final = 2 * MAX_OBJECT_BYTES
"""Bytes of the defaults that one object gets, as JSON: each item of a list may get a long one."""


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
    """Set the missing fields that have a default, in place. A null that may not be null counts as missing.
    Raises TooLarge where they add too much."""
    try:
        _Defaulting().set_all(schema, value)
    except OutOfWork as error:
        raise TooLarge(f"the defaults of the schema could not be set: {error}") from None


class _Defaulting:
    """The defaults of one object."""

    def __init__(self) -> None:
        self._added = 0
        self._sizes: dict[int, int] = {}

    def set_all(self, schema: Schema, value: Any) -> None:
        match value:
            case dict() if schema is not META:
                fields = schema.get("properties") or {}
                spend_work(1 + len(fields))
                for name, field in fields.items():
                    if name not in value and field.get("default") is not None:
                        value[name] = self._copy(field["default"])
                for name in value:
                    self._set(_schema_of_field(schema, name), value, name)
            case list():
                for index in range(len(value)):
                    self._set(schema.get("items"), value, index)

    def _set(self, schema: Schema | None, values: Any, place: Any) -> None:
        """Set the default of a field or an item that is null, and those within it."""
        if schema is None:
            return
        if values[place] is None and not schema.get("nullable"):
            values[place] = self._copy(schema.get("default"))
        self.set_all(schema, values[place])

    def _copy(self, default: Any) -> Any:
        if isinstance(default, (str, list, dict)):
            size = self._sizes.get(id(default)) or len(json.dumps(default))
            self._sizes[id(default)] = size
            self._added += size
            if self._added > MAX_DEFAULT_BYTES:
                raise TooLarge(f"the defaults of the schema add more than {MAX_DEFAULT_BYTES} bytes")
        return copy.deepcopy(default)


def _schema_of_field(schema: Schema, name: str) -> Schema | None:
    found = (schema.get("properties") or {}).get(name, schema.get("additionalProperties"))
    return found if isinstance(found, dict) else None
