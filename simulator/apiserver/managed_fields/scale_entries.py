"""The entries of managedFields of a Scale, and what they are in its object: who owns the replicas.

Upstream: ToSubresource and ToParent in apimachinery/pkg/util/managedfields/scalehandler.go.
"""

from simulator.api import Manifest
from simulator.apiserver.managed_fields.field_paths import FieldsError, field_element
from simulator.apiserver.managed_fields.managers import (
    ManagedFields,
    OwnedFields,
    decode_managed_fields,
    encode_managed_fields,
)
from simulator.apiserver.resource import SCALES, Resource

_REPLICAS = ("f:spec", "f:replicas")


def managed_fields_of_scale(resource: Resource, manifest: Manifest) -> list[Manifest]:
    """Return the entries of the managers that own the replicas of an object."""
    path = _replicas_path(resource)
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


def managed_fields_after_scale(
    resource: Resource, manifest: Manifest, entries: list[Manifest]
) -> list[Manifest]:
    """Return the entries of an object whose Scale was applied. ``entries``: those of the Scale afterwards. A
    manager that owned the replicas and is not among them owns only the rest; new ones own the replicas. The
    handler of the Scale does not say since when."""
    path = _replicas_path(resource)
    try:
        managed = decode_managed_fields(manifest["metadata"].get("managedFields"))
    except FieldsError:
        managed = ManagedFields()
    of_scale = dict(decode_managed_fields(entries).owners)
    kept = {}
    for manager, owned in managed.owners.items():
        if path not in owned.fields or manager in of_scale:
            kept[manager] = owned
            if path in owned.fields:
                del of_scale[manager]
        elif fields := owned.fields - {path}:
            kept[manager] = OwnedFields(fields, owned.api_version, owned.time)
    for manager, owned in of_scale.items():
        if _REPLICAS in owned.fields:
            kept[manager] = OwnedFields(frozenset({path}), resource.api_version)
    return encode_managed_fields(ManagedFields(kept))


def _replicas_path(resource: Resource) -> tuple[str, ...]:
    assert resource.scale is not None
    return tuple(map(field_element, resource.scale.spec_replicas.strip(".").split(".")))
