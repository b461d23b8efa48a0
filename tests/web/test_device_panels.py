"""Devices in the panel of a node, and resource claims in the panel of a pod."""

import pytest

from schedviz.api import write
from schedviz.store import Commit, Sandbox
from schedviz.web.nodes.panel import node_detail
from schedviz.web.pods.panel import pod_detail
from simulator.api import Change, Manifest
from tests.simulator.devices import (
    DRIVER,
    device_class,
    pod_of_claim,
    pod_of_template,
    resource_claim,
    resource_slice,
)
from tests.simulator.lab import node

MODEL = {"attributes": {"model": {"string": "a100"}, "healthy": {"bool": True}}}


def allocated(claim: Manifest, pod: str) -> Manifest:
    result = {"request": "gpus", "driver": DRIVER, "pool": "n1", "device": "gpu-0"}
    consumer = {"resource": "pods", "name": pod, "uid": pod}
    return {**claim, "status": {"allocation": {"devices": {"results": [result]}}, "reservedFor": [consumer]}}


@pytest.fixture
def cluster(sandbox: Sandbox) -> Sandbox:
    devices = [{"name": "gpu-0", **MODEL, "capacity": {"memory": {"value": "80Gi"}}}, {"name": "gpu-1"}]
    write.create(
        sandbox,
        [
            node("n1"),
            node("n2"),
            device_class(),
            resource_slice("n1", devices),
            resource_claim("shared", 2),
            pod_of_claim("a"),
            pod_of_claim("b"),
            pod_of_template("c"),
        ],
    )
    claim = sandbox.get("resourceclaims.resource.k8s.io", "default/shared")
    assert claim
    change = Change("resourceclaims.resource.k8s.io", "default/shared", allocated(claim, "a"))
    sandbox.commit(Commit([change]))
    return sandbox


def test_a_node_shows_its_devices_and_who_has_them(cluster: Sandbox) -> None:
    found = node_detail(cluster, "n1", "/")
    assert found
    [pool] = found.pools
    assert (pool.name, pool.free, pool.count) == (f"{DRIVER}/n1", 1, 2)
    [group] = pool.groups
    first, second = group.devices
    assert first.attributes == ["model a100", "healthy true", "memory 80Gi"]
    [user] = first.users
    assert (first.state, user.claim, user.pods) == ("used", "default/shared", ["default/a"])
    assert (second.state, second.users) == ("free", [])
    other = node_detail(cluster, "n2", "/")
    assert other
    assert other.pools == []


def test_a_pod_shows_its_claims(cluster: Sandbox) -> None:
    a, b, c = (pod_detail(cluster, f"default/{name}", "/") for name in "abc")
    assert a
    assert b
    assert c
    [claim] = b.claims
    assert (claim.key, claim.requests) == ("default/shared", ["gpus: 2 of class gpu"])
    assert (claim.devices, claim.others) == (["n1/gpu-0"], ["default/a"])
    assert [each.others for each in a.claims] == [[]]
    [waiting] = c.claims
    assert (waiting.key, waiting.template) == ("", "gpus")
    assert waiting.problem == 'pod "default/c": ResourceClaim not created yet'
