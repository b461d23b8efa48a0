"""The part of ``decide``'s answer about devices, for inputs with a list of deviceClasses, resourceSlices or
resourceClaims."""

from typing import Any, Final

from simulator.framework.status import PluginError
from simulator.plugins.dynamic_resources.extended_resources import SPECIAL_NAME
from simulator.plugins.dynamic_resources.filter_search import allocations_on
from simulator.plugins.dynamic_resources.pod_claims import STATE, ClaimsState
from simulator.scheduler.attempt import Attempt

DRA_LISTS: Final = frozenset(("deviceClasses", "resourceSlices", "resourceClaims"))


def claims_to_deallocate(search: Attempt) -> list[str]:
    """Return the claims of which PostFilter deallocates one. A dry run of preemption, which comes later, may
    add to them."""
    found: ClaimsState | None = search.state.find(STATE)
    return sorted(claim.key for claim in found.claims_to_deallocate(search.pod)) if found else []


def device_allocations(search: Attempt, to_deallocate: list[str]) -> dict[str, Any] | None:
    """Return for each feasible node the devices that each claim would get there, and the claims of which
    PostFilter deallocates one. None where the plugin has nothing to do, or the cycle ended in an error."""
    found: ClaimsState | None = search.state.find(STATE)
    if found is None or not found.claims or search.errors:
        return None
    if search.pre_filter is None or search.pre_filter.status is not None:
        return None
    nodes: dict[str, Any] = {}
    for row in search.feasible.tolist():
        allocations = _allocations(search, found, row)
        claims = {claim.uid: claim for claim in found.claims_on(search.cluster, row)}
        by_key = {}
        for uid, allocation in allocations.items():
            claim = claims[uid]
            by_key[claim.key] = _complete(allocation)
            if claim.name == SPECIAL_NAME:
                by_key[claim.key]["requests"] = claim.manifest["spec"]["devices"].get("requests")
        nodes[search.cluster.node(row).name] = {"allocationAnyOf": [by_key]}
    answer: dict[str, Any] = {"nodes": nodes, "deallocatedAnyOf": to_deallocate}
    if found.left_over is not None and not nodes:
        answer["deletedClaims"] = [found.left_over.key]
    return answer


def _allocations(search: Attempt, found: ClaimsState, row: int) -> dict[str, Any]:
    try:
        return allocations_on(search.cluster, found, row)
    except PluginError as fault:  # a feasible node has an allocation
        raise AssertionError(str(fault)) from fault


def _complete(allocation: dict[str, Any]) -> dict[str, Any]:
    """Return the object with the fields that exist also when they are empty."""
    results = [
        {**result, "shareID": "(random)"} if "shareID" in result else result
        for result in allocation["devices"]["results"]
    ]
    return {
        "devices": {"config": [], **allocation["devices"], "results": results},
        "nodeSelector": allocation.get("nodeSelector"),
    }
