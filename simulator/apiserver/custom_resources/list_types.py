"""Validates lists that are sets or maps (``x-kubernetes-list-type``): no item is there twice.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/listtype/validation.go, v1.34.
"""

import json
from collections.abc import Iterator
from typing import Any

from simulator.apiserver.bounds import index_key, join_key
from simulator.apiserver.custom_resources.correlation import keys_of
from simulator.apiserver.status import Cause, duplicate
from simulator.apiserver.structural_schema import META


def list_type_faults(schema: dict[str, Any], value: Any, path: str = "") -> Iterator[Cause]:
    """Yield the repeated items of all lists of a value."""
    if schema is META:
        return
    match value:
        case list():
            yield from _repeated(schema, value, path)
            for index, item in enumerate(value):
                yield from list_type_faults(schema.get("items") or {}, item, f"{path}[{index}]")
        case dict():
            fields, others = schema.get("properties") or {}, schema.get("additionalProperties")
            for name in sorted(value):
                if name in fields:
                    yield from list_type_faults(fields[name], value[name], join_key(path, name))
                elif isinstance(others, dict):
                    yield from list_type_faults(others, value[name], index_key(path, name))


def _repeated(schema: dict[str, Any], items: list[Any], path: str) -> Iterator[Cause]:
    kind = schema.get("x-kubernetes-list-type")
    if kind not in ("set", "map"):
        return
    seen: set[str] = set()
    for index, item in enumerate(items):
        if kind == "map" and not isinstance(item, dict):
            continue
        identity = keys_of(schema, item) if kind == "map" else item
        text = json.dumps(identity, sort_keys=True)
        if text in seen:
            yield duplicate(f"{path}[{index}]", identity)
        seen.add(text)
