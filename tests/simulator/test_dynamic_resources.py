"""Claims and devices during the life of pods: generated, allocated, shared, released."""

from collections import Counter

import pytest

from simulator import trace
from simulator.api import Manifest
from simulator.kernel.work import limit_work
from simulator.plugins.dynamic_resources import dynamic_resources
from simulator.plugins.dynamic_resources.allocator import SEARCH_WORK
from tests.simulator.devices import (
    claim_template,
    device_class,
    pod_of_claim,
    pod_of_template,
    resource_claim,
    resource_slice,
)
from tests.simulator.lab import Lab, node

CLAIMS = "resourceclaims.resource.k8s.io"


def lab_with(*manifests: Manifest, nodes: int = 2, devices: int = 2) -> Lab:
    lab = Lab()
    names = [f"n{i}" for i in range(nodes)]
    lab.create(
        *(node(name) for name in names),
        *(resource_slice(name, devices) for name in names),
        device_class(),
        *manifests,
    )
    return lab.run(1)


def claims(lab: Lab) -> dict[str, Manifest]:
    return lab.api.objects.get(CLAIMS, {})


def devices_of(claim: Manifest) -> list[str]:
    allocation = claim.get("status", {}).get("allocation") or {"devices": {"results": []}}
    return [f"{each['pool']}/{each['device']}" for each in allocation["devices"]["results"]]


def in_use(lab: Lab) -> Counter[str]:
    return Counter(device for claim in claims(lab).values() for device in devices_of(claim))


def consumers(claim: Manifest) -> list[str]:
    return [each["name"] for each in claim.get("status", {}).get("reservedFor", ())]


