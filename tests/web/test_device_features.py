"""Taints, partitions, shared devices and devices to attach first: on cards, in panels, and as the reasons for
which a device was not taken."""

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from schedviz.api import write
from schedviz.store import Commit, Meta, Sandbox, Store
from schedviz.web.devices.claim_panel import claim_panel
from schedviz.web.devices.devices import DeviceView, PoolView, claims_of_pod
from schedviz.web.devices.reasons import device_reasons
from schedviz.web.nodes.device_slots import DeviceSlot, FreeDevices, pool_rows
from schedviz.web.nodes.panel import node_detail
from schedviz.web.picture.load import load
from schedviz.web.picture.priority import Ranks
from schedviz.web.pods.panel import pod_detail
from simulator.api import Change, Manifest
from simulator.objects.device_features import ATTACHED, NOT_ATTACHED, counter_sets
from simulator.objects.device_notation import parse_devices
from simulator.plugins.dynamic_resources.filter_search import INVALID_POOLS
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS
from simulator.versions.features import DEFAULT_FEATURES, UNSTATED_FEATURES
from tests.simulator.devices import DRIVER, device_class, pod_of_claim, resource_claim, resource_slice
from tests.simulator.lab import node, pod

from .test_device_reasons import decision

MIG = "1 x a100 memory=40Gi +partitions=2x20Gi"
COUNTERS = {"memory": {"value": "40Gi"}}
[NO_DEVICES] = decision("n1").failures
NIC = "1 x nic bandwidth=100G +shared"


@pytest.fixture
def sandbox(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    """A sandbox of the default version, with a node."""
    made = store.create(
        Meta(sandbox_name, created=1_700_000_000.0, kubernetes=DEFAULT_FEATURES.version.patch)
    )
    write.create(made, [node("n1"), device_class(), pod_of_claim("a")])
    yield made
    store.delete(sandbox_name)


def publish(sandbox: Sandbox, text: str) -> None:
    """Publish the devices as the simulated driver does: the counters in a slice of their own."""
    devices = parse_devices(f"{DRIVER}: {text}")[DRIVER]
    counters = counter_sets(devices)
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2 if counters else 1}
    slices = [resource_slice("n1", devices, pool=pool)]
    if counters:
        slices.append(resource_slice("n1", (), pool=pool, sharedCounters=counters))
        slices[1]["metadata"]["name"] = "n1-counters"
        del slices[1]["spec"]["devices"]
    write.create(sandbox, slices)


def take(sandbox: Sandbox, name: str, device: str, **more: Any) -> None:
    """Create a claim that has a device. ``more``: fields of the result."""
    write.create(sandbox, [resource_claim(name)])
    key = f"default/{name}"
    claim = sandbox.get(RESOURCE_CLAIMS, key)
    assert claim
    result = {"request": "gpus", "driver": DRIVER, "pool": "n1", "device": device, **more}
    status = {
        "allocation": {"devices": {"results": [result]}},
        "reservedFor": [{"resource": "pods", "name": f"of-{name}", "uid": name}],
    }
    sandbox.commit(Commit([Change(RESOURCE_CLAIMS, key, {**claim, "status": status})]))


def shared(amount: str) -> Manifest:
    share = f"00000000-0000-4000-8000-{amount:0>12}"
    return {"shareID": share, "consumedCapacity": {"bandwidth": amount}}


def card(sandbox: Sandbox) -> tuple[dict[str, DeviceSlot], int]:
    """The slots by the first word of their words, and the number of free devices."""
    picture = load(sandbox)
    [row], _ = pool_rows(picture, Ranks(()), picture.nodes["n1"])
    [free] = [each.free for each in row.slots.values() if isinstance(each, FreeDevices)]
    slots = [each for each in row.slots.values() if isinstance(each, DeviceSlot)]
    return {each.words.partition(":")[0]: each for each in slots}, free


def pool_of(sandbox: Sandbox) -> PoolView:
    found = node_detail(sandbox, "n1", "/")
    assert found
    [pool] = found.pools
    return pool


def device_of(sandbox: Sandbox) -> DeviceView:
    [group] = pool_of(sandbox).groups
    return group.devices[0]


def reasons(sandbox: Sandbox, **request: Any) -> list[tuple[str, str]]:
    """Why a pod with this request got no device of n1: devices and words."""
    write.create(sandbox, [resource_claim("shared", **request)])
    [found] = device_reasons(sandbox, decision("n1"))
    return [(each.devices, each.words) for each in found.requests[0].reasons]


