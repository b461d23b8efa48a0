"""The panel of a ResourceClaim and of a ResourceClaimTemplate."""

import pytest
from django.test import Client

from schedviz.api import write
from schedviz.store import Commit, Sandbox
from schedviz.web.commands import run
from schedviz.web.devices.claim_panel import ClaimPanel, claim_panel
from simulator.api import Change, Manifest
from simulator.controllers.resource_claim import POD_CLAIM_NAME, TEMPLATES
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS
from tests.simulator.devices import (
    DRIVER,
    claim_template,
    device_class,
    pod_of_claim,
    pod_of_template,
    resource_claim,
)

LARGE = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'
SPEC = {
    "devices": {
        "requests": [
            {
                "name": "gpus",
                "firstAvailable": [
                    {
                        "name": "large",
                        "deviceClassName": "gpu",
                        "count": 2,
                        "selectors": [{"cel": {"expression": LARGE}}],
                    },
                    {"name": "any", "deviceClassName": "gpu", "allocationMode": "All"},
                ],
            },
            {"name": "nic", "exactly": {"deviceClassName": "nic"}},
        ],
        "constraints": [{"requests": ["gpus", "nic"], "matchAttribute": "gpu.example.com/numa"}],
    }
}


def panel(sandbox: Sandbox, resource: str, key: str) -> ClaimPanel:
    manifest = sandbox.get(resource, key)
    assert manifest
    found = claim_panel(sandbox, resource, manifest)
    assert found
    return found


def allocate(sandbox: Sandbox, key: str, *pods: str, **metadata: object) -> Manifest:
    claim = sandbox.get(RESOURCE_CLAIMS, key)
    assert claim
    result = {"request": "gpus/large", "driver": DRIVER, "pool": "n1", "device": "gpu-0"}
    on_node = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    allocation = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [on_node]}}
    reserved = [{"resource": "pods", "name": pod, "uid": pod} for pod in pods]
    changed = {
        **claim,
        "metadata": {**claim["metadata"], **metadata},
        "status": {"allocation": allocation, "reservedFor": reserved},
    }
    sandbox.commit(Commit([Change(RESOURCE_CLAIMS, key, changed)]))
    return changed


@pytest.fixture
def cluster(sandbox: Sandbox) -> Sandbox:
    shared = {**resource_claim("shared"), "spec": SPEC}
    pods = [pod_of_claim("a"), pod_of_claim("b"), pod_of_template("c")]
    write.create(sandbox, [device_class(), shared, claim_template(), *pods])
    return sandbox


def test_a_claim_shows_its_requests_and_constraints(cluster: Sandbox) -> None:
    found = panel(cluster, RESOURCE_CLAIMS, "default/shared")
    assert found.state == "pending"
    gpus, nic = found.requests
    large, every = gpus.alternatives
    assert (large.name, large.amount, large.device_class, large.selectors) == (
        "large",
        "2 devices",
        "gpu",
        [LARGE],
    )
    assert (every.name, every.amount) == ("any", "all devices")
    assert [(each.name, each.amount) for each in nic.alternatives] == [("", "1 device")]
    assert found.constraints == [
        "matchAttribute: the devices of gpus, nic have the same gpu.example.com/numa"
    ]
    assert (found.users, found.waiting) == ([], ["default/a", "default/b"])


def test_a_claim_shows_its_allocation_and_who_shares_it(cluster: Sandbox) -> None:
    allocate(cluster, "default/shared", "a")
    found = panel(cluster, RESOURCE_CLAIMS, "default/shared")
    assert (found.state, found.node) == ("allocated,reserved", "n1")
    [device] = found.devices
    assert (device.request, device.device, device.pool, device.driver) == (
        "gpus/large",
        "gpu-0",
        "n1",
        DRIVER,
    )
    assert (found.users, found.waiting) == (["default/a"], ["default/b"])
    allocate(cluster, "default/shared")
    assert (
        panel(cluster, RESOURCE_CLAIMS, "default/shared").words == "It keeps its devices, and no pod uses it."
    )


def test_a_claim_names_the_template_and_the_pod_of_which_it_was_made(cluster: Sandbox) -> None:
    pod = cluster.get("pods", "default/c")
    assert pod
    uid = pod["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "c", "uid": uid, "controller": True}
    allocate(cluster, "default/shared", "c", ownerReferences=[owner], annotations={POD_CLAIM_NAME: "devices"})
    found = panel(cluster, RESOURCE_CLAIMS, "default/shared")
    assert (found.owner, found.template) == ("default/c", "default/gpus")
    made_by = panel(cluster, TEMPLATES, "default/gpus")
    assert (made_by.state, made_by.users) == ("", ["default/c"])
    assert [each.name for each in made_by.requests] == ["gpus"]


def test_the_panel_is_at_the_address_to_which_slots_link(cluster: Sandbox) -> None:
    allocate(cluster, "default/shared", "a")
    address = f"/s/{cluster.name}/objects/{RESOURCE_CLAIMS}/default/shared/"
    html = Client(headers={"host": "localhost", "HX-Request": "true"}).get(address).content.decode()
    for part in (
        "allocated,reserved",
        f"/s/{cluster.name}/nodes/n1/",
        "pods/default/b/",
        "firstAvailable",
        "YAML",
    ):
        assert part in html


def test_the_command_bar_opens_the_panel(cluster: Sandbox) -> None:
    opened = run(cluster, "describe resourceclaim shared").panel
    assert opened == f"objects/{RESOURCE_CLAIMS}/default/shared/"
