"""The types of fields, from the published OpenAPI schemas: how lists and maps are merged.

Upstream: kube-openapi/pkg/schemaconv (openapi.go, proto_models.go), structured-merge-diff/schema.
"""

from functools import cache, cached_property
from typing import Any, Final, Literal

from simulator.apiserver.managed_fields.field_paths import PathElement, key_element, value_element
from simulator.apiserver.schema import Schema, definitions, resolve_reference

Kind = Literal["scalar", "list", "map", "any"]

_KEY_DEFAULTS: Final = {"protocol": "TCP"}
"""The defaults of the keys of lists, which the shipped schemas leave out: ports of containers and Services
(the ``+default`` tags in types.go)."""


class ItemError(ValueError):
    """An item of a list has no path element."""


class FieldType:
    """The type of a field. ``any`` is that of a value that no schema describes: its maps are merged, its
    lists are atomic (``__untyped_deduced_``)."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    @classmethod
    def of(cls, schema: Schema) -> "FieldType":
        """Return the type of a schema, the same object for each reference to it."""
        return _named_type(schema["$ref"]) if "$ref" in schema else cls(schema)

    @cached_property
    def kind(self) -> Kind:
        schema = self._schema
        match schema.get("type"):
            case "array":
                return "list"
            case "object" if schema.get("x-kubernetes-preserve-unknown-fields"):
                return "any" if not schema.get("properties") else "map"
            case "object":
                return "map"
            case None:
                return "map" if "properties" in schema else "any"
        return "scalar"

    @cached_property
    def is_atomic(self) -> bool:
        """Whether the value is owned and replaced as a whole. Lists are, where the schema says nothing."""
        if self.kind == "list":
            return self._list_type == "atomic"
        return self._schema.get("x-kubernetes-map-type") == "atomic"

    @cached_property
    def scalar(self) -> str:
        """``string``, ``numeric``, ``boolean`` or ``untyped`` (a quantity, an integer or string)."""
        match self._schema.get("type"):
            case "string":
                return "string"
            case "integer" | "number":
                return "numeric"
            case "boolean":
                return "boolean"
        return "untyped"

    @cached_property
    def fields(self) -> dict[str, "FieldType"]:
        """The declared fields of an object."""
        return {name: FieldType.of(schema) for name, schema in self._schema.get("properties", {}).items()}

    @cached_property
    def other_fields(self) -> "FieldType | None":
        """The type of all fields that are not declared; None: there can be none."""
        others = self._schema.get("additionalProperties")
        if isinstance(others, dict):
            return FieldType.of(others)
        return None if others is False else ANY

    @cached_property
    def items(self) -> "FieldType":
        return FieldType.of(self._schema.get("items", {}))

    def field(self, name: str) -> "FieldType | None":
        return self.fields.get(name, self.other_fields)

    def deduced(self, value: Any) -> "FieldType":
        """Return the type for a value: of ``any``, what the value is."""
        if self.kind != "any":
            return self
        match value:
            case dict() | None:
                return _ANY_MAP
            case list():
                return _ANY_LIST
        return _ANY_SCALAR

    def element_of(self, item: Any) -> PathElement:
        """Return the path element of an item of a list that is not atomic. Raises ItemError
        (listItemToPathElement in typed/helpers.go)."""
        return self._keyed_element(item) if self._list_type == "map" else _set_element(item)

    def _keyed_element(self, item: Any) -> PathElement:
        if item is None:
            raise ItemError("associative list with keys may not have a null element")
        if not isinstance(item, dict):
            raise ItemError("associative list with keys may not have non-map elements")
        values = {}
        for key in self._keys:
            if key in item:
                values[key] = item[key]
            elif key in _KEY_DEFAULTS:
                values[key] = _KEY_DEFAULTS[key]
        if not values:
            named = " ".join(f'"{key}"' for key in self._keys)
            raise ItemError(
                f"associative list with keys has an element that omits all key fields [{named}] "
                "(and doesn't have default values for any key fields)"
            )
        return key_element(values)

    @cached_property
    def _list_type(self) -> str:
        """``atomic``, ``set`` or ``map``; where the schema does not say it, by the patch strategy."""
        declared: str | None = self._schema.get("x-kubernetes-list-type")
        if declared:
            return declared
        if "merge" not in self._schema.get("x-kubernetes-patch-strategy", "").split(","):
            return "atomic"
        return "map" if "x-kubernetes-patch-merge-key" in self._schema else "set"

    @cached_property
    def _keys(self) -> list[str]:
        keys: list[str] = self._schema.get("x-kubernetes-list-map-keys", [])
        return keys or [self._schema["x-kubernetes-patch-merge-key"]]


def _set_element(item: Any) -> PathElement:
    match item:
        case dict():
            raise ItemError("associative list without keys has an element that's a map type")
        case list():
            raise ItemError("not supported: associative list with lists as elements")
        case None:
            raise ItemError("associative list without keys has an element that's an explicit null")
    return value_element(item)


@cache
def _named_type(name: str) -> FieldType:
    return FieldType(resolve_reference(definitions()[name]))


ANY: Final = FieldType({})
_ANY_MAP: Final = FieldType({"type": "object"})
_ANY_LIST: Final = FieldType({"type": "array"})
_ANY_SCALAR: Final = FieldType({"type": ["string", "number"]})
