"""The workload ``dra``: nodes with 8 devices each, and pods that claim 1 to 4 of them by class and
attribute."""

from collections.abc import Iterator

from simulator.api import Manifest
from simulator.harness.workloads import Workload, make_initial_pod, make_pod

DRIVER = "gpu.example.com"
MODELS = ("a100", "h100")
DEVICES_PER_NODE = 8
PODS_PER_NODE = 2

CLASSES = {
    "gpu": f'device.driver == "{DRIVER}"',
    "large-gpu": f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0',
}


def make_device_objects(nodes: int) -> Iterator[tuple[str, str, Manifest]]:
    """Yield resource, key and manifest of the classes, of the slice of each node, and of the pods' claims."""
    for name, expression in CLASSES.items():
        spec = {"selectors": [{"cel": {"expression": expression}}]}
        yield "deviceclasses.resource.k8s.io", name, {"metadata": {"name": name}, "spec": spec}
    for i in range(nodes):
        yield "resourceslices.resource.k8s.io", f"node-{i}", _slice(i)
    for i in range(nodes * PODS_PER_NODE):
        name = f"claim-{i}"
        metadata = {"name": name, "namespace": "default", "uid": name}
        yield "resourceclaims.resource.k8s.io", f"default/{name}", {"metadata": metadata, "spec": _claim(i)}


def make_pod_with_claim(i: int) -> Manifest:
    claim = {"name": "devices", "resourceClaimName": f"claim-{i}"}
    return make_pod(f"pod-{i}", resourceClaims=[claim])


def _slice(i: int) -> Manifest:
    model = MODELS[i % len(MODELS)]
    devices = [
        {
            "name": f"gpu-{number}",
            "attributes": {"model": {"string": model}, "numa": {"int": number // 4}},
            "capacity": {"memory": {"value": "80Gi" if number % 2 else "24Gi"}},
        }
        for number in range(DEVICES_PER_NODE)
    ]
    name = f"node-{i}"
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": devices}
    return {"metadata": {"name": name}, "spec": spec}


def _claim(i: int) -> Manifest:
    """Return one to four devices: by class, and every other time by an attribute."""
    exactly: Manifest = {
        "deviceClassName": "gpu" if i % 3 else "large-gpu",
        "allocationMode": "ExactCount",
        "count": i % 4 + 1,
    }
    if i % 2:
        expression = f'device.attributes["{DRIVER}"].model == "{MODELS[i // 2 % len(MODELS)]}"'
        exactly["selectors"] = [{"cel": {"expression": expression}}]
    return {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}


DRA = Workload(
    lambda nodes: 0,
    make_initial_pod,
    lambda nodes: nodes * PODS_PER_NODE,
    make_pod_with_claim,
    objects=make_device_objects,
)
"""The workload of pods with devices, like the DRA workloads of upstream's scheduler_perf. It has no pods
before the measurement."""
