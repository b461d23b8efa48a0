"""The pools of devices on the page are those of the allocator, in each version."""

import random

import pytest

from schedviz.web.picture.device_index import DeviceIndex
from schedviz.web.picture.node_pools import pools_of
from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.objects.node import Node
from simulator.plugins.dynamic_resources.allocator_rules import allocator_rules
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES, NodeDevices
from simulator.plugins.dynamic_resources.pool import Pool
from simulator.plugins.dynamic_resources.resource_slice import parse_slice
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import VERSIONS, KubernetesVersion
from tests.amounts import examples
from tests.simulator.lab import node
from tests.simulator.test_device_allocation import random_slice


def fixed_parts(spec: Manifest) -> object:
    """Return what no update of a slice changes."""
    return spec["pool"]["name"], spec.get("nodeName")


def contents(pool: Pool) -> object:
    devices = sorted((each.id, each.here) for each in pool.devices)
    return devices, sorted(pool.counter_sets), pool.incomplete, bool(pool.invalid)


@pytest.mark.sampled
@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_pools_on_the_page_are_those_of_the_allocator(version: KubernetesVersion) -> None:
    """Slices are created, updated and deleted. Cards lack the faulty pools of other nodes."""
    for seed in range(examples(60)):
        rng = random.Random(seed)
        cluster, index = Cluster(), DeviceIndex()
        labels = {"zone": rng.choice("ab")}
        made = node("n0")
        made["metadata"]["labels"] = labels
        cluster.add_node(Node(made))
        allocator = cluster.object_index(NodeDevices)
        allocator.use(allocator_rules(Features(version)))
        index.use(Features(version))
        for number in range(15):
            name = f"s{rng.randrange(6)}"
            old, new = cluster.objects(RESOURCE_SLICES).get(name), random_slice(rng, name)
            if old is not None and fixed_parts(old["spec"]) != fixed_parts(new["spec"]):
                index.remove_slice(name)
                cluster.set_object(RESOURCE_SLICES, name, None)
            else:
                index.put_slice(new)
                cluster.set_object(RESOURCE_SLICES, name, new)
            shown = {pool.key: contents(pool) for pool in index.pools("n0", labels)}
            seen = {pool.key: pool for pool in allocator.pools(cluster.rows["n0"])}
            assert shown.keys() <= seen.keys(), (seed, number)
            for key, pool in seen.items():
                if key in shown:
                    assert shown[key] == contents(pool), (seed, number)
                else:
                    assert pool.incomplete or pool.invalid
            slices = [parse_slice(each) for each in cluster.objects(RESOURCE_SLICES).values()]
            found = pools_of(slices, "n0", labels, allocator.rules)
            assert {pool.key: contents(pool) for pool in found} == {
                key: contents(pool) for key, pool in seen.items()
            }
