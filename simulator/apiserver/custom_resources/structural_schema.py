"""Structural schemas of custom resources, in the form of the Kubernetes schemas."""

import json
from functools import lru_cache
from typing import Any

META = {"$ref": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
PRESERVES = "x-kubernetes-preserve-unknown-fields"
_STRING = {"type": "string"}
_TYPE_FIELDS = {"apiVersion": _STRING, "kind": _STRING, "metadata": META}


@lru_cache(256)
def structural_schema(text: str) -> dict[str, Any]:
    """Return the schema in a CustomResourceDefinition's ``openAPIV3Schema``, with the fields that every
    object has. The fields of an object that declares some, and does not preserve unknown ones, are all there
    are."""
    schema = _closed(json.loads(text))
    schema["properties"] = {**schema.get("properties", {}), **_TYPE_FIELDS}
    return {"type": "object", **schema}


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    closed = dict(schema)
    if schema.get("x-kubernetes-int-or-string"):
        closed["type"] = ["integer", "string"]
    if isinstance(schema.get("items"), dict):
        closed["items"] = _closed(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        closed["additionalProperties"] = _closed(schema["additionalProperties"])
    elif schema.get("type") == "object" or "properties" in schema:
        closed["properties"] = {name: _closed(field) for name, field in schema.get("properties", {}).items()}
        if schema.get("x-kubernetes-embedded-resource"):
            closed["properties"] = {**closed["properties"], **_TYPE_FIELDS}
        if not schema.get(PRESERVES) and not schema.get("additionalProperties"):
            closed["additionalProperties"] = False
    return closed
