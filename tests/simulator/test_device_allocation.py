"""Random pools with shared counters, shared capacity and taints, and claims that are allocated one after
another, and released: whatever the search finds, the devices are enough for it."""

import random
from collections import Counter
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.other_objects import OtherObjects
from simulator.objects.node import Node
from simulator.objects.quantity import parse_quantity
from simulator.plugins.dynamic_resources.allocated_devices import AllocatedDevices, AllocatedState
from simulator.plugins.dynamic_resources.allocator import InvalidPools, allocate
from simulator.plugins.dynamic_resources.allocator_rules import allocator_rules
from simulator.plugins.dynamic_resources.device_selectors import AllocationError
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES, NodeDevices
from simulator.plugins.dynamic_resources.pool import Pool, gather_pools, serve
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS, DeviceID, parse_claim
from simulator.plugins.dynamic_resources.resource_slice import ResourceSlice, parse_slice
from simulator.plugins.dynamic_resources.results import allocation_result
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import V1_36, VERSIONS, KubernetesVersion
from tests.amounts import examples
from tests.simulator.devices import DRIVER, device_class, resource_claim, resource_slice
from tests.simulator.lab import node

CLASS = device_class("gpu", f'device.driver == "{DRIVER}"')
EXPRESSIONS = {"gpu": (f'device.driver == "{DRIVER}"',)}
POLICIES = (
    None,
    {"default": "2", "validValues": ["1", "2", "4"]},
    {"default": "1", "validRange": {"min": "1", "max": "6", "step": "2"}},
)


def random_device(rng: random.Random, name: str) -> Manifest:
    device: Manifest = {"name": name, "attributes": {"numa": {"int": rng.randrange(2)}}}
    if rng.random() < 0.6:
        counters = {"c": {"value": str(rng.randint(1, 4))}, "d": {"value": str(rng.randint(0, 2))}}
        device["consumesCounters"] = [{"counterSet": "set", "counters": counters}]
    if rng.random() < 0.5:
        capacity: Manifest = {"value": str(rng.randint(4, 10))}
        policy = rng.choice(POLICIES)
        if policy is not None:
            capacity["requestPolicy"] = policy
        device |= {"capacity": {"bandwidth": capacity}, "allowMultipleAllocations": rng.random() < 0.7}
    if rng.random() < 0.2:
        device["taints"] = [{"key": "broken", "effect": "NoSchedule"}]
    return device


def random_slices(rng: random.Random) -> list[Manifest]:
    pool = {"name": "node-1", "generation": 1, "resourceSliceCount": 2}
    devices = [random_device(rng, f"gpu-{i}") for i in range(rng.randint(2, 6))]
    counters = {"c": {"value": "8"}, "d": {"value": "4"}}
    sets = [{"name": "set", "counters": counters}]
    shared = resource_slice("node-1", [], pool=pool, sharedCounters=sets)
    shared["metadata"]["name"] = "node-1-counters"
    return [resource_slice("node-1", devices, pool=pool), shared]


def random_claim(rng: random.Random, name: str) -> Manifest:
    given: Manifest = {}
    if rng.random() < 0.5:
        given["capacity"] = {"requests": {"bandwidth": str(rng.randint(1, 5))}}
    if rng.random() < 0.3:
        given["tolerations"] = [{"key": "broken", "operator": "Exists"}]
    claim = resource_claim(name, rng.randint(1, 3), **given)
    if rng.random() < 0.2:
        claim["spec"]["devices"]["constraints"] = [{"matchAttribute": f"{DRIVER}/numa"}]
    claim["metadata"]["uid"] = name
    return claim


def of_pool(slices: list[ResourceSlice], key: tuple[str, str]) -> list[ResourceSlice]:
    return [each for each in slices if each.pool_key == key]


def results_of(claims: dict[str, Manifest]) -> Iterator[Manifest]:
    for claim in claims.values():
        yield from claim["status"]["allocation"]["devices"]["results"]


def check(pools: tuple[Pool, ...], claims: dict[str, Manifest], *, shares: bool) -> None:
    devices = {each.id: each.device for pool in pools for each in pool.devices}
    users: Counter[DeviceID] = Counter()
    capacity: Counter[tuple[DeviceID, str]] = Counter()
    share_ids = [each["shareID"] for each in results_of(claims) if "shareID" in each]
    assert len(share_ids) == len({*share_ids})
    for result in results_of(claims):
        device = DeviceID(result["driver"], result["pool"], result["device"])
        users[device] += 1
        assert ("shareID" in result) == (shares and devices[device].shareable)
        assert not devices[device].taints or not shares or result.get("tolerations")
        for name, amount in (result.get("consumedCapacity") or {}).items():
            capacity[device, name] += parse_quantity(amount)
    counters: Counter[tuple[str, str]] = Counter()
    for device, count in users.items():
        assert count == 1 or (shares and devices[device].shareable), device
        for consumed in devices[device].consumes:
            counters.update({(consumed.counter_set, name): each.nanos for name, each in consumed.counters})
    for (device, name), nanos in capacity.items():
        assert nanos <= dict(devices[device].capacity)[name].value.nanos
    for pool in pools:
        for counter_set, amounts in pool.counter_sets.items():
            for name, amount in amounts:
                assert counters[counter_set, name] <= amount.nanos, "a counter below zero"


