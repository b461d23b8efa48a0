"""The reasons for which a node could not allocate the claims of a pod, computed when the cycle is shown."""

import pytest
from msgspec.structs import replace

from schedviz.api import write
from schedviz.store import Commit, Sandbox
from schedviz.web.cycle.cycle import present_cycle
from schedviz.web.devices.reasons import device_reasons
from schedviz.web.picture.priority import Ranks
from simulator.api import Change, Manifest
from simulator.decision import Decision, Failure
from simulator.plugins.dynamic_resources.filter_search import CANNOT_ALLOCATE
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS
from tests.simulator.devices import DRIVER, device_class, pod_of_claim, resource_claim, resource_slice
from tests.simulator.lab import node

from .samples import NOTHING_FITS

LARGE = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'


def gpu(number: int, memory: str = "80Gi", numa: int = 0) -> Manifest:
    return {
        "name": f"gpu-{number}",
        "attributes": {"numa": {"int": numa}},
        "capacity": {"memory": {"value": memory}},
    }


def decision(*rejected: str, pod: str = "default/a") -> Decision:
    failure = Failure("DynamicResources", "UnschedulableAndUnresolvable", [*CANNOT_ALLOCATE.reasons])
    return replace(NOTHING_FITS, pod=pod, nodes=[*rejected], verdicts=[1] * len(rejected), failures=[failure])


def take(sandbox: Sandbox, name: str, pool: str, *devices: str, pods: tuple[str, ...] = ()) -> None:
    write.create(sandbox, [resource_claim(name)])
    results = [{"request": "gpus", "driver": DRIVER, "pool": pool, "device": each} for each in devices]
    reserved = [{"resource": "pods", "name": each, "uid": each} for each in pods]
    key = f"default/{name}"
    claim = sandbox.get(RESOURCE_CLAIMS, key)
    assert claim
    status = {"allocation": {"devices": {"results": results}}, "reservedFor": reserved}
    sandbox.commit(Commit([Change(RESOURCE_CLAIMS, key, {**claim, "status": status})]))


@pytest.fixture
def cluster(sandbox: Sandbox) -> Sandbox:
    """A pod that claims two large devices of the same numa node."""
    claim = resource_claim("two", 2, selectors=[{"cel": {"expression": LARGE}}])
    claim["spec"]["devices"]["constraints"] = [{"matchAttribute": f"{DRIVER}/numa"}]
    write.create(
        sandbox,
        [
            *(node(f"n{number}") for number in range(1, 5)),
            device_class("gpu", f'device.driver == "{DRIVER}"'),
            claim,
            pod_of_claim("a", "two"),
        ],
    )
    return sandbox


def said(sandbox: Sandbox, *nodes: str) -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Nodes, request, and reasons as (devices, text, expression or claim)."""
    return [
        (
            each.node,
            request.words,
            [(reason.devices, reason.words, reason.expression or reason.claim) for reason in request.reasons],
        )
        for each in device_reasons(sandbox, decision(*nodes))
        for request in each.requests
    ]


def test_a_device_is_small_or_in_use(cluster: Sandbox) -> None:
    devices = [gpu(0, "16Gi"), gpu(1, "16Gi"), gpu(2), gpu(3)]
    write.create(cluster, [resource_slice("n1", devices)])
    take(cluster, "other", "n1", "gpu-2", pods=("b",))
    assert said(cluster, "n1") == [
        (
            "n1",
            "needs 2 devices of class gpu, 1 can be taken",
            [
                ("gpu-0, gpu-1", "the claim has a selector that is false:", LARGE),
                ("gpu-2", "used by b", "default/other"),
            ],
        )
    ]


def test_a_constraint_is_not_satisfied(cluster: Sandbox) -> None:
    write.create(cluster, [resource_slice("n1", [gpu(0, numa=0), gpu(1, numa=1)])])
    [(_, words, [(_, reason, _)])] = said(cluster, "n1")
    assert words == "needs 2 devices of class gpu, 2 can be taken"
    assert reason == "Constraint matchAttribute gpu.example.com/numa: at most 1 of them have the same value."


def test_nodes_with_equal_reasons_are_grouped(cluster: Sandbox) -> None:
    other = resource_slice("n4", [gpu(0)], driver="other.example.com")
    write.create(cluster, [other])
    first, last = device_reasons(cluster, decision("n1", "n2", "n3", "n4"))
    assert (first.node, first.others) == ("n1", 2)
    assert [reason.words for reason in first.requests[0].reasons] == ["The node has no devices."]
    [reason] = last.requests[0].reasons
    assert (reason.devices, reason.expression) == ("gpu-0", f'device.driver == "{DRIVER}"')


def test_devices_that_the_cycle_allocated_count_as_free(cluster: Sandbox) -> None:
    write.create(cluster, [resource_slice("n1", [gpu(0), gpu(1)])])
    claim = cluster.get(RESOURCE_CLAIMS, "default/two")
    assert claim
    results = [{"request": "gpus", "driver": DRIVER, "pool": "n1", "device": "gpu-0"}]
    status = {
        "allocation": {"devices": {"results": results}},
        "reservedFor": [{"resource": "pods", "name": "a", "uid": "a"}],
    }
    cluster.commit(Commit([Change(RESOURCE_CLAIMS, "default/two", {**claim, "status": status})]))
    scheduled = replace(decision("n1"), outcome="scheduled", selected="n2")
    [found] = device_reasons(cluster, scheduled)
    [request] = found.requests
    assert request.words == "needs 2 devices of class gpu, 2 can be taken"
    assert request.reasons[0].words.startswith("Each device was looked at alone.")
    assert device_reasons(cluster, decision("n1")) == []


def test_a_cycle_offers_the_reasons_only_where_devices_were_the_reason() -> None:
    assert present_cycle(decision("n1"), Ranks(())).device_reasons
    assert not present_cycle(NOTHING_FITS, Ranks(())).device_reasons
