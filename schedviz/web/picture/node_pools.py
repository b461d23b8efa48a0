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
    and the others of their pools. A pool of other nodes of which only the counters count is left out."""
    matches = partial(selects, name, labels)
    found = [(each, serve(each, matches, rules)) for each in slices]
    here = {
        each.pool_key
        for each, serving in found
        if serving is not None and not (each.counter_sets and rules.version.device_pools_are_whole)
    }
    serving: list[ServingSlice] = [each for _, each in found if each and each.slice.pool_key in here]
    return gather_pools(serving, lambda key: [each for each, _ in found if each.pool_key == key], rules)


def selects(name: str, labels: dict[str, str], nodes: NodeSelection) -> bool:
    """Whether a slice or a device can be used on the node."""
    if nodes.node_name or nodes.all_nodes:
        return nodes.all_nodes or nodes.node_name == name
    return nodes.selector is not None and node_selector_matches(nodes.selector, name, labels)
