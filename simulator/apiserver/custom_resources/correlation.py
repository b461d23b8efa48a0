"""Finds the old value of a part of a custom resource.

Upstream: apiserver/pkg/cel/common/equality.go (CorrelatedObject), v1.34.
"""

from collections.abc import Hashable
from typing import Any, Final

from simulator.apiserver.repeated import identity


class _Absent:
    """The marker for a new value to which no old value belongs."""


ABSENT: Final = _Absent()


def old_field(schema: dict[str, Any], old: Any, name: str) -> Any:
    """Return the old value of a field; ABSENT where there is none."""
    if not isinstance(old, dict) or schema.get("x-kubernetes-map-type") == "atomic":
        return ABSENT
    return old.get(name, ABSENT)


class OldItems:
    """The old items of a list whose items have keys; none of other lists."""

    def __init__(self, schema: dict[str, Any], old: Any) -> None:
        self._schema = schema
        self._items: dict[Hashable, Any] = {}
        if isinstance(old, list) and schema.get("x-kubernetes-list-type") == "map":
            for each in old:
                if isinstance(each, dict):
                    self._items.setdefault(identity(keys_of(schema, each)), each)

    def find(self, item: Any) -> Any:
        """Return the old item with the keys of this one; ABSENT if there is none."""
        if not self._items or not isinstance(item, dict):
            return ABSENT
        return self._items.get(identity(keys_of(self._schema, item)), ABSENT)


def keys_of(schema: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that distinguish an item from the others, with their defaults."""
    fields = (schema.get("items") or {}).get("properties") or {}
    found = {}
    for key in schema.get("x-kubernetes-list-map-keys") or ():
        value = item.get(key, (fields.get(key) or {}).get("default", ABSENT))
        if value is not ABSENT:
            found[key] = value
    return found