def test_a_claim_is_generated_allocated_and_deleted_with_its_pod() -> None:
    lab = lab_with(claim_template(count=2))
    lab.create(pod_of_template("web"))
    lab.run(5)
    [claim] = claims(lab).values()
    assert claim["metadata"]["generateName"] == "web-devices-"
    assert claim["metadata"]["labels"] == {"made-by": "gpus"}
    assert claim["metadata"]["annotations"] == {"resource.kubernetes.io/pod-claim-name": "devices"}
    statuses = lab.pod("web")["status"]["resourceClaimStatuses"]
    assert statuses == [{"name": "devices", "resourceClaimName": claim["metadata"]["name"]}]
    host = lab.node_of("web")
    assert devices_of(claim) == [f"{host}/gpu-0", f"{host}/gpu-1"]
    assert consumers(claim) == ["web"]
    assert claim["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]

    lab.delete_pod("web")
    lab.run(60)
    assert not lab.exists("web")
    assert claims(lab) == {}


def test_a_pod_waits_until_its_template_is_there() -> None:
    lab = lab_with()
    lab.create(pod_of_template("web"))
    lab.run(5)
    assert lab.lane("web") == "gated"
    lab.create(claim_template())
    lab.run(5)
    assert lab.node_of("web")


def test_the_devices_of_two_nodes_are_shared_out_and_the_next_pod_waits_for_one_that_ends() -> None:
    lab = lab_with(claim_template(count=2))
    lab.create(*(pod_of_template(f"web-{i}") for i in range(3)))
    lab.run(5)
    assert in_use(lab) == Counter(["n0/gpu-0", "n0/gpu-1", "n1/gpu-0", "n1/gpu-1"])
    waiting = [f"web-{i}" for i in range(3) if not lab.node_of(f"web-{i}")]
    assert len(waiting) == 1
    message = lab.condition(waiting[0], "PodScheduled")["message"]
    assert message.startswith("0/2 nodes are available: 2 cannot allocate all claims.")
    lab.delete_pod(next(f"web-{i}" for i in range(3) if f"web-{i}" not in waiting))
    lab.run(60)
    assert lab.node_of(waiting[0])
    assert set(in_use(lab).values()) == {1}


def test_pods_share_a_claim_on_the_node_of_its_devices() -> None:
    lab = lab_with(resource_claim("shared"))
    lab.create(pod_of_claim("a"), pod_of_claim("b"))
    lab.run(10)
    assert lab.node_of("a") == lab.node_of("b") != ""
    assert sorted(consumers(claims(lab)["default/shared"])) == ["a", "b"]
    lab.delete_pod("a")
    lab.delete_pod("b")
    lab.run(60)
    claim = claims(lab)["default/shared"]
    assert (consumers(claim), devices_of(claim)) == ([], []), "deallocated with its last consumer"
    assert "finalizers" not in claim["metadata"]
    lab.create(pod_of_claim("c"))
    lab.run(10)
    assert consumers(claims(lab)["default/shared"]) == ["c"]
    assert claims(lab)["default/shared"]["metadata"]["finalizers"]


def test_an_unused_allocation_that_is_in_the_way_is_removed() -> None:
    """The allocation of an unused claim, as after a failed binding."""
    lab = lab_with(resource_claim("shared"))
    failing = pod_of_claim("a")
    failing["metadata"]["annotations"] = {"schedviz/fail-at": "Bind"}
    lab.create(failing)
    lab.run(0.5)
    [there] = {device.partition("/")[0] for device in devices_of(claims(lab)["default/shared"])}
    lab.delete_pod("a")
    lab.run(1)
    assert devices_of(claims(lab)["default/shared"])
    lab.update("nodes", there, lambda found: {**found, "spec": {**found["spec"], "unschedulable": True}})
    lab.create(pod_of_claim("b"))
    lab.run(10)
    assert lab.node_of("b") == ({"n0", "n1"} - {there}).pop()
    messages = [event.message for event in lab.of(trace.Unschedulable) if event.pod == "default/b"]
    assert any("deallocation of ResourceClaim completed" in message for message in messages)
    assert devices_of(claims(lab)["default/shared"]) == [f"{lab.node_of('b')}/gpu-0"]


def test_a_claim_in_use_is_deleted_when_its_last_pod_has_ended() -> None:
    lab = lab_with(resource_claim("shared"))
    lab.create(pod_of_claim("a"))
    lab.run(5)
    lab.update(
        CLAIMS,
        "default/shared",
        lambda found: {
            **found,
            "metadata": {**found["metadata"], "deletionTimestamp": "2025-01-01T00:00:09Z"},
        },
    )
    lab.run(5)
    assert consumers(claims(lab)["default/shared"]) == ["a"]
    lab.delete_pod("a")
    lab.run(60)
    assert claims(lab) == {}


def test_a_failed_binding_gives_the_devices_back() -> None:
    lab = lab_with(resource_claim("shared", 2), nodes=1)
    failing = pod_of_claim("a")
    failing["metadata"]["annotations"] = {"schedviz/fail-at": "Bind"}
    lab.create(failing)
    lab.run(0.5)
    assert lab.of(trace.BindFailed)
    claim = claims(lab)["default/shared"]
    assert consumers(claim) == []
    lab.run(30)
    assert lab.node_of("a")
    assert consumers(claims(lab)["default/shared"]) == ["a"]


def test_a_cached_result_of_the_allocator_is_not_used_after_a_change_of_the_class() -> None:
    """A verdict is kept for claims that request the same and nodes with equal devices."""
    lab = lab_with(nodes=2, devices=1)
    lab.create(resource_claim("first"), pod_of_claim("one", "first"))
    lab.create(resource_claim("second"), pod_of_claim("two", "second"))
    lab.run(5)
    assert {lab.node_of("one"), lab.node_of("two")} == {"n0", "n1"}
    lab.create(resource_claim("third"), pod_of_claim("three", "third"))
    lab.run(5)
    assert not lab.node_of("three")
    lab.update(CLAIMS, "default/first", lambda claim: {**claim, "status": {}})
    lab.update("deviceclasses.resource.k8s.io", "gpu", lambda _: device_class("gpu", "false"))
    lab.run(60)
    assert not lab.node_of("three"), "the device is free, and the class selects none"
    lab.update("deviceclasses.resource.k8s.io", "gpu", lambda _: device_class("gpu"))
    lab.run(60)
    assert lab.node_of("three") == lab.node_of("one")


def endless_lab(nodes: int) -> Lab:
    """On each node four models of 20 devices; the pod's claim asks for 21 of one model."""
    lab = Lab()
    names = [f"n{i}" for i in range(nodes)]
    for index, name in enumerate(names):
        devices = [
            {"name": f"gpu-{i}", "attributes": {"model": {"string": f"{index}-{i % 4}"}}} for i in range(80)
        ]
        lab.create(node(name), resource_slice(name, devices))
    claim = resource_claim(count=21)
    claim["spec"]["devices"]["constraints"] = [{"matchAttribute": "gpu.example.com/model"}]
    lab.create(device_class(), claim)
    return lab.run(1)


def test_a_search_that_cannot_end_is_bounded_in_work() -> None:
    lab = endless_lab(1)
    with limit_work(10 * SEARCH_WORK) as work:
        lab.create(pod_of_claim("web"))
        lab.run(1)
    assert 0 <= 9 * SEARCH_WORK - work.left < 1_000
    (scheduled,) = [c for c in lab.pod("web")["status"]["conditions"] if c["type"] == "PodScheduled"]
    assert "1 timed out trying to allocate devices" in scheduled["message"]


def test_the_searches_of_one_filter_share_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dynamic_resources, "FILTER_WORK", SEARCH_WORK // 10)
    lab = endless_lab(5)
    with limit_work(10 * SEARCH_WORK) as work:
        lab.create(pod_of_claim("web"))
        lab.run(1)
    assert 0 <= 10 * SEARCH_WORK - work.left - SEARCH_WORK // 10 < 5_000
    (scheduled,) = [c for c in lab.pod("web")["status"]["conditions"] if c["type"] == "PodScheduled"]
    assert "5 timed out trying to allocate devices" in scheduled["message"]


@pytest.mark.parametrize(
    "expression", ["size([1, 2, 3, 4].filter(i, i > 0)) == 5", "'a' == '" + "b" * 5_000 + "'"]
)
def test_a_selector_spends_work_for_each_device(expression: str) -> None:
    def spent(devices: int) -> int:
        lab = Lab()
        lab.create(
            node("n0"),
            resource_slice("n0", devices),
            device_class("gpu", expression),
            resource_claim(),
        )
        lab.run(1)
        with limit_work(SEARCH_WORK) as work:
            lab.create(pod_of_claim("web"))
            lab.run(1)
        return SEARCH_WORK - work.left

    assert spent(10) == spent(10)
    assert spent(20) - spent(10) >= 10 * 5
