"""Checks that a schema is structural: every field is declared outside of allOf, anyOf, oneOf and not.

Upstream: ValidateStructural in apiextensions-apiserver/pkg/apiserver/schema/{validation,complete}.go, v1.34.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from simulator.apiserver.bounds import index_key
from simulator.apiserver.status import Cause, forbidden, invalid, required
from simulator.apiserver.structural_schema import EMBEDDED, PRESERVES, Schema
from simulator.kernel.go_regexp import find_fault

INT_OR_STRING: Final = "x-kubernetes-int-or-string"
_JUNCTORS: Final = ("allOf", "anyOf", "oneOf")
_EITHER: Final = [{"type": "integer"}, {"type": "string"}]
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
    INT_OR_STRING: "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}
"""The fields that a schema within allOf, anyOf, oneOf or not must not have, with the error of each."""
_DEFINED: Final = ("additionalProperties", "default")
"""The fields among these that exist also with an empty value."""
_NAMES: Final = ({"name"}, {"generateName"}, {"name", "generateName"})
_OF_METADATA: Final = ("type", "default", "properties")


def structural_faults(schema: Schema, path: str) -> list[Cause]:
    """Return the faults in the order of their texts."""
    found = [*_invariants(schema, "root", path), *_junctor_completeness(schema, schema, path, path)]
    return sorted(found, key=str)


def child(of: Schema, name: str) -> Schema | None:
    """Return the schema at a field of a schema, if there is one."""
    found = of.get(name)
    return found if isinstance(found, dict) else None


def fields_of(schema: Schema) -> dict[str, Schema]:
    """Return the schemas of the fields, by name."""
    return schema.get("properties") or {}


def _invariants(schema: Schema, level: str, path: str) -> Iterator[Cause]:
    items, others = child(schema, "items"), schema.get("additionalProperties")
    if schema.get("type") == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    if items is not None:
        yield from _invariants(items, "item", f"{path}.items")
    for name, field in fields_of(schema).items():
        yield from _invariants(field, "field", index_key(f"{path}.properties", name))
    if others is not None and level == "root":
        yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if isinstance(others, dict):
        yield from _invariants(others, "field", f"{path}.additionalProperties")
    if schema.get(INT_OR_STRING):
        for name in (PRESERVES, EMBEDDED):
            if schema.get(name):
                yield invalid(f"{path}.{name}", True, f"must be false if {INT_OR_STRING} is true")
    all_of = schema.get("allOf") or [{}]
    yield from _values(schema, path, schema.get("anyOf") == _EITHER, all_of[0].get("anyOf") == _EITHER)
    yield from _type_invariants(schema, level, path)
    yield from _metadata_invariants(schema, level, path)


def _type_invariants(schema: Schema, level: str, path: str) -> Iterator[Cause]:
    kind, embedded = schema.get("type", ""), schema.get(EMBEDDED)
    if embedded and kind != "object":
        detail = f"must be object if {EMBEDDED} is true"
        yield invalid(f"{path}.type", kind, detail) if kind else required(f"{path}.type", detail)
    elif not kind and not schema.get(INT_OR_STRING) and not schema.get(PRESERVES):
        yield required(f"{path}.type", _WITHOUT_TYPE[level])
    if embedded and schema.get("additionalProperties") is not None:
        yield forbidden(f"{path}.additionalProperties", f"must not be used if {EMBEDDED} is set")
    if level == "root" and kind not in ("", "object"):
        yield invalid(f"{path}.type", kind, "must be object at the root")
    if embedded and not schema.get(PRESERVES) and not fields_of(schema):
        yield required(f"{path}.properties", f"must not be empty if {EMBEDDED} is true without {PRESERVES}")


def _metadata_invariants(schema: Schema, level: str, path: str) -> Iterator[Cause]:
    fields, is_resource = fields_of(schema), level == "root" or schema.get(EMBEDDED)
    for name in ("kind", "apiVersion"):
        if is_resource and name in fields and fields[name].get("type") != "string":
            yield invalid(f"{path}.properties[{name}].type", fields[name].get("type", ""), "must be string")
    metadata, at = fields.get("metadata"), f"{path}.properties[metadata]"
    if metadata is None:
        return
    if is_resource and metadata.get("type") != "object":
        yield invalid(f"{at}.type", metadata.get("type", ""), "must be object")
    declared = set(fields_of(metadata))
    others = {name for name, value in metadata.items() if value and name not in _OF_METADATA}
    if level == "root" and (others or (declared and declared not in _NAMES)):
        detail = (
            "must not specify anything other than name and generateName, but metadata is implicitly specified"
        )
        yield forbidden(at, detail)


def _values(schema: Schema, path: str, skips_any: bool, skips_first_all: bool) -> Iterator[Cause]:
    """Yield the schemas within allOf, anyOf, oneOf and not. Skipped is the pattern of an integer or a
    string."""
    for name in _JUNCTORS:
        for index, each in enumerate(_alternatives(schema, name)):
            if name == "anyOf" and skips_any:
                continue
            skips = name == "allOf" and skips_first_all and not index
            yield from _nested(each, f"{path}.{name}[{index}]", skips)
    negated = child(schema, "not")
    if negated is not None:
        yield from _nested(negated, f"{path}.not", False)
    pattern = schema.get("pattern")
    if pattern and (fault := find_fault(pattern)):
        yield invalid(f"{path}.pattern", pattern, f"must be a valid regular expression, but isn't: {fault}")


def _nested(schema: Schema, path: str, skips_any: bool) -> Iterator[Cause]:
    yield from _values(schema, path, skips_any, False)
    items = child(schema, "items")
    if items is not None:
        yield from _nested(items, f"{path}.items", False)
    for name, field in fields_of(schema).items():
        yield from _nested(field, index_key(f"{path}.properties", name), False)
    for name, detail in _FORBIDDEN_BELOW.items():
        value = schema.get(name)
        if value or (name in _DEFINED and value is not None):
            yield forbidden(f"{path}.{name}", detail)
    if "metadata" in fields_of(schema):
        yield forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context")


def _alternatives(schema: Schema, name: str) -> Sequence[Schema]:
    return [each for each in schema.get(name) or () if isinstance(each, dict)]


def _junctor_completeness(values: Schema, schema: Schema, path: str, at: str) -> Iterator[Cause]:
    """Yield the parts that are declared only within allOf, anyOf, oneOf or not of ``values``. ``at``: the
    path of these; ``path``: that of the schema."""
    negated = child(values, "not")
    nested = [(negated, f"{at}.not")] if negated is not None else []
    for name in _JUNCTORS:
        nested += [(each, f"{at}.{name}[{index}]") for index, each in enumerate(_alternatives(values, name))]
    for each, place in nested:
        yield from _completeness(each, schema, path, place)


def _completeness(values: Schema, schema: Schema, path: str, at: str) -> Iterator[Cause]:
    yield from _junctor_completeness(values, schema, path, at)
    pairs = [
        (f".properties[{name}]", each, fields_of(schema).get(name))
        for name, each in fields_of(values).items()
    ]
    items = child(values, "items")
    if items is not None:
        pairs.append((".items", items, child(schema, "items")))
    for step, each, declared in pairs:
        if declared is None:
            yield required(f"{path}{step}", f"because it is defined in {at}{step}")
        else:
            yield from _completeness(each, declared, f"{path}{step}", f"{at}{step}")
