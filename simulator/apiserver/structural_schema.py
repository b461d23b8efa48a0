"""Structural schemas of custom resources, in the form of the Kubernetes schemas."""

import json
from functools import lru_cache
from typing import Any, Final

Schema = dict[str, Any]
META: Final[Schema] = {"$ref": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
PRESERVES: Final = "x-kubernetes-preserve-unknown-fields"
EMBEDDED: Final = "x-kubernetes-embedded-resource"
_STRING: Final[Schema] = {"type": "string"}
TYPE_FIELDS: Final = {"apiVersion": _STRING, "kind": _STRING, "metadata": META}
"""The fields that the object and each embedded resource have, whatever the schema says of them."""


@lru_cache(256)
def structural_schema(text: str) -> Schema:
    """Return the schema in a CustomResourceDefinition's ``openAPIV3Schema``, with the fields that every
    object has. An object that declares fields, and does not preserve unknown ones, has
    ``additionalProperties: false``."""
    schema = _closed(json.loads(text))
    schema["properties"] = {**schema.get("properties", {}), **TYPE_FIELDS}
    return {"type": "object", **schema}


def _closed(schema: Schema) -> Schema:
    closed = dict(schema)
    if schema.get("x-kubernetes-int-or-string"):
        closed["type"] = ["integer", "string"]
    if isinstance(schema.get("items"), dict):
        closed["items"] = _closed(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        closed["additionalProperties"] = _closed(schema["additionalProperties"])
    elif schema.get("type") == "object" or "properties" in schema:
        closed["properties"] = {name: _closed(field) for name, field in schema.get("properties", {}).items()}
        if schema.get(EMBEDDED):
            closed["properties"] = {**closed["properties"], **TYPE_FIELDS}
        is_open = schema.get(PRESERVES) or schema.get("additionalProperties")
        if closed["properties"] and not is_open:
            closed["additionalProperties"] = False
    return closed
