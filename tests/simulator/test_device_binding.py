"""PreBind of DynamicResources in v1.36: devices that a driver makes ready, and claims for extended
resources."""

from typing import Any

import pytest

from simulator import trace
from simulator.api import Change, Manifest
from simulator.objects.status import with_status
from simulator.simulation import Options
from tests.simulator.devices import DRIVER, device_class, pod_of_claim, resource_claim, resource_slice
from tests.simulator.lab import Lab, node, pod

CLAIMS = "resourceclaims.resource.k8s.io"
SLICES = "resourceslices.resource.k8s.io"
CLASSES = "deviceclasses.resource.k8s.io"
CONDITIONS = {"bindingConditions": ["attached"], "bindingFailureConditions": ["broken"]}


def lab_with(*manifests: Manifest, **device: Any) -> Lab:
    """Two nodes with a device each, and what is given."""
    lab = Lab(Options(kubernetes="v1.36"))
    lab.create(node("n0"), node("n1"), device_class(), *manifests)
    for name in ("n0", "n1"):
        lab.create(resource_slice(name, 1))
        # Written past the API server, whose types are not all those of v1.36.
        devices = [{"name": "gpu-0", **device}]
        write(lab, SLICES, f"{name}-gpus", {"devices": devices})
    return lab.run(1)


def write(lab: Lab, resource: str, key: str, spec: Manifest) -> None:
    old = lab.api.objects[resource][key]
    lab.api.commit([Change(resource, key, {**old, "spec": {**old["spec"], **spec}})])
    lab.simulation.observe(lab.api.take_events())


def claim_of(lab: Lab, key: str = "default/shared") -> Manifest:
    return lab.api.objects[CLAIMS][key]


def report(lab: Lab, condition: str) -> None:
    """Let the driver report a condition of the allocated device."""
    [result] = claim_of(lab)["status"]["allocation"]["devices"]["results"]
    device = {field: result[field] for field in ("driver", "pool", "device")}
    device["conditions"] = [{"type": condition, "status": "True", "reason": "Driver", "message": "said so"}]
    lab.update(CLAIMS, "default/shared", lambda claim: with_status(claim, devices=[device]))


def test_a_pod_is_bound_when_the_driver_has_attached_its_device() -> None:
    lab = lab_with(resource_claim(), **CONDITIONS)
    lab.create(pod_of_claim("web"))
    lab.run(60)
    assert "nodeName" not in lab.pod("web")["spec"]
    [awaited] = lab.of(trace.DevicesAwaited)
    assert (awaited.pod, awaited.claims) == ("default/web", ["default/shared"])
    allocation = claim_of(lab)["status"]["allocation"]
    assert allocation["devices"]["results"][0]["bindingConditions"] == ["attached"]
    assert allocation["allocationTimestamp"]
    report(lab, "attached")
    lab.run(6)
    assert lab.node_of("web") == awaited.node


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        ("broken", 'claim shared binding failed: reason=Driver, message="said so"'),
        ("", "device binding timeout"),
    ],
)
def test_a_device_that_fails_or_takes_too_long_is_given_back(failure: str, message: str) -> None:
    lab = lab_with(resource_claim(), **CONDITIONS)
    lab.create(pod_of_claim("web"))
    lab.run(1)
    if failure:
        report(lab, failure)
    lab.run(700)
    first, *_ = lab.of(trace.BindFailed)
    assert message in first.message
    assert len(lab.of(trace.DevicesAwaited)) > 1, "tried again, after the claim was deallocated"


def extended_class() -> Manifest:
    made = device_class("gpu", f'device.driver == "{DRIVER}"')
    return {**made, "spec": {**made["spec"], "extendedResourceName": "example.com/gpu"}}


def pod_of_resource(name: str, amount: str = "1") -> Manifest:
    made = pod(name)
    resources = made["spec"]["containers"][0]["resources"]
    resources["requests"]["example.com/gpu"] = amount
    resources["limits"] = {"example.com/gpu": amount}
    return made


def test_an_extended_resource_is_served_by_a_claim_that_ends_with_its_pod() -> None:
    lab = lab_with()
    write(lab, CLASSES, "gpu", extended_class()["spec"])
    lab.create(pod_of_resource("web"))
    lab.run(5)
    host = lab.node_of("web")
    [claim] = lab.api.objects[CLAIMS].values()
    assert claim["metadata"]["generateName"] == "web-extended-resources-"
    assert [each["name"] for each in claim["spec"]["devices"]["requests"]] == ["container-0-request-1"]
    [result] = claim["status"]["allocation"]["devices"]["results"]
    assert (result["pool"], result["device"]) == (host, "gpu-0")
    assert [each["name"] for each in claim["status"]["reservedFor"]] == ["web"]
    assert lab.pod("web")["status"]["extendedResourceClaimStatus"] == {
        "requestMappings": [
            {
                "containerName": "main",
                "resourceName": "example.com/gpu",
                "requestName": "container-0-request-1",
            }
        ],
        "resourceClaimName": claim["metadata"]["name"],
    }
    lab.create(pod_of_resource("too-large", "2"))
    lab.run(5)
    assert "cannot allocate all claims" in lab.condition("too-large", "PodScheduled")["message"]
    lab.delete_pod("web")
    lab.run(60)
    assert lab.api.objects[CLAIMS] == {}


def test_the_claim_of_a_failed_binding_is_deleted() -> None:
    lab = lab_with(**CONDITIONS)
    write(lab, CLASSES, "gpu", extended_class()["spec"])
    lab.create(pod_of_resource("web"))
    lab.run(2)
    [first] = lab.api.objects[CLAIMS].values()
    lab.run(620)
    assert lab.of(trace.BindFailed)
    assert first["metadata"]["uid"] not in {
        claim["metadata"]["uid"] for claim in lab.api.objects[CLAIMS].values()
    }


def test_the_claim_for_extended_resources_is_deleted_when_its_pod_has_ended() -> None:
    lab = lab_with()
    write(lab, CLASSES, "gpu", extended_class()["spec"])
    ends = pod_of_resource("job")
    lab.create({**ends, "spec": {**ends["spec"], "restartPolicy": "Never"}})
    lab.run(5)
    assert lab.api.objects[CLAIMS]
    lab.update("pods", "default/job", lambda manifest: with_status(manifest, phase="Succeeded"))
    lab.run(5)
    assert lab.exists("job")
    assert lab.api.objects[CLAIMS] == {}
