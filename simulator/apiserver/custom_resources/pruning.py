"""Drops the fields of a custom resource that its schema does not have (pruning/algorithm.go)."""

from typing import Any, NamedTuple

from simulator.apiserver.custom_resources.structural_schema import META, PRESERVES


class Pruned(NamedTuple):
    value: Any
    unknown: list[str]
    """The paths of the fields that were dropped."""


def prune(schema: dict[str, Any], value: Any) -> Pruned:
    """Return the value with the fields of its schema. The metadata is left as it is."""
    unknown: list[str] = []
    return Pruned(_pruned(schema, value, "", unknown), unknown)


def _pruned(schema: dict[str, Any], value: Any, path: str, unknown: list[str]) -> Any:
    match value:
        case dict() if schema is not META:
            return _pruned_fields(schema, value, path, unknown)
        case list() if "items" in schema:
            return [
                _pruned(schema["items"], item, f"{path}[{index}]", unknown)
                for index, item in enumerate(value)
            ]
    return value


def _pruned_fields(
    schema: dict[str, Any], value: dict[str, Any], path: str, unknown: list[str]
) -> dict[str, Any]:
    fields, others = schema.get("properties", {}), schema.get("additionalProperties")
    kept = {}
    for name, item in value.items():
        at = f"{path}.{name}" if path else name
        if name in fields:
            kept[name] = _pruned(fields[name], item, at, unknown)
        elif isinstance(others, dict):
            kept[name] = _pruned(others, item, at, unknown)
        elif others or (schema.get(PRESERVES) and others is not False) or "type" not in schema:
            kept[name] = item
        else:
            unknown.append(at)
    return kept
