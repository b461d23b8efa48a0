"""Sets the defaults of a custom resource's schema (defaulting/algorithm.go)."""

import copy
from typing import Any

from simulator.apiserver.custom_resources.structural_schema import META


def set_schema_defaults(schema: dict[str, Any], value: Any) -> None:
    """Set the missing fields that have a default, in place. A null that may not be null counts as missing."""
    match value:
        case dict() if schema is not META:
            for name, field in schema.get("properties", {}).items():
                if "default" in field and _is_missing(value, name, field):
                    value[name] = copy.deepcopy(field["default"])
                if name in value:
                    set_schema_defaults(field, value[name])
            others = schema.get("additionalProperties")
            if isinstance(others, dict):
                for item in value.values():
                    set_schema_defaults(others, item)
        case list():
            for item in value:
                set_schema_defaults(schema.get("items", {}), item)


def _is_missing(value: dict[str, Any], name: str, field: dict[str, Any]) -> bool:
    return name not in value or (value[name] is None and not field.get("nullable"))
