"""DeviceClasses, ResourceSlices, ResourceClaims, templates, and pods that use them."""

from collections.abc import Sequence
from typing import Any

from simulator.api import Manifest
from tests.simulator.lab import pod

API = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"


def device_class(name: str = "gpu", *expressions: str) -> Manifest:
    selectors = [{"cel": {"expression": each}} for each in expressions]
    return {
        "apiVersion": API,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": selectors},
    }


def resource_slice(node: str, devices: int | Sequence[Manifest] = 2, **spec: Any) -> Manifest:
    """The devices of one node, in a pool of the same name."""
    made = [{"name": f"gpu-{i}"} for i in range(devices)] if isinstance(devices, int) else devices
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": API,
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-gpus"},
        "spec": {"driver": DRIVER, "pool": pool, "nodeName": node, "devices": [*made], **spec},
    }


def claim_spec(count: int = 1, device_class: str = "gpu", **exactly: Any) -> Manifest:
    request = {"name": "gpus", "exactly": {"deviceClassName": device_class, "count": count, **exactly}}
    return {"devices": {"requests": [request]}}


def resource_claim(name: str = "shared", count: int = 1, **exactly: Any) -> Manifest:
    return {
        "apiVersion": API,
        "kind": "ResourceClaim",
        "metadata": {"name": name},
        "spec": claim_spec(count, **exactly),
    }


def claim_template(name: str = "gpus", count: int = 1, **exactly: Any) -> Manifest:
    return {
        "apiVersion": API,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name},
        "spec": {"metadata": {"labels": {"made-by": name}}, "spec": claim_spec(count, **exactly)},
    }


def pod_of_claim(name: str, claim: str = "shared", **spec: Any) -> Manifest:
    return pod(name, resourceClaims=[{"name": "devices", "resourceClaimName": claim}], **spec)


def pod_of_template(name: str, template: str = "gpus", **spec: Any) -> Manifest:
    return pod(name, resourceClaims=[{"name": "devices", "resourceClaimTemplateName": template}], **spec)
