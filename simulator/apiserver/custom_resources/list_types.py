"""Validates lists that are sets or maps (``x-kubernetes-list-type``): no item is there twice.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/listtype/validation.go, v1.34.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from simulator.apiserver.custom_resources.parts import Part, keys_of, parts_of
from simulator.apiserver.status import Cause, duplicate
from simulator.apiserver.structural_schema import Schema

LIST_TYPE: Final = "x-kubernetes-list-type"

_json_of: Final = json.JSONEncoder(sort_keys=True).encode
"""Writes a value as JSON that is the same for equal values. ``json.dumps`` would make an encoder for each."""


def list_type_faults(schema: Schema, value: Any) -> Iterator[Cause]:
    """Yield the repeated items of all lists of a value."""
    for part in parts_of(Part(schema, value)):
        kind = part.schema.get(LIST_TYPE)
        if not isinstance(part.value, list) or kind not in ("set", "map"):
            continue
        seen: set[str] = set()
        for index, item in enumerate(part.value):
            if kind == "set" or isinstance(item, dict):
                identity = keys_of(part.schema, item) if kind == "map" else item
                text = _json_of(identity)
                if text in seen:
                    yield duplicate(f"{part.path}[{index}]", identity)
                seen.add(text)
