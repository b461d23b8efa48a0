"""JSON paths of definitions that name a field of a schema: ``.spec.size``, ``.spec['a.b']``.

Upstream: ValidFieldPath in apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go, v1.34.
"""

import re
from typing import Any, Final, NamedTuple

from simulator.apiserver.structural_schema import META

Schema = dict[str, Any]
_TOKEN: Final = re.compile(r"'(?:[^'\\]|\\.)*'|[.\[\]]|[^.\[\]]+", re.DOTALL)
_ESCAPES: Final = {
    "\\": "\\",
    "'": "'",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
}
_NO_FIELD: Final = "does not refer to a valid field"
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
    tokens = _TOKEN.findall(path)
    names: list[str] = []
    while tokens:
        name = _read_step(tokens, with_brackets)
        schema = _step_into(_META_FIELDS if schema is META else schema, name)
        names.append(name)
    return FoundField(tuple(names), schema)


def _read_step(tokens: list[str], with_brackets: bool) -> str:
    """Remove one step from the tokens, and return the name in it."""
    first = tokens.pop(0)
    if first not in (".", "["):
        raise FieldPathError(f"expected [ or . but got: {first}")
    if first == "[" and not with_brackets:
        raise FieldPathError("array notation is not allowed")
    if not tokens:
        raise FieldPathError("unexpected end of JSON path")
    name = tokens.pop(0)
    if first == ".":
        return name
    if len(name) < 2 or name[0] != "'" or name[-1] != "'":
        raise FieldPathError(f"expected single quoted string but got {name}")
    if not tokens:
        raise FieldPathError("unexpected end of JSON path")
    end = tokens.pop(0)
    if end != "]":
        raise FieldPathError(f"expected ] but got {end}")
    return _unescape(name[1:-1])


def _unescape(text: str) -> str:
    def replace(found: re.Match[str]) -> str:
        if found[1] not in _ESCAPES:
            raise FieldPathError("invalid string literal: unable to unescape string, invalid escape")
        return _ESCAPES[found[1]]

    return re.sub(r"\\(.)", replace, text, flags=re.DOTALL)


def _step_into(schema: Schema, name: str) -> Schema:
    fields, others = schema.get("properties"), schema.get("additionalProperties")
    if fields:
        if name not in fields:
            raise FieldPathError(_NO_FIELD)
        found: Schema = fields[name]
        return found
    if isinstance(others, dict):
        return others
    raise FieldPathError(_NO_FIELD)
