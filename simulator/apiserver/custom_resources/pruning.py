"""Drops the fields of a custom resource that its schema does not have (pruning/algorithm.go)."""

from typing import Any, NamedTuple

from simulator.apiserver.bounds import MAX_STRICT_ERRORS, join_key
from simulator.apiserver.structural_schema import META, PRESERVES, Schema


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