def test_partitions_are_nested_in_their_counters_which_block_the_whole_device(sandbox: Sandbox) -> None:
    publish(sandbox, MIG)
    assert [(name, each.state, each.part) for name, each in card(sandbox)[0].items()] == [
        ("gpu-0", "free", False),
        ("gpu-0-part-0", "free", True),
        ("gpu-0-part-1", "free", True),
    ]
    take(sandbox, "small", "gpu-0-part-1")
    slots, free = card(sandbox)
    assert [each.state for each in slots.values()] == ["blocked", "free", "used"]
    assert free == 1
    assert slots["gpu-0"].words == "gpu-0: not free, other devices have its counters"
    [group] = pool_of(sandbox).groups
    [bar] = group.bars
    assert (group.counters, bar.resource, bar.requested, bar.allocatable) == (
        "gpu-0",
        "memory",
        "20Gi",
        "40Gi",
    )
    whole, _, part = group.devices
    assert (whole.state, whole.part, part.state, part.part) == ("blocked", False, "used", True)
    assert (whole.attributes, part.attributes) == (["model a100", "memory 40Gi"], ["memory 20Gi"])
    lacks = "counter memory of gpu-0: needs 40Gi, 20Gi of 40Gi is left"
    assert whole.lacks == lacks
    assert reasons(sandbox, count=2) == [("gpu-0", lacks), ("gpu-0-part-1", "used by of-small")]


def test_partitions_that_do_not_fit_together_are_no_reason_of_one_device(sandbox: Sandbox) -> None:
    publish(sandbox, "1 x a100 memory=40Gi +partitions=3x20Gi")
    [(devices, words)] = reasons(sandbox, count=3)
    assert devices == ""
    assert words.startswith("Each device was looked at alone.")


def test_all_devices_are_those_that_the_selectors_select(sandbox: Sandbox) -> None:
    """Partitions of one device are never free together with it: no single device is short."""
    publish(sandbox, f"{MIG}, 1 x t4")
    small = f'device.attributes["{DRIVER}"].model == "a100"'
    selectors = [{"cel": {"expression": small}}]
    (other, _), (none, words) = reasons(sandbox, allocationMode="All", count=None, selectors=selectors)
    assert (other, none) == ("gpu-1", "")
    assert words.startswith("Each device was looked at alone.")


def test_a_shared_device_shows_what_each_claim_consumes(sandbox: Sandbox) -> None:
    publish(sandbox, NIC)
    take(sandbox, "one", "gpu-0", **shared("30G"))
    take(sandbox, "two", "gpu-0", **shared("20G"))
    slots, free = card(sandbox)
    assert (slots["gpu-0"].state, free) == ("shared", 1)
    assert slots["gpu-0"].words == "gpu-0: 2 claims share it (one, two)"
    device = device_of(sandbox)
    assert [(each.claim, each.consumed) for each in device.users] == [
        ("default/one", "bandwidth 30G"),
        ("default/two", "bandwidth 20G"),
    ]
    assert [(each.requested, each.allocatable, each.percent) for each in device.bars] == [("50G", "100G", 50)]
    asked = {"capacity": {"requests": {"bandwidth": "60G"}}}
    assert reasons(sandbox, **asked) == [("gpu-0", "capacity bandwidth: needs 60G, 50G of 100G is left")]


def test_a_shared_device_without_capacity_left_is_used(sandbox: Sandbox) -> None:
    publish(sandbox, NIC)
    take(sandbox, "all", "gpu-0", **shared("100G"))
    slots, free = card(sandbox)
    assert (slots["gpu-0"].state, free) == ("used", 0)
    assert reasons(sandbox, capacity={"requests": {"latency": "1"}}) == [("gpu-0", "has no capacity latency")]


def test_a_taint_is_a_mark_and_a_reason(sandbox: Sandbox) -> None:
    publish(sandbox, "1 x a100 +taint=maintenance=soon:NoSchedule")
    slot = card(sandbox)[0]["gpu-0"]
    assert (slot.tainted, slot.words) == (True, "gpu-0: free ⊘ maintenance=soon:NoSchedule")
    assert device_of(sandbox).taints == ["maintenance=soon:NoSchedule"]
    words = "has a taint that the request does not tolerate: maintenance=soon:NoSchedule"
    assert reasons(sandbox) == [("gpu-0", words)]


