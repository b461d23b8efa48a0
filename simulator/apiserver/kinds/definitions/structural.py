"""Checks that a schema is structural: every field is declared outside of allOf, anyOf, oneOf and not.

Upstream: ValidateStructural in apiextensions-apiserver/pkg/apiserver/schema/{validation,complete}.go, v1.34.
"""

from collections.abc import Iterator
from typing import Final

from simulator.apiserver.kinds.definitions.places import Place, alternatives, child, fields_of
from simulator.apiserver.status import Cause, forbidden, invalid, required
from simulator.apiserver.structural_schema import EMBEDDED, PRESERVES, Schema
from simulator.kernel.go_regexp import find_fault

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
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
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


def structural_faults(place: Place) -> Iterator[Cause]:
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
