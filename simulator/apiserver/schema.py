"""The types of the API: the JSON schemas of Kubernetes v1.34, which come with the package kubernetes-validate
in a strict form that names every field, and those of our own kinds."""

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

from simulator.apiserver.own_kinds import OWN_KINDS
from simulator.apiserver.resources import Resource

VERSION = "v1.34.0"
Schema = dict[str, Any]

META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_UNKNOWN_KIND = "unknown"
_TYPES: dict[str, Schema] = {
    # Where the shipped schemas take any text, and any number beside it.
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
    # A kind that nobody described: its metadata is checked, and it is kept as it is otherwise.
    _UNKNOWN_KIND: {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"$ref": f"{META}ObjectMeta"},
        },
    },
}


@cache
def definitions() -> dict[str, Schema]:
    """Every type of the API by its full name. A ``$ref`` is such a name."""
    spec = importlib.util.find_spec("kubernetes_validate")
    assert spec is not None, "kubernetes-validate is not installed"
    assert spec.submodule_search_locations is not None
    root = Path(spec.submodule_search_locations[0])
    path = root / "kubernetes-json-schema" / f"{VERSION}-local-strict" / "_definitions.json"
    shipped: dict[str, Schema] = json.loads(path.read_bytes(), object_hook=_plain)["$defs"]
    return shipped | {_own(*kind): schema for kind, schema in OWN_KINDS.items()} | _TYPES


def _plain(schema: Schema) -> Schema:
    """A shipped schema as it is used here. (Of ``properties`` too, where the values are no texts.)"""
    if isinstance(schema.get("description"), str):
        del schema["description"]  # most of their bulk
    if isinstance(schema.get("$ref"), str):
        schema["$ref"] = schema["$ref"].removeprefix("#/$defs/")
    if isinstance(schema.get("type"), list):
        schema["type"] = schema["type"][0]  # without "null": nulls are left out before (decoding.py)
    if schema.get("type") == "integer":
        schema.setdefault("format", "int64")
    return schema


def _own(api_version: str, kind: str) -> str:
    return f"{api_version.replace('/', '.')}.{kind}"


@cache
def _kinds() -> dict[tuple[str, str, str], str]:
    """Names of types by group, version and kind."""
    return {
        (gvk["group"], gvk["version"], gvk["kind"]): name
        for name, schema in definitions().items()
        for gvk in schema.get("x-kubernetes-group-version-kind", ())
    }


def type_of(resource: Resource) -> str:
    """The name of the type of a resource's objects."""
    if (resource.api_version, resource.kind) in OWN_KINDS:
        return _own(resource.api_version, resource.kind)
    return _kinds().get((resource.group, resource.version, resource.kind), _UNKNOWN_KIND)


def schema_of(resource: Resource) -> Schema:
    """The schema of a resource's objects; a loose one for kinds that none is known of."""
    return definitions()[type_of(resource)]


def referenced(schema: Schema) -> Schema:
    """The schema itself, or what its ``$ref`` points to."""
    return definitions()[schema["$ref"]] if "$ref" in schema else schema
