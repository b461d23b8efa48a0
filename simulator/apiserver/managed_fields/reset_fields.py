"""Fields that a write through a path does not change: no manager becomes their owner by it.

Upstream: GetResetFields of the strategies in pkg/registry, v1.34.
"""

from functools import cache
from typing import Final

from simulator.apiserver.managed_fields.field_paths import FieldSet, field_element
from simulator.apiserver.resources import CRDS, Resource
from simulator.apiserver.schema import schema_of

_STATUS_KEEPS_METADATA: Final = (CRDS, "resourceclaims.resource.k8s.io", "volumeattachments.storage.k8s.io")
_STATUS_KEEPS: Final = {
    "deployments.apps": ("labels",),
    "pods": ("deletionTimestamp", "ownerReferences"),
}
"""The fields of the metadata that the path of the status does not change."""


@cache
def reset_fields(resource: Resource, subresource: str) -> FieldSet:
    """Return the paths that a write through this path does not change; nor what is below them."""
    if not resource.has_status:
        return frozenset()
    if subresource != "status":
        # For pods/resize and pods/ephemeralcontainers, too, in v1.34: other fields that are sent are owned.
        return frozenset({("f:status",)})
    if resource.schema_text:
        # The rest of a custom resource is not changed either, but upstream names the spec only.
        return frozenset({("f:spec",)})
    others = [
        name for name in schema_of(resource).get("properties", {}) if name not in ("metadata", "status")
    ]
    paths = {(field_element(name),) for name in (*others, "spec")} - {("f:apiVersion",), ("f:kind",)}
    if resource.id in _STATUS_KEEPS_METADATA:
        return frozenset(paths | {("f:metadata",)})
    kept = {("f:metadata", field_element(name)) for name in _STATUS_KEEPS.get(resource.id, ())}
    return frozenset(paths | kept)
