"""The schema of a custom resource, applied to its objects, and to the objects within them that it calls
resources (``x-kubernetes-embedded-resource``).

Upstream: unstructuredSchemaCoercer in apiextensions-apiserver/pkg/apiserver/customresource_handler.go,
Validate and ValidateUpdate in its pkg/registry/customresource/strategy.go, and
pkg/apiserver/schema/objectmeta/validation.go.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.custom_resources.coercion import Pruned, drop_nulls, prune, set_schema_defaults
from simulator.apiserver.custom_resources.parts import ABSENT, Part, parts_of
from simulator.apiserver.custom_resources.rules import RULES, rule_faults
from simulator.apiserver.custom_resources.schema_validation import (
    LIST_TYPE,
    list_type_faults,
    schema_faults,
)
from simulator.apiserver.object_meta_validation import validate_embedded_meta
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import Cause, first_causes, invalid, required
from simulator.apiserver.structural_schema import EMBEDDED, Schema, structural_schema

_BLOCKING: Final = (
    "FieldValueNotSupported",
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueTypeInvalid",
)
_NOT_CHECKED: Final = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to "
    "complete validation"
)


def prune_custom(resource: Resource, manifest: Manifest, *, is_applied: bool = False) -> Pruned:
    """Return the manifest without unknown fields, and without the nulls of fields that may not be null.
    Built-in kinds, and those without a definition, keep all. ``is_applied``: it was merged by a server-side
    apply, after which nulls are validated."""
    if not resource.schema_text:
        return Pruned(manifest, [])
    schema = structural_schema(resource.schema_text)
    pruned = prune(schema, manifest)
    if not is_applied:
        drop_nulls(schema, pruned.value)
    return pruned


def set_custom_defaults(resource: Resource, manifest: Manifest) -> None:
    if resource.schema_text:
        set_schema_defaults(structural_schema(resource.schema_text), manifest)


def custom_faults(resource: Resource, manifest: Manifest, old: Manifest | None = None) -> list[Cause]:
    """Return the faults of a custom resource. ``old``: the object before an update, whose faults may stay
    where they are (CRDValidationRatcheting)."""
    if not resource.schema_text:
        return []
    schema = structural_schema(resource.schema_text)
    before = ABSENT if old is None else old
    text = resource.schema_text
    embedded = embedded_resource_faults(schema, manifest) if EMBEDDED in text else ()
    faults = first_causes(chain(schema_faults(schema, manifest, "", before), embedded))
    if LIST_TYPE in text and (old is None or not any(list_type_faults(schema, old))):
        faults += list_type_faults(schema, manifest)
    if RULES not in text:
        return faults
    if any(fault.reason in _BLOCKING for fault in faults):
        return [*faults, Cause("<nil>", f'Invalid value: "null": {_NOT_CHECKED}')]
    return [*faults, *rule_faults(schema, manifest, before)]


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
