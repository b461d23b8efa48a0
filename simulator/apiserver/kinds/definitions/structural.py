"""Checks that a schema is structural: every field is declared outside of allOf, anyOf, oneOf and not. And
checks of ``x-kubernetes-map-type``, ``x-kubernetes-list-type`` and ``x-kubernetes-list-map-keys``.

Upstream: ValidateStructural in apiextensions-apiserver/pkg/apiserver/schema/{validation,complete}.go, and
ValidateCustomResourceDefinitionOpenAPISchema and validateMapListKeysMapSet in
apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go.
"""

from collections.abc import Iterator
from typing import Final

from simulator.apiserver.kinds.definitions.places import SchemaPlace, alternatives, child, fields_of
from simulator.apiserver.repeated import repeats
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required
from simulator.apiserver.structural_schema import EMBEDDED, PRESERVES, Schema
from simulator.kernel.go_regexp import find_fault

MAP_TYPE: Final = "x-kubernetes-map-type"
LIST_TYPE: Final = "x-kubernetes-list-type"
MAP_KEYS: Final = "x-kubernetes-list-map-keys"
_INT_OR_STRING: Final = "x-kubernetes-int-or-string"
_WITHOUT_TYPE: Final = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
"""Level of a schema -> the error of a schema without a type."""
_FORBIDDEN_BELOW: Final = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    "externalDocs": "must be undefined to be structural",
    PRESERVES: "must be false to be structural",
    EMBEDDED: "must be false to be structural",
    _INT_OR_STRING: "must be false to be structural",
    MAP_KEYS: "must be empty to be structural",
    LIST_TYPE: "must be undefined to be structural",
    MAP_TYPE: "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}
"""The fields that a schema within allOf, anyOf, oneOf or not must not have, with the error of each."""
_DEFINED: Final = ("additionalProperties", "default")
"""The fields among these that exist also with an empty value."""
_NAMES: Final[tuple[set[str], ...]] = (set(), {"name"}, {"generateName"}, {"name", "generateName"})
_OF_METADATA: Final = ("type", "default", "properties")
_ONLY_NAMES: Final = (
    "must not specify anything other than name and generateName, but metadata is implicitly specified"
)


def structural_faults(place: SchemaPlace) -> Iterator[Cause]:
    """Yield the faults of one schema."""
    pattern = place.schema.get("pattern")
    if pattern and (fault := find_fault(pattern)):
        detail = f"must be a valid regular expression, but isn't: {fault}"
        yield invalid(f"{place.path}.pattern", pattern, detail)
    if place.level == "nested":
        yield from _nested_faults(place.schema, place.path)
    else:
        yield from _type_faults(place.schema, place.level, place.path)
        yield from _metadata_faults(place.schema, place.level, place.path)


def _nested_faults(schema: Schema, path: str) -> Iterator[Cause]:
    for name, detail in _FORBIDDEN_BELOW.items():
        value = schema.get(name)
        if value or (name in _DEFINED and value is not None):
            yield forbidden(f"{path}.{name}", detail)
    if "metadata" in fields_of(schema):
        yield forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context")


def _type_faults(schema: Schema, level: str, path: str) -> Iterator[Cause]:
    kind, embedded, others = schema.get("type", ""), schema.get(EMBEDDED), schema.get("additionalProperties")
    if kind == "array" and child(schema, "items") is None:
        yield required(f"{path}.items", "must be specified")
    if others is not None and level == "root":
        yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
    for name in (PRESERVES, EMBEDDED):
        if schema.get(_INT_OR_STRING) and schema.get(name):
            yield invalid(f"{path}.{name}", True, f"must be false if {_INT_OR_STRING} is true")
    if embedded and kind != "object":
        detail = f"must be object if {EMBEDDED} is true"
        yield invalid(f"{path}.type", kind, detail) if kind else required(f"{path}.type", detail)
    elif not kind and not schema.get(_INT_OR_STRING) and not schema.get(PRESERVES):
        yield required(f"{path}.type", _WITHOUT_TYPE[level])
    if embedded and others is not None:
        yield forbidden(f"{path}.additionalProperties", f"must not be used if {EMBEDDED} is set")
    if level == "root" and kind not in ("", "object"):
        yield invalid(f"{path}.type", kind, "must be object at the root")
    if embedded and not schema.get(PRESERVES) and not fields_of(schema):
        yield required(f"{path}.properties", f"must not be empty if {EMBEDDED} is true without {PRESERVES}")


def _metadata_faults(schema: Schema, level: str, path: str) -> Iterator[Cause]:
    fields = fields_of(schema)
    if level == "root" or schema.get(EMBEDDED):
        for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
            found = fields.get(name, {"type": wanted}).get("type", "")
            if found != wanted:
                yield invalid(f"{path}.properties[{name}].type", found, f"must be {wanted}")
    metadata = fields.get("metadata", {})
    others = {name for name, value in metadata.items() if value and name not in _OF_METADATA}
    if level == "root" and (others or {*fields_of(metadata)} not in _NAMES):
        yield forbidden(f"{path}.properties[metadata]", _ONLY_NAMES)


def undeclared_faults(
    values: Schema, schema: Schema, path: str, at: str, *, is_nested: bool = False
) -> Iterator[Cause]:
    """Yield the parts of a schema that are declared only within allOf, anyOf, oneOf or not. ``values``: the
    schema itself, or one of these; ``at``: its path; ``path``: that of the schema."""
    for step, each in alternatives(values):
        yield from undeclared_faults(each, schema, path, f"{at}.{step}", is_nested=True)
    if not is_nested:
        return
    parts = {
        f".properties[{name}]": (field, fields_of(schema).get(name))
        for name, field in fields_of(values).items()
    }
    items = child(values, "items")
    if items is not None:
        parts[".items"] = items, child(schema, "items")
    for step, (part, declared) in parts.items():
        if declared is None:
            yield required(f"{path}{step}", f"because it is defined in {at}{step}")
        else:
            yield from undeclared_faults(part, declared, f"{path}{step}", f"{at}{step}", is_nested=True)


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
        at, detail = f"{path}.{LIST_TYPE}", f"must be map if {MAP_KEYS} is non-empty"
        yield required(at, detail) if kind is None else invalid(at, kind, detail)
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
    shown = items.get(LIST_TYPE)
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
