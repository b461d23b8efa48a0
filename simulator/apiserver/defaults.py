"""Defaults that every write sets, by the strategy of the kind."""

from simulator.api import Manifest
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.resource import Resource
from simulator.apiserver.status_defaults import set_status_defaults


def set_defaults(resource: Resource, manifest: Manifest) -> None:
    """Set the defaults in place, after the fields that are disabled are dropped. The manifest must be
    decoded, and a copy of the caller's own. Idempotent."""
    strategy = strategy_of(resource)
    strategy.drop_disabled_fields(manifest)
    strategy.set_defaults(manifest)
    set_status_defaults(resource.id, manifest)
