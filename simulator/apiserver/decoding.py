"""Decoding of request bodies into the stored form. Unknown fields and wrong types are faults (the API
server's strict field validation)."""

from simulator.api import Manifest
from simulator.apiserver.custom_resources.resource_schema import embedded_resources
from simulator.apiserver.faults import find_faults
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import BadRequest, Cause
from simulator.apiserver.stored_form import Misfits, normalizer
from simulator.apiserver.structural_schema import EMBEDDED, structural_schema
from simulator.apiserver.types.api_types import OBJECT_META, api_types
from simulator.apiserver.types.model import StructType
from simulator.apiserver.types.schema_types import decoded_type


def decode(resource: Resource, manifest: Manifest) -> tuple[Manifest, list[Cause]]:
    """Return the manifest in its stored form, and its faults.

    For a kind without a type only ``metadata`` is checked, and that of the resources in a custom one.
    """
    normal, causes = _decode_as(decoded_type(resource), manifest)
    if EMBEDDED in resource.schema_text:
        for path, embedded in embedded_resources(structural_schema(resource.schema_text), normal):
            _, found = _decode_as(api_types().struct(OBJECT_META), embedded.get("metadata") or {})
            causes += [
                Cause(f"{path}.metadata.{cause.field}", cause.message, cause.reason) for cause in found
            ]
    return normal, causes


def stored_form(type_name: str, value: Manifest) -> Manifest:
    """Return a copy of a value of a type, which has no faults, as it is stored."""
    normal: Manifest = normalizer(api_types().struct(type_name))(value, [])
    return normal


def decode_body(type_name: str, value: Manifest) -> Manifest:
    """Decode a request body of a type that is not stored: Binding, Eviction, DeleteOptions. The caller checks
    for missing fields. Raises BadRequest."""
    body, causes = _decode_as(api_types().struct(type_name), value)
    if causes:
        raise BadRequest(f"{type_name.rpartition('.')[2]}: {causes[0]}", causes=causes)
    return body


def _decode_as(of: StructType, value: Manifest) -> tuple[Manifest, list[Cause]]:
    misfits: Misfits = []
    normal: Manifest = normalizer(of)(value, misfits)
    return normal, find_faults(of, normal) if misfits or of.reports_missing else []
