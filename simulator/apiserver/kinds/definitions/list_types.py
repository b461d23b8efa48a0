"""Checks of ``x-kubernetes-map-type``, ``x-kubernetes-list-type`` and ``x-kubernetes-list-map-keys``.

Upstream: ValidateCustomResourceDefinitionOpenAPISchema and validateMapListKeysMapSet in
apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, v1.34.
"""

from collections.abc import Iterator
from typing import Final

from simulator.apiserver.kinds.definitions.places import child, fields_of
from simulator.apiserver.repeated import repeats
from simulator.apiserver.status import NIL, Cause, forbidden, invalid, not_supported, required
from simulator.apiserver.structural_schema import Schema

MAP_TYPE: Final = "x-kubernetes-map-type"
LIST_TYPE: Final = "x-kubernetes-list-type"
MAP_KEYS: Final = "x-kubernetes-list-map-keys"


def map_type_faults(schema: Schema, path: str) -> Iterator[Cause]:
    """Yield the faults of the type of a map."""
    if MAP_TYPE not in schema:
        return
    yield from _wrong_type(schema, path, "object", MAP_TYPE)
    if schema[MAP_TYPE] not in ("atomic", "granular"):
        yield not_supported(f"{path}.{MAP_TYPE}", schema[MAP_TYPE], ("atomic", "granular"))


def list_type_faults(schema: Schema, path: str) -> Iterator[Cause]:
    """Yield the faults of the type of a list, and of its keys."""
    kind, keys, items = schema.get(LIST_TYPE), schema.get(MAP_KEYS) or [], child(schema, "items")
    if kind is not None and schema.get("type") != "array":
        yield from _wrong_type(schema, path, "array", LIST_TYPE)
    elif kind == "set" and items is not None:
        yield from _set_faults(items, path)
    if kind not in (None, "atomic", "set", "map"):
        yield not_supported(f"{path}.{LIST_TYPE}", kind, ("atomic", "set", "map"), as_given=True)
    if keys and kind != "map":
        detail = f"must be map if {MAP_KEYS} is non-empty"
        yield (
            required(f"{path}.{LIST_TYPE}", detail)
            if kind is None
            else invalid(f"{path}.{LIST_TYPE}", kind, detail)
        )
    if kind == "map":
        yield from _map_faults(schema, keys, items, path)
    if kind in ("set", "map") and items is not None:
        yield from _item_faults(kind, items, keys if kind == "map" else [], path)


def _wrong_type(schema: Schema, path: str, wanted: str, extension: str) -> Iterator[Cause]:
    kind, detail = schema.get("type", ""), f"must be {wanted} if {extension} is specified"
    if not kind:
        yield required(f"{path}.type", detail)
    elif kind != wanted:
        yield invalid(f"{path}.type", kind, detail)


def _set_faults(items: Schema, path: str) -> Iterator[Cause]:
    detail = f"must be atomic as item of a list with {LIST_TYPE}=set"
    # Upstream prints the type of the list in both cases.
    value = items.get(LIST_TYPE, NIL)
    shown = value if value is not NIL else None
    if items.get("type") == "array" and items.get(LIST_TYPE) not in (None, "atomic"):
        yield invalid(f"{path}.items.{LIST_TYPE}", shown, detail)
    if items.get("type") == "object" and items.get(MAP_TYPE) != "atomic":
        yield invalid(f"{path}.items.{MAP_TYPE}", shown, detail)


def _map_faults(schema: Schema, keys: list[str], items: Schema | None, path: str) -> Iterator[Cause]:
    if not keys:
        yield required(f"{path}.{MAP_KEYS}", f"must not be empty if {LIST_TYPE} is map")
    if schema.get("items") is None:
        yield required(f"{path}.items", f"must have a schema if {LIST_TYPE} is map")
    if items is None:
        return
    if items.get("type") != "object":
        detail = f"must be object if parent array's {LIST_TYPE} is map"
        yield invalid(f"{path}.items.type", items.get("type", ""), detail)
        return
    again = repeats(keys)
    for index, key in enumerate(keys):
        field = fields_of(items).get(key)
        if field is None:
            yield invalid(f"{path}.{MAP_KEYS}", keys, "entries must all be names of item properties")
        elif field.get("type") in ("array", "object"):
            detail = f"must be a scalar type if parent array's {LIST_TYPE} is map"
            yield invalid(f"{path}.items.properties[{key}].type", items["type"], detail)
        if again[index]:
            yield invalid(f"{path}.{MAP_KEYS}", keys, "must not contain duplicate entries")


def _item_faults(kind: str, items: Schema, keys: list[str], path: str) -> Iterator[Cause]:
    """Yield the faults of the schema of items: they must not be null, and must have all keys
    (validateMapListKeysMapSet)."""
    if items.get("nullable"):
        yield forbidden(f"{path}.items.nullable", f"cannot be nullable when {LIST_TYPE} is {kind}")
    for key in keys:
        field = fields_of(items).get(key)
        if field is None:
            continue
        at, one = f"{path}.items.properties[{key}]", f"this property is in {MAP_KEYS}, so it"
        if key not in (items.get("required") or ()) and field.get("default") is None:
            yield required(f"{at}.default", f"{one} must have a default or be a required property")
        if field.get("nullable"):
            yield forbidden(f"{at}.nullable", f"{one} cannot be nullable")
