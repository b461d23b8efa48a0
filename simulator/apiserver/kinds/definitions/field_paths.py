"""JSON paths of definitions that name a field of a schema: ``.spec.size``, ``.spec['a.b']``.

Upstream: ValidFieldPath in apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go, v1.34. Of the
escapes in quotes, that of a quote and of a backslash are known.
"""

import re
from typing import Final, NamedTuple

from simulator.apiserver.structural_schema import META, Schema

_STEP: Final = re.compile(r"\.([^.\[\]]+)|\['((?:[^'\\]|\\['\\])*)'\]")
_BEGINNING: Final = re.compile(r"[^.\[\]]+|.")
_META_FIELDS: Final[Schema] = {"properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}}


class FieldPathError(ValueError):
    """A path is malformed, or names no field of its schema."""


class FoundField(NamedTuple):
    """The field that a path names."""

    names: tuple[str, ...]
    schema: Schema


def find_field(path: str, schema: Schema, *, with_brackets: bool = True) -> FoundField:
    """Return the field of a schema that a path names. Raises FieldPathError. ``with_brackets``: the path may
    have steps in brackets."""
    names: list[str] = []
    place = 0
    while place < len(path):
        if path[place] == "[" and not with_brackets:
            raise FieldPathError("array notation is not allowed")
        step = _STEP.match(path, place)
        if step is None:
            beginning = _BEGINNING.match(path, place)
            raise FieldPathError(f"expected [ or . but got: {beginning[0] if beginning else ''}")
        name = re.sub(r"\\(.)", r"\1", step[2]) if step[1] is None else step[1]
        schema = _step_into(_META_FIELDS if schema is META else schema, name)
        names.append(name)
        place = step.end()
    return FoundField(tuple(names), schema)


def _step_into(schema: Schema, name: str) -> Schema:
    found = (schema.get("properties") or {name: schema.get("additionalProperties")}).get(name)
    if not isinstance(found, dict):
        raise FieldPathError("does not refer to a valid field")
    return found
