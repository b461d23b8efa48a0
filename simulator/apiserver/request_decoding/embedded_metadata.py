"""Decodes the metadata of the resources within a custom resource, as ObjectMeta.

Upstream: Coerce in apiextensions-apiserver/pkg/apiserver/schema/objectmeta/algorithm.go, v1.34.
"""

from typing import NamedTuple

from simulator.api import Manifest
from simulator.apiserver.custom_resources.embedded_resources import embedded_resources
from simulator.apiserver.decoding import stored_form
from simulator.apiserver.request_decoding.typed_values import TypedValues
from simulator.apiserver.status import invalid
from simulator.apiserver.structural_schema import EMBEDDED, structural_schema
from simulator.apiserver.types.api_types import OBJECT_META, api_types


class Embedded(NamedTuple):
    strict_errors: list[str]
    """The fields that ObjectMeta does not have, which were dropped."""
    error: str
    """The error of a type field or of metadata with another type; "" if there is none."""


def decode_embedded(schema_text: str, manifest: Manifest) -> Embedded:
    """Decode the metadata of all embedded resources, in place."""
    strict: list[str] = []
    if EMBEDDED not in schema_text:
        return Embedded(strict, "")
    for path, resource in embedded_resources(structural_schema(schema_text), manifest):
        for field in ("apiVersion", "kind"):
            if not isinstance(resource.get(field, ""), str):
                return Embedded(strict, str(invalid(f"{path}.{field}", resource[field], "must be a string")))
        if "metadata" not in resource:
            continue
        at, given = f"{path}.metadata", resource["metadata"] or {}
        decoder = TypedValues()
        decoded = decoder.decode(api_types().struct(OBJECT_META), given, at)
        if decoder.error:
            return Embedded(strict, str(invalid(at, given, decoder.error)))
        # The fields that the text repeats were noted before.
        strict += [error for error in decoder.strict if error.startswith("unknown")]
        resource["metadata"] = stored_form(OBJECT_META, decoded)
    return Embedded(sorted(strict), "")
