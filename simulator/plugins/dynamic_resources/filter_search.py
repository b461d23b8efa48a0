"""The search for devices on the nodes of one Filter, and on the node that was chosen."""

from typing import Final

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.framework.status import PluginError, Status, error, unresolvable
from simulator.kernel.work import OutOfWork, Work
from simulator.plugins.dynamic_resources.allocator import InvalidPools
from simulator.plugins.dynamic_resources.device_selectors import (
    AllocationError,
    class_expressions,
    device_classes,
)
from simulator.plugins.dynamic_resources.node_devices import NodeDevices, distinct_situations
from simulator.plugins.dynamic_resources.pod_claims import ClaimsState, allocate_on
from simulator.plugins.dynamic_resources.resource_claim import ResourceClaim
from simulator.plugins.dynamic_resources.results import allocation_result
from simulator.plugins.dynamic_resources.verdict_cache import CachedVerdict

CANNOT_ALLOCATE = unresolvable("cannot allocate all claims")
INVALID_POOLS = unresolvable("invalid resource pools were encountered")
LACKING = unresolvable("cannot fit resource")
TIMED_OUT = unresolvable("timed out trying to allocate devices")

FILTER_WORK: Final = 1_000_000
"""The maximum work of the searches on all nodes together, by one Filter. Nodes beyond it have timed out; what
is known of the others is kept, so that the next attempt comes further."""


def filter_codes(
    cluster: Cluster, found: ClaimsState, rows: Rows, statuses: list[Status], work: Work
) -> Ints:
    """Return codes of the nodes, int64[n]: 0 where the nodes can serve the claims, else the number of a
    status that is added to ``statuses``."""
    if found.extended is None:
        return allocation_codes(cluster, found.to_allocate(), rows, statuses, work)
    codes: Ints = np.zeros(len(rows), dtype=np.int64)
    lacking = found.extended.lacking(cluster, rows)
    if lacking.any():
        statuses.append(LACKING)
        codes[lacking] = len(statuses)
    needed = found.extended.needed(cluster, rows)
    for each in np.unique(needed[codes == 0]).tolist():
        claims = found.to_allocate(each)
        here = np.flatnonzero((needed == each) & (codes == 0))
        if claims:
            codes[here] = allocation_codes(cluster, claims, rows[here], statuses, work)
    return codes


def allocation_codes(
    cluster: Cluster, claims: list[ResourceClaim], rows: Rows, statuses: list[Status], work: Work
) -> Ints:
    """Return codes of the nodes, int64[n]: 0 where the nodes can serve the claims, else the number of a
    status that is added to ``statuses``. The allocator runs once for each situation of a node that it has not
    seen before. ``work``: that of the Filter."""
    devices = cluster.object_index(NodeDevices)
    rules = devices.rules
    situations = devices.situations(rows)
    number = devices.verdicts.number_of(claims, class_expressions(cluster))
    distinct, first = distinct_situations(situations)
    table: Ints = np.zeros(int(situations.max(initial=0)) + 1, dtype=np.int64)
    code_of: dict[int, int] = {}
    faults: list[int] = []
    for situation, index in zip(distinct.tolist(), first.tolist(), strict=True):
        known = devices.verdicts.find(number, situation)
        if known is None:
            try:
                status = _verdict(cluster, claims, int(rows[index]))
            except AllocationError:
                faults.append(situation)
                continue
            if work.left < 0:
                known = CachedVerdict(TIMED_OUT)
            else:
                known = devices.verdicts.keep(number, situation, status)
        if known.status is not None:
            if id(known.status) not in code_of:
                statuses.append(known.status)
                code_of[id(known.status)] = len(statuses)
            table[situation] = code_of[id(known.status)]
    codes: Ints = table[situations]
    if rules.version.filter_timeout_is_error and id(TIMED_OUT) in code_of:
        for index in np.flatnonzero(codes == code_of[id(TIMED_OUT)]).tolist():
            name = cluster.node(int(rows[index])).name
            statuses.append(error(f"node {name}: {TIMED_OUT.reasons[0]}"))
            codes[index] = len(statuses)
    for situation in faults:  # errors name a node's own pools
        for index in np.flatnonzero(situations == situation).tolist():
            statuses.append(_fault(cluster, claims, int(rows[index])))
            codes[index] = len(statuses)
    return codes


def _verdict(cluster: Cluster, claims: list[ResourceClaim], row: int) -> Status | None:
    """Return the reason for which the claims cannot be allocated; None if they can. Raises
    AllocationError."""
    try:
        return CANNOT_ALLOCATE if allocate_on(cluster, claims, row) is None else None
    except InvalidPools:
        return INVALID_POOLS
    except OutOfWork:
        return TIMED_OUT


def _fault(cluster: Cluster, claims: list[ResourceClaim], row: int) -> Status:
    """Return the error of the allocator on a node, where the search of another node of its situation had
    one."""
    try:
        status = _verdict(cluster, claims, row)
    except AllocationError as fault:
        return error(str(fault))
    assert status is TIMED_OUT, "nodes of one situation have the same result"
    return status


def allocations_on(cluster: Cluster, found: ClaimsState, row: int) -> dict[str, Manifest]:
    """Return the allocation that each unallocated claim gets on the node in a row, by the claim's uid. Raises
    PluginError."""
    try:
        allocated = allocate_on(cluster, found.claims_on(cluster, row), row)
        if allocated is None:
            raise PluginError("claim allocation not found for this node")
        node, classes = cluster.node(row).name, device_classes(cluster)
        rules = cluster.object_index(NodeDevices).rules
        return {
            each.claim.uid: allocation_result(each, node, classes.__getitem__, rules) for each in allocated
        }
    except (AllocationError, InvalidPools, OutOfWork) as fault:
        raise PluginError(str(fault)) from None
