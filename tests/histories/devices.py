"""Random DeviceClasses, ResourceSlices, ResourceClaims and templates.

The same random.Random gives the same manifests."""

from random import Random

from simulator.api import Manifest
from tests.histories.manifests import ZONE, ZONES, manifest

API = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"
MODELS = ("a100", "h100", "t4")
CLASSES = {
    "gpu": f'device.driver == "{DRIVER}"',
    "large-gpu": f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0',
    "any": "",
}
"""DeviceClasses and their selectors."""
TEMPLATES = ("one", "pair", "either")
SHARED = tuple(f"shared-{number}" for number in range(4))
"""Names of claims that several pods may use."""


def basics() -> list[Manifest]:
    """Device classes and templates."""
    classes = [
        manifest(API, "DeviceClass", name, spec={"selectors": _selectors(expression)})
        for name, expression in CLASSES.items()
    ]
    either = {"name": "gpu", "firstAvailable": [
        {"name": "large", "deviceClassName": "large-gpu"},
        {"name": "two", "deviceClassName": "gpu", "count": 2},
    ]}  # fmt: skip
    pair = {"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": 2}}
    same = [{"matchAttribute": f"{DRIVER}/model"}]
    specs = ([exactly("gpu")], [pair], [either])
    templates = [
        manifest(
            API, "ResourceClaimTemplate", name, "default", spec={"spec": {"devices": {"requests": requests}}}
        )
        for name, requests in zip(TEMPLATES, specs, strict=True)
    ]
    templates[1]["spec"]["spec"]["devices"]["constraints"] = same
    return [*classes, *templates]


def exactly(device_class: str, name: str = "gpu", **fields: object) -> Manifest:
    return {"name": name, "exactly": {"deviceClassName": device_class, **fields}}


def resource_slice(random: Random, name: str, node: str) -> Manifest:
    """The devices of a node, or, without one, of a zone or of all nodes."""
    pool = {"name": name, "generation": random.randint(1, 3), "resourceSliceCount": 1}
    devices = [_device(random, f"gpu-{number}") for number in range(random.randint(0, 4))]
    spec: Manifest = {"driver": DRIVER, "pool": pool, "devices": devices}
    if node:
        spec["nodeName"] = node
    elif random.random() < 0.5:
        spec["allNodes"] = True
    else:
        expression = {"key": ZONE, "operator": "In", "values": [random.choice(ZONES)]}
        spec["nodeSelector"] = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return manifest(API, "ResourceSlice", name, spec=spec)


def _device(random: Random, name: str) -> Manifest:
    return {
        "name": name,
        "attributes": {
            "model": {"string": random.choice(MODELS)},
            "healthy": {"bool": random.random() < 0.9},
        },
        "capacity": {"memory": {"value": random.choice(("16Gi", "40Gi", "80Gi"))}},
    }


def claim(random: Random, name: str) -> Manifest:
    """A claim for several pods."""
    expressions = (f'device.attributes["{DRIVER}"].model == "{random.choice(MODELS)}"', "")
    request = exactly(random.choice([*CLASSES]), selectors=_selectors(random.choice(expressions)))
    if random.random() < 0.15:
        request["exactly"] |= {"allocationMode": "All"}
    return manifest(API, "ResourceClaim", name, "default", spec={"devices": {"requests": [request]}})


def _selectors(expression: str) -> list[Manifest]:
    return [{"cel": {"expression": expression}}] if expression else []
