"""The schema of a custom resource, applied to its objects."""

from itertools import chain
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.custom_resources.defaulting import drop_nulls, set_schema_defaults
from simulator.apiserver.custom_resources.embedded_resources import embedded_resource_faults
from simulator.apiserver.custom_resources.list_types import LIST_TYPE, list_type_faults
from simulator.apiserver.custom_resources.parts import ABSENT
from simulator.apiserver.custom_resources.pruning import Pruned, prune
from simulator.apiserver.custom_resources.rules import RULES, rule_faults
from simulator.apiserver.custom_resources.schema_validation import schema_faults
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import Cause, first_causes
from simulator.apiserver.structural_schema import EMBEDDED, structural_schema

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
    apply, after which nulls are validated. Upstream: unstructuredSchemaCoercer in
    apiextensions-apiserver/pkg/apiserver/customresource_handler.go, v1.34."""
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
    where they are (CRDValidationRatcheting). Upstream: Validate and ValidateUpdate in
    apiextensions-apiserver/pkg/registry/customresource/strategy.go, v1.34."""
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
