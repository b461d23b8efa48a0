"""The entries of managedFields that a Scale shows: who owns the replicas of its object.

Upstream: ToSubresource in apimachinery/pkg/util/managedfields/scalehandler.go, v1.34.
"""

from simulator.api import Manifest
from simulator.apiserver.managed_fields.field_paths import FieldsError, field_element
from simulator.apiserver.managed_fields.managers import (
    ManagedFields,
    OwnedFields,
    decode_managed_fields,
    encode_managed_fields,
)
from simulator.apiserver.resources import SCALES, Resource

_REPLICAS = ("f:spec", "f:replicas")


def managed_fields_of_scale(resource: Resource, manifest: Manifest) -> list[Manifest]:
    """Return the entries of the managers that own the replicas of an object."""
    assert resource.scale is not None
    path = tuple(map(field_element, resource.scale.spec_replicas.strip(".").split(".")))
    try:
        managed = decode_managed_fields(manifest["metadata"].get("managedFields"))
    except FieldsError:
        return []
    return encode_managed_fields(
        ManagedFields(
            {
                manager: OwnedFields(frozenset({_REPLICAS}), SCALES.api_version, owned.time)
                for manager, owned in managed.owners.items()
                if path in owned.fields
            }
        )
    )
