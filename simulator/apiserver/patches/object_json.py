"""The text of a patched object in messages: Go's JSON of the object, in which the patch has changed parts.

An object that the patch leaves alone has its fields in the order of its Go struct, one that it changes sorted
by name (gopkg.in/evanphx/json-patch.v4 decodes only what it changes).
"""

import json
from typing import Any, Final

from simulator.apiserver.protobuf import short_type_name, struct_fields
from simulator.apiserver.schema import Schema, resolve_reference
from simulator.kernel.go_text import escaped

_FIRST: Final = ("kind", "apiVersion")


def patched_object_text(schema: Schema, value: Any, changed: Any) -> str:
    """Return the JSON of a patched object. ``changed``: the parts that the patch changes, as nested dicts."""
    return escaped(json.dumps(_in_order(schema, value, changed), separators=(",", ":"), ensure_ascii=False))


def _in_order(schema: Schema, value: Any, changed: Any) -> Any:
    of = resolve_reference(schema)
    match value:
        case list():
            return [_in_order(of.get("items", {}), item, None) for item in value]
        case dict():
            names = sorted(value) if isinstance(changed, dict) else _struct_order(schema, value)
            return {name: _field(of, name, value[name], changed) for name in names}
    return value


def _field(of: Schema, name: str, value: Any, changed: Any) -> Any:
    below = None
    if isinstance(changed, dict) and name in changed:
        below = changed[name]
        if not isinstance(below, dict):
            return value
    others = of.get("additionalProperties")
    field = of.get("properties", {}).get(name) or (others if isinstance(others, dict) else {})
    return _in_order(field, value, below)


def _struct_order(schema: Schema, value: dict[str, Any]) -> list[str]:
    order = [*_FIRST, *struct_fields(short_type_name(schema.get("$ref", "")))]
    places = {name: place for place, name in enumerate(order)}
    return sorted(value, key=lambda name: (places.get(name, len(places)), name))
