"""The types of the objects of a built-in kind, for the check of a policy's expressions.

Upstream: SchemaDeclType in apiserver/pkg/cel/common/schemas.go, with the OpenAPI definitions, v1.34. A field
whose type upstream takes from Go, as a quantity, may be of any type here.
"""

from functools import lru_cache
from typing import Any, Final

from simulator.apiserver.custom_resources.rule_types import SCALARS, TEXTS
from simulator.apiserver.custom_resources.rule_values import escape
from simulator.apiserver.resources import Resource
from simulator.apiserver.schema import definitions, type_name_of
from simulator.cel.types import DYN, STRING, Type

Objects = dict[str, dict[str, Type]]
_KINDS: Final = 64
"""The largest number of kinds whose types are kept."""


@lru_cache(_KINDS)
def types_of(resource: Resource) -> tuple[Type, Objects]:
    """Return the type of the objects of a built-in kind, and the fields of it and of all types in it."""
    objects: Objects = {}
    return _declare({"$ref": type_name_of(resource)}, objects), objects


def _declare(schema: dict[str, Any], objects: Objects) -> Type:
    name = schema.get("$ref", "")
    if name in objects:
        return Type(name)
    if name:
        schema = definitions()[name]
    match schema.get("type"):
        case "array":
            return Type("list", (_declare(schema.get("items") or {}, objects),))
        case "object":
            return _declare_object(schema, name, objects)
        case "string":
            return TEXTS.get(schema.get("format", ""), STRING)
        case str() as kind:
            return SCALARS.get(kind, DYN)
    return DYN


def _declare_object(schema: dict[str, Any], name: str, objects: Objects) -> Type:
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        return Type("map", (STRING, _declare(others, objects)))
    if not name or not schema.get("properties"):
        return DYN
    fields = objects[name] = {}
    for field, of in schema["properties"].items():
        # An expression may write the name of a keyword as it is, or escaped.
        fields[field] = fields[escape(field)] = _declare(of, objects)
    return Type(name)
