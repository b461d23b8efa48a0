"""Validation of objects, beyond their schemas, with the messages and field paths of the API server.

It requires a decoded manifest (:func:`simulator.apiserver.decoding.decode`) without faults, with defaults
set. Upstream: BeforeCreate and BeforeUpdate in apiserver/pkg/registry/rest/{create,update}.go, Validate and
ValidateUpdate of the strategies in pkg/registry, and the functions of pkg/apis/*/validation that they call.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from simulator.api import Manifest
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.object_meta_validation import (
    validate_finalizers,
    validate_metadata_update,
    validate_object_meta,
)
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import Cause, first_causes
from simulator.apiserver.strategy import Strategy


def validate(resource: Resource, manifest: Manifest, *, is_new: bool = False) -> list[Cause]:
    """Return the faults of an object as it is to be stored. ``is_new``: also of what stored ones may have."""
    strategy = strategy_of(resource)
    own = strategy.validate_new(manifest) if is_new else ()
    faults = first_causes(chain(strategy.validate(manifest), own))
    if faults and not strategy.validates_metadata:
        return faults
    return first_causes(chain(_metadata_faults(strategy, manifest["metadata"]), faults))


def validate_metadata(resource: Resource, metadata: dict[str, Any]) -> list[Cause]:
    """Return the faults of the metadata of an object as it is to be stored."""
    return first_causes(_metadata_faults(strategy_of(resource), metadata))


def _metadata_faults(strategy: Strategy, metadata: dict[str, Any]) -> Iterator[Cause]:
    rule = strategy.name_rule_of_new or strategy.name_rule
    of_all = validate_object_meta(metadata, rule, namespaced=strategy.resource.namespaced)
    return chain(of_all, _finalizers(strategy, metadata))


def validate_updated(
    resource: Resource, new: Manifest, old: Manifest, given: dict[str, Any], subresource: str = ""
) -> list[Cause]:
    """Return the faults of an object as an update would store it. ``given``: its metadata as it was sent.

    Some parts are validated more than once, and a fault is a cause as often as it is found."""
    strategy, metadata = strategy_of(resource), new["metadata"]
    path = strategy.subresource(subresource)
    parts: dict[str, Callable[[], Iterable[Cause]]] = {
        "m": lambda: validate_object_meta(metadata, strategy.name_rule, namespaced=resource.namespaced),
        "S": lambda: (
            strategy.validate_updated(new, old) if strategy.validate_updated else strategy.validate(new)
        ),
        "u": lambda: validate_metadata_update(given, old),
        "C": lambda: validate_update(resource, new, old, subresource),
        "f": lambda: _finalizers(strategy, metadata),
    }
    order = (path.update_order if path else "") or strategy.update_order
    # The metadata of all kinds is validated before what is special to the kind.
    order = order.replace("M", "mf").replace("U", "uf")
    return first_causes(cause for part in f"mu{order}" for cause in parts[part]())


def validate_update(resource: Resource, new: Manifest, old: Manifest, subresource: str = "") -> list[Cause]:
    """Return the faults of what an update changes, but for the metadata. Those of the new object are not
    among them."""
    strategy = strategy_of(resource)
    path = strategy.subresource(subresource)
    if path:
        return first_causes(path.validate_update(new, old))
    return [] if subresource else first_causes(strategy.validate_update(new, old))


def _finalizers(strategy: Strategy, metadata: dict[str, Any]) -> Iterator[Cause]:
    has_rule = strategy.validates_metadata and not strategy.any_finalizer
    return validate_finalizers(metadata) if has_rule else iter(())
