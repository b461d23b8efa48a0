"""Validation of updates of the core kinds but for pods: which fields may change.

Upstream: the Validate...Update functions in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.core_validation import check_finalizer_name
from simulator.apiserver.event_validation import validate_event
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.repeated import repeats
from simulator.apiserver.resource_validation import validate_node_resources
from simulator.apiserver.selector_validation import validate_taints
from simulator.apiserver.service_update_validation import validate_service_update
from simulator.apiserver.status import Cause, duplicate, forbidden
from simulator.apiserver.volume_update_validation import validate_claim_update, validate_volume_update


def validate_node_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateNodeUpdate reports, which also looks at the resources and taints of the
    node again."""
    after, before = new.get("spec", {}), old.get("spec", {})
    yield from validate_node_resources(new.get("status", {}))
    yield from _node_addresses(new.get("status", {}).get("addresses", ()))
    detail = 'node updates may not change {} except from "" to valid'
    known, given = before.get("podCIDRs", []), after.get("podCIDRs", [])
    if known and len(known) != len(given):
        yield forbidden("spec.podCIDRs", detail.format("podCIDR"))
    elif known:
        changed = [None for one, other in zip(known, given, strict=True) if one != other]
        yield from (forbidden("spec.podCIDRs", detail.format("podCIDR")) for _ in changed)
    if before.get("providerID") and after.get("providerID") != before["providerID"]:
        yield forbidden("spec.providerID", detail.format("providerID"))
    yield from validate_taints(after.get("taints", []), "metadata.taints")
    if after.get("externalID") != before.get("externalID"):
        yield forbidden("spec.externalID", "may not be updated")


def _node_addresses(addresses: Sequence[Manifest]) -> Iterator[Cause]:
    for index, (address, is_repeated) in enumerate(zip(addresses, repeats(addresses), strict=True)):
        if is_repeated:
            yield duplicate(f"status.addresses[{index}]", core_struct("NodeAddress", address), whole=True)


def validate_namespace_finalizers(new: Manifest, _: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateNamespaceFinalizeUpdate reports."""
    for index, finalizer in enumerate(new.get("spec", {}).get("finalizers") or ()):
        yield from check_finalizer_name(finalizer, f"spec.finalizers[{index}]")


def _validate_event_update(new: Manifest, _: Manifest) -> Iterator[Cause]:
    yield from validate_event(new, "v1")


CORE_UPDATE_CHECKS: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    "events": _validate_event_update,
    "nodes": validate_node_update,
    "persistentvolumeclaims": validate_claim_update,
    "persistentvolumes": validate_volume_update,
    "services": validate_service_update,
}
