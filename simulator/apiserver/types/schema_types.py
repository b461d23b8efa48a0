"""The types of custom resources, from their structural schemas, and those of schedviz's own kinds."""

from typing import Any, Final, cast

from simulator.apiserver.resource import Resource
from simulator.apiserver.served_features import once_per_version
from simulator.apiserver.structural_schema import PRESERVES, TYPE_FIELDS, structural_schema
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import (
    ANYTHING,
    STRING,
    Field,
    ListType,
    MapType,
    OwnType,
    Relation,
    Scalar,
    StructType,
    Type,
)

_META = {"$ref": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
_STRING = {"type": "string"}


def _object(required: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


def _kind(spec: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    return _object(
        ("metadata", "spec"), apiVersion=_STRING, kind=_STRING, metadata=_META, spec=spec, status=status
    )


_ENTRY = _object(
    ("at", "object"),
    at=_STRING,
    every=_STRING,
    until=_STRING,
    object={"type": "object"},
    delete={"type": "boolean"},
    change={"type": "boolean"},
)

_CREATED = _object(created={"type": "array", "items": {"type": "integer", "format": "int64"}})

OWN_KINDS: dict[tuple[str, str], dict[str, Any]] = {
    ("schedviz/v1", "Timetable"): _kind(
        _object(("entries",), entries={"type": "array", "items": _ENTRY}), _CREATED
    ),
}
"""Schemas by apiVersion and kind."""


Schema = dict[str, Any]
INT_OR_STRING: Final = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_SCALARS: Final = {
    "string": STRING,
    "boolean": Scalar("bool"),
    "int32": Scalar("int32"),
    "integer": Scalar("int64"),
    "number": Scalar("float64"),
}


@once_per_version(256)
def type_of(resource: Resource) -> Type:
    """Return the type of a resource's objects; of an unknown kind, one that has metadata and no more."""
    if resource.schema_text:
        return _type_of_text(resource.schema_text)
    return decoded_type(resource)


@once_per_version(256)
def decoded_type(resource: Resource) -> StructType:
    """Return the type as which a resource's objects are decoded: a custom resource has metadata, and anything
    else, which its schema prunes."""
    own = OWN_KINDS.get((resource.api_version, resource.kind))
    if own is not None:
        return _struct(own, reports_missing=True)
    of = None if resource.schema_text else api_types().of_kind(resource.api_version, resource.kind)
    return of or UNKNOWN_KIND


@once_per_version(256)
def _type_of_text(text: str) -> Type:
    return type_of_schema(structural_schema(text))


def type_of_schema(schema: Schema, *, reports_missing: bool = False) -> Type:
    """Return the type of a schema (structural, or with references to the types of Kubernetes)."""
    if "$ref" in schema:
        # This may be read by another version, of which these types are the same.
        return api_types().find(schema["$ref"]) or ANYTHING
    kind = schema.get("type")
    if isinstance(kind, list):
        return OwnType(INT_OR_STRING)
    match kind:
        case "array":
            items = type_of_schema(schema.get("items") or {}, reports_missing=reports_missing)
            keys = tuple(schema.get("x-kubernetes-list-map-keys", ()))
            return ListType(items, schema.get("x-kubernetes-list-type", "atomic"), keys)
        case "object" | None if schema.get("properties"):
            return _struct(schema, reports_missing=reports_missing)
        case "object" if schema.get(PRESERVES):
            return ANYTHING
        case "object":
            values = schema.get("additionalProperties")
            of = type_of_schema(values) if isinstance(values, dict) else ANYTHING
            relation = "atomic" if schema.get("x-kubernetes-map-type") == "atomic" else "map"
            return MapType(of, STRING, cast("Relation", relation))
        case "integer" if schema.get("format") == "int32":
            return _SCALARS["int32"]
        case None:
            return ANYTHING
    return _SCALARS[kind]


def _struct(schema: Schema, *, reports_missing: bool = False) -> StructType:
    required = schema.get("required", ())

    def declare() -> list[Field]:
        return [
            Field(
                name=name,
                go_name="",
                type=type_of_schema(of, reports_missing=reports_missing),
                omits_empty=name not in required,
                omits_zero=name not in required,
                is_required=name in required,
            )
            for name, of in schema["properties"].items()
        ]

    return StructType(
        "",
        declare,
        is_atomic=schema.get("x-kubernetes-map-type") == "atomic",
        others=None if schema.get("additionalProperties") is False else ANYTHING,
        reports_missing=reports_missing,
    )


UNKNOWN_KIND: Final = _struct({"properties": TYPE_FIELDS})
