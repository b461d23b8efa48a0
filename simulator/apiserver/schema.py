"""The JSON schemas of all API types: those of Kubernetes v1.34 and those of schedviz's own kinds.

The package kubernetes-validate contains the schemas of Kubernetes in a strict form without unknown fields."""

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

from simulator.apiserver.own_kinds import OWN_KINDS
from simulator.apiserver.resource import Resource
from simulator.apiserver.structural_schema import structural_schema
from simulator.apiserver.types.api_types import VERSION as MINOR_VERSION
from simulator.apiserver.types.api_types import api_types

VERSION = f"v{MINOR_VERSION}.0"
Schema = dict[str, Any]

META = "io.k8s.apimachinery.pkg.apis.meta.v1."
BINDING = "io.k8s.api.core.v1.Binding"
EVICTION = "io.k8s.api.policy.v1.Eviction"
DELETE_OPTIONS = f"{META}DeleteOptions"
OBJECT_META = f"{META}ObjectMeta"
UNKNOWN_KIND = "unknown"
_WITHOUT_REQUIRED = (
    "io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern",
    "io.k8s.api.core.v1.NodeSystemInfo",
    "io.k8s.api.events.v1.Event",
)
"""Types whose fields are "required" in the schema, but may be missing: they have defaults, or the kubelet
sets them."""
_JSON_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
_TYPES: dict[str, Schema] = {
    # The shipped schemas accept any string and any number for these two types.
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {
        "title": "quantity",
        "type": ["string", "number"],
        "format": "quantity",
    },
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "title": "integer or string",
        "type": ["integer", "string"],
        "format": "int32",
    },
    # Any JSON. The shipped schema accepts objects only, which upstream leaves to validation.
    "io.k8s.apimachinery.pkg.runtime.RawExtension": {},
    # Of these the shipped schemas accept anything.
    f"{_JSON_SCHEMA}OrBool": {
        "title": "boolean or JSON schema",
        "anyOf": [{"type": "boolean"}, {"$ref": _JSON_SCHEMA}],
    },
    f"{_JSON_SCHEMA}OrArray": {
        "title": "JSON schema or array of JSON schemas",
        "anyOf": [{"type": "array", "items": {"$ref": _JSON_SCHEMA}}, {"$ref": _JSON_SCHEMA}],
    },
    f"{_JSON_SCHEMA}OrStringArray": {
        "title": "JSON schema or array of strings",
        "anyOf": [{"type": "array", "items": {"type": "string"}}, {"$ref": _JSON_SCHEMA}],
    },
    # A kind without a schema: only its metadata is checked.
    UNKNOWN_KIND: {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"$ref": OBJECT_META},
        },
    },
}


@cache
def definitions() -> dict[str, Schema]:
    """Return the schemas of all API types by full name. A ``$ref`` contains such a name."""
    spec = importlib.util.find_spec("kubernetes_validate")
    assert spec is not None, "kubernetes-validate is not installed"
    assert spec.submodule_search_locations is not None
    root = Path(spec.submodule_search_locations[0])
    path = root / "kubernetes-json-schema" / f"{VERSION}-local-strict" / "_definitions.json"
    shipped: dict[str, Schema] = json.loads(path.read_bytes(), object_hook=_simplify_schema)["$defs"]
    for name in _WITHOUT_REQUIRED:
        shipped[name]["required"] = []
    # pods/eviction accepts both versions (pkg/apis/policy/v1beta1/register.go).
    shipped[EVICTION]["properties"]["apiVersion"]["enum"].append("policy/v1beta1")
    return shipped | {_own_type_name(*kind): schema for kind, schema in OWN_KINDS.items()} | _TYPES


def _simplify_schema(schema: Schema) -> Schema:
    """Simplify one object of the shipped schemas, in place.

    It is called for every JSON object, also for ``properties``, where ``description`` or ``type`` may be the
    name of a field: there the value is a schema and not a string."""
    if isinstance(schema.get("description"), str):
        del schema["description"]  # most of the size
    if isinstance(schema.get("$ref"), str):
        schema["$ref"] = schema["$ref"].removeprefix("#/$defs/")
    if isinstance(schema.get("type"), list):
        schema["type"] = schema["type"][0]  # without "null": decoding.py removes nulls before
    if schema.get("type") == "integer":
        schema.setdefault("format", "int64")
    return schema


def _own_type_name(api_version: str, kind: str) -> str:
    return f"{api_version.replace('/', '.')}.{kind}"


def find_type_name(api_version: str, kind: str) -> str | None:
    """Return the name of Kubernetes' type of this apiVersion and kind; None if there is none."""
    return api_types().kinds.get(f"{api_version}/{kind}")


def is_known_kind(api_version: str, kind: str) -> bool:
    """Whether Kubernetes has a type of this apiVersion and kind."""
    return find_type_name(api_version, kind) is not None


def type_name_of(resource: Resource) -> str:
    """Return the name of the type of a resource's objects."""
    if (resource.api_version, resource.kind) in OWN_KINDS:
        return _own_type_name(resource.api_version, resource.kind)
    return find_type_name(resource.api_version, resource.kind) or UNKNOWN_KIND


def reference_of(resource: Resource) -> Schema:
    """Return the reference to the schema of a resource's objects; {} for a resource without a type, such as
    a custom one."""
    name = type_name_of(resource)
    return {"$ref": name} if name in definitions() else {}


def schema_of(resource: Resource) -> Schema:
    """Return the schema of a resource's objects; for an unknown kind, one that only describes metadata."""
    if resource.schema_text:
        return structural_schema(resource.schema_text)
    return definitions()[type_name_of(resource)]


def resolve_reference(schema: Schema) -> Schema:
    """Return the schema that a ``$ref`` points to, or the given schema if it has no ``$ref``."""
    return definitions()[schema["$ref"]] if "$ref" in schema else schema
