"""Finds the old value of a part of a custom resource.

Upstream: apiserver/pkg/cel/common/equality.go (CorrelatedObject), v1.34.
"""

from typing import Any, Final


class _Absent:
    """The marker for a new value to which no old value belongs."""


ABSENT: Final = _Absent()


def old_field(schema: dict[str, Any], old: Any, name: str) -> Any:
    """Return the old value of a field; ABSENT where there is none."""
    if not isinstance(old, dict) or schema.get("x-kubernetes-map-type") == "atomic":
        return ABSENT
    return old.get(name, ABSENT)


def old_item(schema: dict[str, Any], old: Any, item: Any) -> Any:
    """Return the old item of a list whose items have keys; ABSENT for other lists."""
    if (
        not isinstance(old, list)
        or schema.get("x-kubernetes-list-type") != "map"
        or not isinstance(item, dict)
    ):
        return ABSENT
    keys = keys_of(schema, item)
    return next((each for each in old if isinstance(each, dict) and keys_of(schema, each) == keys), ABSENT)


def keys_of(schema: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that distinguish an item from the others, with their defaults."""
    fields = (schema.get("items") or {}).get("properties") or {}
    found = {}
    for key in schema.get("x-kubernetes-list-map-keys") or ():
        value = item.get(key, (fields.get(key) or {}).get("default", ABSENT))
        if value is not ABSENT:
            found[key] = value
    return found