def test_a_toleration_is_no_reason(sandbox: Sandbox) -> None:
    publish(sandbox, "1 x a100 +taint=maintenance:NoSchedule")
    tolerations = [{"key": "maintenance", "operator": "Exists", "effect": "NoSchedule"}]
    [(devices, _)] = reasons(sandbox, tolerations=tolerations)
    assert devices == ""
    claim = sandbox.get(RESOURCE_CLAIMS, "default/shared")
    assert claim
    found = claim_panel(sandbox, RESOURCE_CLAIMS, claim)
    assert found
    assert found.requests[0].alternatives[0].tolerations == ["maintenance:NoSchedule"]


def test_a_claim_says_for_which_conditions_its_pod_waits(sandbox: Sandbox) -> None:
    publish(sandbox, "1 x a100 +attach=30s")
    assert device_of(sandbox).attached_first == ATTACHED
    conditions = {"bindingConditions": [ATTACHED], "bindingFailureConditions": [NOT_ATTACHED]}
    take(sandbox, "shared", "gpu-0", **conditions, **shared("1G"))
    claim = sandbox.get(RESOURCE_CLAIMS, "default/shared")
    assert claim
    waiting = pod_detail(sandbox, "default/a", "/")
    assert waiting
    assert [each.awaited for each in waiting.claims] == [[ATTACHED]]
    for reported, awaited in (("False", [ATTACHED]), ("True", [])):
        condition = {"type": ATTACHED, "status": reported, "reason": "Attached", "message": "it is there"}
        device = {"driver": DRIVER, "pool": "n1", "device": "gpu-0", "conditions": [condition]}
        found = claim_panel(
            sandbox, RESOURCE_CLAIMS, {**claim, "status": {**claim["status"], "devices": [device]}}
        )
        assert found
        [view] = found.devices
        assert (view.awaited, view.failed, view.consumed) == (awaited, [], "bandwidth 1G")
        assert [(each.type, each.status) for each in view.conditions] == [(ATTACHED, reported)]


def test_an_extended_resource_that_a_class_serves_has_reasons(sandbox: Sandbox) -> None:
    publish(sandbox, MIG)
    classed = device_class("all")
    classed["spec"]["extendedResourceName"] = "example.com/gpu"
    asking = pod("asks")
    asking["spec"]["containers"][0]["resources"] = {"requests": {"example.com/gpu": "9"}}
    asking["spec"]["containers"][0]["resources"]["limits"] = {"example.com/gpu": "9"}
    write.create(sandbox, [classed, asking])
    [found] = device_reasons(sandbox, decision("n1", pod="default/asks"))
    [request] = found.requests
    assert request.words == "needs 9 devices of class all, 3 can be taken"
    take(sandbox, "made", "gpu-0")
    bound = sandbox.get("pods", "default/asks")
    assert bound
    bound["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": "made", "requestMappings": []}
    [claim] = claims_of_pod(sandbox, bound)
    assert (claim.entry, claim.devices) == ("extended resources", ["n1/gpu-0"])


def test_an_invalid_pool_of_another_node_is_the_reason(sandbox: Sandbox) -> None:
    publish(sandbox, "1 x t4")
    pool = {"name": "n2", "generation": 1, "resourceSliceCount": 2}
    [device, *_] = parse_devices(f"{DRIVER}: {MIG}")[DRIVER]
    counters = resource_slice("n2", (), pool=pool, sharedCounters=[{"name": "other", "counters": COUNTERS}])
    counters["metadata"]["name"] = "n2-counters"
    del counters["spec"]["devices"]
    write.create(sandbox, [node("n2"), resource_slice("n2", [device], pool=pool), counters])
    invalid = replace(decision("n1"), failures=[replace(NO_DEVICES, reasons=[*INVALID_POOLS.reasons])])
    write.create(sandbox, [resource_claim("shared", 2)])
    [found] = device_reasons(sandbox, invalid)
    assert [each.words for each in found.requests[0].reasons] == [
        f"The pool {DRIVER}/n2 is invalid: counter set gpu-0 not found"
    ]
    assert len(card(sandbox)[0]) == 1


def test_a_pool_is_seen_as_the_version_of_the_sandbox_sees_it(sandbox: Sandbox) -> None:
    """Until v1.34 an incomplete pool has the devices of the slices that are there."""
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    write.create(sandbox, [resource_slice("n1", 2, pool=pool)])
    picture = load(sandbox)
    [found] = picture.devices.pools("n1", {})
    assert (found.incomplete, len(found.devices)) == (True, 0)
    assert reasons(sandbox) == [("", f"The pool {DRIVER}/n1 is incomplete.")]
    seen = picture.devices.changes
    picture.devices.use(UNSTATED_FEATURES)
    [found] = picture.devices.pools("n1", {})
    assert (found.incomplete, len(found.devices)) == (True, 2)
    assert picture.devices.changed_since(seen) is None
