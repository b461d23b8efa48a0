"""The schema of a custom resource, applied to its objects."""

from collections.abc import Iterator

from simulator.api import Manifest
from simulator.apiserver.custom_resources.defaulting import set_schema_defaults
from simulator.apiserver.custom_resources.pruning import Pruned, prune
from simulator.apiserver.custom_resources.schema_validation import schema_faults
from simulator.apiserver.custom_resources.structural_schema import structural_schema
from simulator.apiserver.resources import Resource
from simulator.apiserver.status import Cause


def prune_custom(resource: Resource, manifest: Manifest) -> Pruned:
    """Return the manifest without unknown fields. Built-in kinds, and those without a definition, keep
    all."""
    if not resource.schema_text:
        return Pruned(manifest, [])
    return prune(structural_schema(resource.schema_text), manifest)


def set_custom_defaults(resource: Resource, manifest: Manifest) -> None:
    if resource.schema_text:
        set_schema_defaults(structural_schema(resource.schema_text), manifest)


def custom_faults(resource: Resource, manifest: Manifest) -> Iterator[Cause]:
    if resource.schema_text:
        yield from schema_faults(structural_schema(resource.schema_text), manifest)
