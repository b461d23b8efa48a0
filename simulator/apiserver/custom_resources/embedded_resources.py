"""Checks the objects within a custom resource that its schema calls resources
(``x-kubernetes-embedded-resource``).

Upstream: apiextensions-apiserver/pkg/apiserver/schema/objectmeta/validation.go, v1.34.
"""

from collections.abc import Iterator
from typing import Any

from simulator.apiserver import names
from simulator.apiserver.custom_resources.parts import Part, parts_of
from simulator.apiserver.object_meta_validation import validate_embedded_meta
from simulator.apiserver.status import Cause, invalid, required
from simulator.apiserver.structural_schema import EMBEDDED, Schema


def embedded_resources(schema: Schema, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the embedded resources of a value with their paths, the outer ones first."""
    for part in parts_of(Part(schema, value)):
        if part.schema.get(EMBEDDED) and isinstance(part.value, dict):
            yield part.path, part.value


def embedded_resource_faults(schema: Schema, value: Any) -> Iterator[Cause]:
    """Yield the faults of the type and the metadata of all embedded resources."""
    for path, resource in embedded_resources(schema, value):
        yield from _api_version_faults(resource.get("apiVersion", ""), f"{path}.apiVersion")
        yield from _kind_faults(resource.get("kind", ""), f"{path}.kind")
        if resource.get("metadata"):
            yield from validate_embedded_meta(resource["metadata"], f"{path}.metadata")


def _api_version_faults(api_version: Any, path: str) -> Iterator[Cause]:
    if not isinstance(api_version, str):
        yield invalid(path, api_version, "must be a string")
    elif not api_version:
        yield required(path)
    elif api_version.count("/") > 1:
        yield invalid(path, api_version, f"unexpected GroupVersion string: {api_version}")


def _kind_faults(kind: Any, path: str) -> Iterator[Cause]:
    if not isinstance(kind, str):
        yield invalid(path, kind, "must be a string")
    elif not kind:
        yield required(path)
    elif problems := names.service_name(kind.lower()):
        text = f"may have mixed case, but should otherwise match: {','.join(problems)}"
        yield invalid(path, kind, text)
