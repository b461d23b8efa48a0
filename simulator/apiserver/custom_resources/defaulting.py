"""Sets the defaults of a custom resource's schema, and drops nulls before that (defaulting/algorithm.go and
prunenulls.go)."""

import copy
import json
from typing import Any, Final

from simulator.apiserver.bounds import MAX_OBJECT_BYTES
from simulator.apiserver.custom_resources.parts import Part, parts_of
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.structural_schema import TYPE_FIELDS, Schema
from simulator.kernel.work import OutOfWork, spend_work

MAX_DEFAULT_BYTES: Final = 2 * MAX_OBJECT_BYTES
"""Bytes of the defaults that one object gets, as JSON: each item of a list may get a long one."""


def drop_nulls(schema: Schema, value: Any) -> None:
    """Drop the fields that are null although they may not be, in place. Those that have a default stay null
    until it is set; the items of lists stay."""
    for part in parts_of(Part(schema, value)):
        for name in [*part.value] if isinstance(part.value, dict) else ():
            field = _schema_of_field(part.schema, name)
            if part.value[name] is not None or field is None or field is TYPE_FIELDS.get(name):
                continue
            if not field.get("nullable") and field.get("default") is None:
                del part.value[name]


def set_schema_defaults(schema: Schema, value: Any) -> None:
    """Set the missing fields that have a default, in place. A null that may not be null counts as missing.
    Raises TooLarge where they add too much."""
    defaults = _Defaults()
    try:
        for part in parts_of(Part(schema, value)):
            defaults.set(part)  # its parts are looked for afterwards
    except OutOfWork as error:
        raise TooLarge(f"the defaults of the schema could not be set: {error}") from None


class _Defaults:
    """The defaults of one object."""

    def __init__(self) -> None:
        self._added = 0
        self._sizes: dict[int, int] = {}

    def set(self, part: Part) -> None:
        """Set the defaults of the fields of an object, or of the items of a list."""
        schema, value = part.schema, part.value
        match value:
            case dict():
                fields = schema.get("properties") or {}
                spend_work(1 + len(fields))
                for name, field in fields.items():
                    if name not in value and field.get("default") is not None:
                        value[name] = self._copy(field["default"])
                for name in value:
                    self._replace_null(_schema_of_field(schema, name), value, name)
            case list():
                for index in range(len(value)):
                    self._replace_null(schema.get("items"), value, index)

    def _replace_null(self, schema: Schema | None, values: Any, place: Any) -> None:
        if values[place] is None and schema is not None and not schema.get("nullable"):
            values[place] = self._copy(schema.get("default"))

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
