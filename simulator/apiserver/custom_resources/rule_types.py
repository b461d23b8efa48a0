"""The types of a custom resource's values in its rules, by its schema.

Upstream: SchemaDeclType and MaybeAssignTypeName in apiserver/pkg/cel/{common/schemas,types}.go, v1.34.
"""

from typing import Any, Final

from simulator.apiserver.custom_resources.rule_values import escape
from simulator.apiserver.structural_schema import META
from simulator.cel.object_types import ObjectTypes
from simulator.cel.types import BOOL, DYN, INT, STRING, Type

SELF_TYPE: Final = "selfType"
"""The name of the type of ``self``. Upstream's ends with a number, another one at each write."""
TEXTS: Final = {
    "byte": Type("bytes"),
    "duration": Type("duration"),
    "date": Type("timestamp"),
    "date-time": Type("timestamp"),
}
"""Format -> the type in expressions of texts with this format, where it is not a string."""
SCALARS: Final = {"boolean": BOOL, "number": Type("double"), "integer": INT}
_OF_METADATA: Final = {"name": STRING, "generateName": STRING}


def declare_types(schema: dict[str, Any]) -> tuple[Type | None, ObjectTypes]:
    """Return the type of the values of a structural schema, and the types of the objects within it. None if
    rules cannot name them: no type, or a list without items."""
    objects: dict[str, dict[str, Type]] = {}
    return _declare(schema, SELF_TYPE, objects), ObjectTypes(objects)


def _declare(schema: dict[str, Any], name: str, objects: dict[str, dict[str, Type]]) -> Type | None:
    """Return the type of a schema, with ``name`` if it is an object's."""
    if schema is META:
        objects[name] = dict(_OF_METADATA)
        return Type(name)
    if schema.get("x-kubernetes-int-or-string"):
        return DYN
    match schema.get("type"):
        case "array":
            items = schema.get("items")
            item = _declare(items, f"{name}.@idx", objects) if isinstance(items, dict) else None
            return item and Type("list", (item,))
        case "object":
            return _declare_object(schema, name, objects)
        case "string":
            return TEXTS.get(schema.get("format", ""), STRING)
        case str() as kind:
            return SCALARS.get(kind)
    return None


def _declare_object(schema: dict[str, Any], name: str, objects: dict[str, dict[str, Type]]) -> Type | None:
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        value = _declare(others, f"{name}.@elem", objects)
        return value and Type("map", (STRING, value))
    declared = {
        escape(field): _declare(of, f"{name}.{field}", objects)
        for field, of in (schema.get("properties") or {}).items()
    }
    objects[name] = {field: kind for field, kind in declared.items() if kind is not None}
    return Type(name)
