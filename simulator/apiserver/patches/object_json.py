"""The text of a patched object in messages: Go's JSON of the object, in which the patch has changed parts.

An object that the patch leaves alone has its fields in the order of its Go struct, one that it changes sorted
by name (gopkg.in/evanphx/json-patch.v4 decodes only what it changes).
"""

import json
from typing import Any

from simulator.apiserver.types.model import ANYTHING, ListType, StructType, Type, field_type
from simulator.kernel.go_text import escaped


def patched_object_text(of: Type, value: Any, changed: Any) -> str:
    """Return the JSON of a patched object. ``changed``: the parts that the patch changes, as nested dicts."""
    return escaped(json.dumps(_in_order(of, value, changed), separators=(",", ":"), ensure_ascii=False))


def _in_order(of: Type, value: Any, changed: Any) -> Any:
    match value:
        case list():
            items = of.items if isinstance(of, ListType) else ANYTHING
            return [_in_order(items, item, None) for item in value]
        case dict():
            names = sorted(value) if isinstance(changed, dict) else _struct_order(of, value)
            return {name: _field(of, name, value[name], changed) for name in names}
    return value


def _field(of: Type, name: str, value: Any, changed: Any) -> Any:
    below = None
    if isinstance(changed, dict) and name in changed:
        below = changed[name]
        if not isinstance(below, dict):
            return value
    return _in_order(field_type(of, name) or ANYTHING, value, below)


def _struct_order(of: Type, value: dict[str, Any]) -> list[str]:
    order = of.fields if isinstance(of, StructType) else ()
    places = {name: place for place, name in enumerate(order)}
    return sorted(value, key=lambda name: (places.get(name, len(places)), name))
