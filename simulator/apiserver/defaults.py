"""Defaults that every write sets, by the strategy of the kind, and the parts of a status that are never
missing: what Go's encoder writes of an empty one, and the phase in which an object begins (types.go and
defaults.go of the API groups).
"""

from simulator.api import Manifest
from simulator.apiserver.field_changes import complete
from simulator.apiserver.kinds.registry import find_strategy, strategy_of
from simulator.apiserver.resource import Resource
from simulator.apiserver.served_features import once_per_version
from simulator.apiserver.types.model import StructType
from simulator.apiserver.types.schema_types import decoded_type
from simulator.apiserver.types.zero_values import zero_value


def set_defaults(resource: Resource, manifest: Manifest, old: Manifest | None = None) -> None:
    """Set the defaults in place, after the fields that are disabled are dropped. The manifest must be
    decoded, and a copy of the caller's own. ``old``: the stored object, which is updated. Idempotent."""
    strategy = strategy_of(resource)
    strategy.drop_disabled_fields(manifest, old)
    strategy.set_defaults(manifest)
    set_status_defaults(resource.id, manifest)


@once_per_version()
def _status_type(resource: str) -> StructType | None:
    """Return the type of the status of a resource; None if it has no subresource ``status``."""
    strategy = find_strategy(resource)
    if strategy is None or not strategy.resource.has_status:
        return None
    field = decoded_type(strategy.resource).fields.get("status")
    return field.type if field is not None and isinstance(field.type, StructType) else None


@once_per_version()
def _first_status(resource: str) -> Manifest | None:
    """Return the status of a new object; None if its kind has none."""
    of, strategy = _status_type(resource), find_strategy(resource)
    if of is None or strategy is None or strategy.first_phase is None:
        return None
    status: Manifest = zero_value(of)
    return status | {"phase": strategy.first_phase} if strategy.first_phase else status


def set_status_defaults(resource: str, manifest: Manifest) -> None:
    """Complete the status in place; create it if the kind always has one."""
    defaults = _first_status(resource)
    if defaults is not None:
        complete(manifest.setdefault("status", {}), defaults)
