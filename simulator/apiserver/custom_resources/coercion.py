"""What the API server changes of a custom resource: it drops the fields that its schema does not have, and
nulls, and sets defaults.

Upstream: pruning/algorithm.go, defaulting/algorithm.go and defaulting/prunenulls.go in
apiextensions-apiserver/pkg/apiserver/schema.
"""

import copy
import json
from typing import Any, Final, NamedTuple

from simulator.apiserver.bounds import MAX_OBJECT_BYTES, MAX_STRICT_ERRORS, join_key
from simulator.apiserver.custom_resources.parts import Part, parts_of
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.structural_schema import META, PRESERVES, TYPE_FIELDS, Schema
from simulator.kernel.work import OutOfWork, spend_work

MAX_DEFAULT_BYTES: Final = 2 * MAX_OBJECT_BYTES
"""Bytes of the defaults that one object gets, as JSON: each item of a list may get a long one."""


class Pruned(NamedTuple):
    value: Any
    unknown: list[str]
    """The paths of the fields that were dropped, in the order of their texts: MAX_STRICT_ERRORS at most."""


def prune(schema: Schema, value: Any) -> Pruned:
    """Return a copy of the value with the fields of its schema. The metadata is left as it is."""
    unknown: list[str] = []
    return Pruned(_pruned(schema, value, "", unknown), sorted(unknown))


def _pruned(
    schema: Schema | None, value: Any, path: str, unknown: list[str], *, is_preserved: bool = False
) -> Any:
    """Return the value with the fields that its schema has. ``schema``: None = it has no field.
    ``is_preserved``: the value is an item of a list that preserves unknown fields. The fields and the
    additional properties of a schema do not inherit this from it."""
    if schema is META or (schema is None and is_preserved):
        return value
    schema = schema or {}
    is_preserved = is_preserved or bool(schema.get(PRESERVES))
    match value:
        case dict():
            return _pruned_fields(schema, value, path, unknown, is_preserved)
        case list():
            return [
                _pruned(schema.get("items"), item, f"{path}[{index}]", unknown, is_preserved=is_preserved)
                for index, item in enumerate(value)
            ]
    return value


def _pruned_fields(
    schema: Schema, value: dict[str, Any], path: str, unknown: list[str], is_preserved: bool
) -> dict[str, Any]:
    fields, others = schema.get("properties") or {}, schema.get("additionalProperties")
    kept = {}
    for name, item in value.items():
        at = join_key(path, name)
        if name in fields:
            kept[name] = _pruned(fields[name], item, at, unknown)
        elif isinstance(others, dict) or others is True:
            # Of any value that "true" allows, upstream knows no fields.
            kept[name] = _pruned(others if isinstance(others, dict) else None, item, at, unknown)
        elif is_preserved:
            kept[name] = item
        elif len(unknown) < MAX_STRICT_ERRORS:
            unknown.append(at)
    return kept


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
