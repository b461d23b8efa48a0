"""The values within a custom resource, each with its schema and its value before an update.

Upstream: apiserver/pkg/cel/common/equality.go (CorrelatedObject).
"""

from collections.abc import Callable, Hashable, Iterator
from typing import Any, Final, NamedTuple

from simulator.apiserver.bounds import index_key, join_key
from simulator.apiserver.repeated import identity
from simulator.apiserver.structural_schema import META, Schema


class _Absent:
    """The marker for a new value to which no old value belongs."""


ABSENT: Final = _Absent()
_COMPOSED: Final = (dict, list)


class Part(NamedTuple):
    """A value within a custom resource."""

    schema: Schema
    value: Any
    path: str = ""
    old: Any = ABSENT
    """The value before an update."""


def parts_of(whole: Part, *, scalars: bool = False) -> Iterator[Part]:
    """Yield a value and all lists and objects below it that have a schema, the outer ones first, and fields
    in the order of their names. Metadata is left out. ``scalars``: yield also texts, numbers and their
    like."""
    waiting = [whole]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part.value, _COMPOSED):
            waiting += [*parts_within(part, scalars=scalars)][::-1]


def parts_within(
    part: Part, value_path: Callable[[str, str], str] = index_key, *, scalars: bool = True
) -> Iterator[Part]:
    """Yield the items of a list, or the fields of an object, that have a schema. ``value_path``: writes the
    path of a value of a map."""
    schema, value, path, old = part
    match value:
        case list():
            items, before = schema.get("items") or {}, None if old is ABSENT else _OldItems(schema, old)
            for index, item in enumerate(value):
                if scalars or isinstance(item, _COMPOSED):
                    yield Part(items, item, f"{path}[{index}]", before.find(item) if before else ABSENT)
        case dict():
            fields, others = schema.get("properties") or {}, schema.get("additionalProperties")
            for name in sorted(value):
                if not scalars and not isinstance(value[name], _COMPOSED):
                    continue
                field, write = (fields[name], join_key) if name in fields else (others, value_path)
                if isinstance(field, dict) and field is not META:
                    before_it = old if old is ABSENT else _old_field(schema, old, name)
                    yield Part(field, value[name], write(path, name), before_it)


def _old_field(schema: Schema, old: Any, name: str) -> Any:
    if not isinstance(old, dict) or schema.get("x-kubernetes-map-type") == "atomic":
        return ABSENT
    return old.get(name, ABSENT)


class _OldItems:
    """The old items of a list whose items have keys; none of other lists."""

    def __init__(self, schema: Schema, old: Any) -> None:
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


def keys_of(schema: Schema, item: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that distinguish an item from the others, with their defaults."""
    fields = (schema.get("items") or {}).get("properties") or {}
    found = {}
    for key in schema.get("x-kubernetes-list-map-keys") or ():
        value = item.get(key, (fields.get(key) or {}).get("default", ABSENT))
        if value is not ABSENT:
            found[key] = value
    return found
