"""The pools of devices of one node, as the allocator of the sandbox's version sees them."""

from collections.abc import Iterable
from functools import partial

from simulator.objects.node_selector import node_selector_matches
from simulator.plugins.dynamic_resources.allocator_rules import AllocatorRules
from simulator.plugins.dynamic_resources.node_selection import NodeSelection
from simulator.plugins.dynamic_resources.pool import Pool, ServingSlice, gather_pools, serve
from simulator.plugins.dynamic_resources.resource_slice import ResourceSlice


def pools_of(
    slices: Iterable[ResourceSlice], name: str, labels: dict[str, str], rules: AllocatorRules
) -> tuple[Pool, ...]:
    """Return the pools of the node with this name and these labels. ``slices``: all that may count for it,
    and the others of their pools. Counters count for every node since v1.35, so that a pool of other nodes is
    seen if it is faulty."""
    matches, whole = partial(selects, name, labels), rules.version.device_pools_are_whole
    of_pool: dict[tuple[str, str], list[ResourceSlice]] = {}
    serving: list[ServingSlice] = []
    here: set[tuple[str, str]] = set()
    for each in slices:
        of_pool.setdefault(each.pool_key, []).append(each)
        found = serve(each, matches, rules)
        if found is not None:
            serving.append(found)
            if not (each.counter_sets and whole):
                here.add(each.pool_key)
    pools = gather_pools(serving, of_pool.__getitem__, rules)
    return tuple(pool for pool in pools if pool.key in here or pool.incomplete or pool.invalid)


def selects(name: str, labels: dict[str, str], nodes: NodeSelection) -> bool:
    """Whether a slice or a device can be used on the node."""
    if nodes.node_name or nodes.all_nodes:
        return nodes.all_nodes or nodes.node_name == name
    return nodes.selector is not None and node_selector_matches(nodes.selector, name, labels)
