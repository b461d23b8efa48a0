"""The schemas of types in the form of OpenAPI v3, with the descriptions that ``kubectl explain`` prints.

Upstream: the documents under ``/openapi/v3``. The package kubernetes-validate has the schemas and
their descriptions, without defaults and enumerations: both are derived as far as they can be.
"""

import json
from typing import Final

from simulator.apiserver.enumerations import Choices, fields_of
from simulator.apiserver.resource import Resource
from simulator.apiserver.served_features import served_version
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import Field, StructType
from simulator.apiserver.types.openapi_documents import Schema, openapi_schemas

_ROOT: Final = "#/components/schemas/"
_SHIPPED: Final = "#/$defs/"
_ZEROS: Final = {"string": "", "integer": 0, "number": 0, "boolean": False}


def components_of(resources: list[Resource]) -> dict[str, Schema]:
    """Return the schemas of the resources' types and of all types that they refer to, by name."""
    found: dict[str, Schema] = {}
    for resource in resources:
        of = api_types().of_kind(resource.api_version, resource.kind)
        if of is not None:
            _add(of.name, found)
        elif resource.schema_text:
            found[custom_type_name(resource)] = _custom(resource, found)
    return dict(sorted(found.items()))


def custom_type_name(resource: Resource) -> str:
    """Return the name of a custom resource's type: ``com.example.v1.Widget`` for the group
    ``example.com``."""
    return ".".join([*reversed(resource.group.split(".")), resource.version, resource.kind])


def _custom(resource: Resource, found: dict[str, Schema]) -> Schema:
    meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    _add(meta, found)
    schema: Schema = json.loads(resource.schema_text)
    own = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"allOf": [{"$ref": _ROOT + meta}]},
    }
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    return {
        **schema,
        "properties": {**own, **schema.get("properties", {})},
        "x-kubernetes-group-version-kind": [kind],
    }


def _add(name: str, found: dict[str, Schema]) -> None:
    """Add a type and those that it refers to."""
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _component(name, waiting)
            _list_values(name, found[name].get("properties", {}))


def _component(name: str, references: list[str]) -> Schema:
    """Return the schema of a type in the form of OpenAPI. Adds the types that it refers to to
    ``references``."""
    schema = openapi_schemas()[name]
    converted = _converted(schema, references)
    of = api_types().find(name)
    if isinstance(of, StructType) and "properties" in schema:
        converted["properties"] = {
            field: _field(of.fields[field], value, references)
            for field, value in schema["properties"].items()
        }
    return converted


def _converted(schema: Schema, references: list[str]) -> Schema:
    """Return a shipped schema without its fields in the form of OpenAPI."""
    kept: Schema = {}
    for key, value in schema.items():
        match key:
            case "items":
                kept[key] = _item(value, references)
            case "additionalProperties":
                if isinstance(value, dict):
                    kept[key] = _item(value, references)
            case "type":
                kept[key] = value[0] if isinstance(value, list) else value
            case "$ref":
                references.append(value.removeprefix(_SHIPPED))
                kept["allOf"] = [{"$ref": value.replace(_SHIPPED, _ROOT)}]
            case _:
                kept[key] = value
    return kept


def _field(field: Field, schema: Schema, references: list[str]) -> Schema:
    converted = _converted(schema, references)
    if field.name in ("apiVersion", "kind"):
        converted.pop("enum", None)
    if field.is_pointer:
        return converted
    if isinstance(field.type, StructType) or ("allOf" in converted and field.is_required):
        converted["default"] = {}
    elif not field.omits_empty and converted.get("type") in _ZEROS and converted.get("format") != "byte":
        converted["default"] = _ZEROS[converted["type"]]
    return converted


def _item(schema: Schema, references: list[str]) -> Schema:
    converted = _converted(schema, references)
    if "allOf" in converted:
        converted["default"] = {}
    elif converted.get("type") in _ZEROS:
        converted["default"] = _ZEROS[converted["type"]]
    return converted


def _list_values(type_name: str, properties: dict[str, Schema]) -> None:
    """List the values of enumerations in the schemas of a type's fields, and in their descriptions; those of
    a list or a map in the schema of its items. Upstream (kube-openapi, pkg/generators/{enum,openapi}.go)
    describes a value by the comment of its constant, which the shipped schemas do not have."""
    fields = fields_of(served_version().name)
    for field, choices in fields.get(type_name.removeprefix("io.k8s.api."), {}).items():
        schema = properties[field]
        items = schema.get("items") or schema.get("additionalProperties")
        (items or schema)["enum"] = sorted(choices)
        if items is None:
            schema["description"] += _paragraph(choices)


def _paragraph(choices: Choices) -> str:
    lines = "".join(f'\n - `"{value}"`' for value in sorted(choices))
    return f"\n\nPossible enum values:{lines}"