@pytest.mark.sampled
@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_no_device_counter_or_capacity_is_given_away_twice(version: KubernetesVersion) -> None:
    rules = allocator_rules(Features(version))
    found = 0
    for seed in range(examples(120)):
        rng = random.Random(seed)
        slices = [parse_slice(each) for each in random_slices(rng)]
        serving = [serve(each, lambda nodes: True, rules) for each in slices]
        here = [each for each in serving if each is not None]
        pools = gather_pools(here, partial(of_pool, slices), rules)
        devices = AllocatedDevices(OtherObjects())
        allocated = AllocatedState(devices, rules)
        claims: dict[str, Manifest] = {}
        for number in range(12):
            claim = random_claim(rng, f"claim-{number}")
            if version is not V1_36:
                claim["spec"]["devices"]["requests"][0]["exactly"].pop("capacity", None)
            got = allocate([parse_claim(claim)], EXPRESSIONS, pools, allocated)
            if got is not None:
                allocation = allocation_result(got[0], "node-1", {"gpu": CLASS}.__getitem__, rules)
                new = claim | {"status": {"allocation": allocation}}
                devices.object_set("", claim["metadata"]["name"], None, new)
                claims[claim["metadata"]["name"]] = new
                found += 1
            check(pools, claims, shares=rules.consumable_capacity)
            if claims and rng.random() < 0.3:
                name = rng.choice([*claims])
                devices.object_set("", name, claims.pop(name), None)
        for name, claim in claims.items():
            devices.object_set("", name, claim, None)
        assert not any(allocated.is_allocated(each.id) for pool in pools for each in pool.devices)
        assert not any(allocated.consumed(each.id) for pool in pools for each in pool.devices)
    assert found > 50


def random_slice(rng: random.Random, name: str) -> Manifest:
    """A slice of one of two pools, for one node, some, all, or a node for each device; or shared counters."""
    where: Manifest = rng.choice(
        [
            {"nodeName": f"n{rng.randrange(3)}"},
            {"allNodes": True},
            {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [IN_ZONE_A]}]}},
            {"perDeviceNodeSelection": True},
        ]
    )
    devices = [random_device(rng, f"gpu-{name}-{i}") for i in range(rng.randint(0, 2))]
    if "perDeviceNodeSelection" in where:
        devices = [{**each, "nodeName": f"n{rng.randrange(3)}"} for each in devices]
    pool = {
        "name": rng.choice(("p", "q")),
        "generation": rng.choice((1, 1, 1, 2)),
        "resourceSliceCount": rng.randint(1, 4),
    }
    spec = {"driver": DRIVER, "pool": pool, **where, "devices": devices}
    if rng.random() < 0.3:
        counters = {"c": {"value": "8"}, "d": {"value": "4"}}
        spec |= {
            "devices": [],
            "sharedCounters": [{"name": rng.choice(("set", "other")), "counters": counters}],
        }
    return {"metadata": {"name": name}, "spec": spec}


IN_ZONE_A = {"key": "zone", "operator": "In", "values": ["a"]}


def labelled_node(rng: random.Random, name: str) -> Node:
    made = node(name)
    made["metadata"]["labels"] = {"zone": rng.choice("ab")}
    return Node(made)


@pytest.mark.sampled
@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_what_is_kept_of_pools_is_what_a_fresh_look_finds(version: KubernetesVersion) -> None:
    """Slices, nodes and claims change one by one; nodes of one situation have the same verdict."""
    rules = allocator_rules(Features(version))
    for seed in range(examples(60)):
        rng = random.Random(seed)
        cluster = Cluster()
        for name in ("n0", "n1", "n2"):
            cluster.add_node(labelled_node(rng, name))
        kept = cluster.object_index(NodeDevices)
        kept.use(rules)
        allocated = AllocatedState(cluster.object_index(AllocatedDevices), rules)
        rows = np.array([cluster.rows[name] for name in ("n0", "n1", "n2")])
        for number in range(25):
            change = rng.randrange(5)
            if change <= 2:
                name = f"s{rng.randrange(6)}"
                new = None if rng.random() < 0.15 else random_slice(rng, name)
                cluster.set_object(RESOURCE_SLICES, name, new)
            elif change == 3:
                cluster.add_node(labelled_node(rng, f"n{rng.randrange(3)}"))
            asked = [parse_claim(random_claim(rng, f"c{number}"))]
            situations = kept.situations(rows).tolist()
            fresh = NodeDevices(cluster)
            fresh.use(rules)
            for key, manifest in cluster.objects(RESOURCE_SLICES).items():
                fresh.object_set(RESOURCE_SLICES, key, None, manifest)
            verdicts: dict[int, object] = {}
            for row, situation in zip(rows.tolist(), situations, strict=True):
                assert kept.pools(row) == fresh.pools(row), (seed, number)
                try:
                    got = allocate(asked, EXPRESSIONS, kept.pools(row), allocated)
                    verdict: object = got is None
                except (AllocationError, InvalidPools) as fault:
                    got, verdict = None, type(fault)
                assert verdicts.setdefault(situation, verdict) == verdict, (seed, number)
                if got is not None and change == 4:
                    made = allocation_result(got[0], "n0", {"gpu": CLASS}.__getitem__, rules)
                    claim = random_claim(rng, f"c{number}") | {"status": {"allocation": made}}
                    cluster.set_object(RESOURCE_CLAIMS, f"default/c{number}", claim)
                    break
