"""Fields that a write through a path does not change: no manager becomes their owner by it.

Upstream: GetResetFields of the strategies in pkg/registry, v1.34.
"""

from functools import cache

from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.managed_fields.field_paths import FieldSet, field_element
from simulator.apiserver.resource import Resource
from simulator.apiserver.strategy import WHOLE_METADATA
from simulator.apiserver.types.schema_types import decoded_type


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
    others = [name for name in decoded_type(resource).fields if name not in ("metadata", "status")]
    paths = {(field_element(name),) for name in (*others, "spec")} - {("f:apiVersion",), ("f:kind",)}
    status = strategy_of(resource).subresource("status")
    resets = status.resets_metadata if status else ()
    if resets == WHOLE_METADATA:
        return frozenset(paths | {("f:metadata",)})
    return frozenset(paths | {("f:metadata", field_element(name)) for name in resets})
