"""The workloads ``dra``, nodes with 8 devices each, and pods that claim 1 to 4 of them by class and
attribute, and ``dra-shared``, nodes with partitions, a shared device and tainted ones."""

from collections.abc import Iterator

from simulator.api import Manifest
from simulator.harness.workloads import Workload, make_initial_pod, make_pod
from simulator.objects.device_features import counter_sets
from simulator.objects.device_notation import parse_devices

DRIVER = "gpu.example.com"
MODELS = ("a100", "h100")
DEVICES_PER_NODE = 8
PODS_PER_NODE = 2

CLASSES = {
    "gpu": f'device.driver == "{DRIVER}"',
    "large-gpu": f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0',
}

SHARED_DEVICES = (
    f"{DRIVER}: 2 x a100 memory=40Gi +partitions=7x5Gi,"
    " 2 x l4 memory=24Gi +taint=hot:NoSchedule, 1 x nic bandwidth=100G +shared"
)
"""Fourteen partitions of two devices beside these, two tainted devices, and one that claims share."""
CLAIMS_OF_SHARED = ("5Gi", "nic", "5Gi", "nic", "24Gi", "40Gi")
"""The claims of a node's pods in turn: a partition, a share of the bandwidth, a tainted device that the claim
tolerates, and a whole device, which no partition of it leaves."""


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


def make_shared_device_objects(nodes: int) -> Iterator[tuple[str, str, Manifest]]:
    """Yield resource, key and manifest of the class, of the slices of each node, and of the pods' claims."""
    spec = {"selectors": [{"cel": {"expression": CLASSES["gpu"]}}]}
    yield "deviceclasses.resource.k8s.io", "gpu", {"metadata": {"name": "gpu"}, "spec": spec}
    devices = parse_devices(SHARED_DEVICES)[DRIVER]
    for i in range(nodes):
        parts = ({"devices": devices}, {"sharedCounters": counter_sets(devices)})
        for number, part in enumerate(parts):
            name = f"node-{i}-{number}"
            pool = {"name": f"node-{i}", "generation": 1, "resourceSliceCount": len(parts)}
            published = {"driver": DRIVER, "nodeName": f"node-{i}", "pool": pool, **part}
            yield "resourceslices.resource.k8s.io", name, {"metadata": {"name": name}, "spec": published}
    for i in range(nodes * len(CLAIMS_OF_SHARED)):
        name = f"claim-{i}"
        metadata = {"name": name, "namespace": "default", "uid": name}
        claim = {"metadata": metadata, "spec": _claim_of_shared(CLAIMS_OF_SHARED[i % len(CLAIMS_OF_SHARED)])}
        yield "resourceclaims.resource.k8s.io", f"default/{name}", claim


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


def _claim_of_shared(wanted: str) -> Manifest:
    exactly: Manifest = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
    if wanted == "nic":
        exactly["capacity"] = {"requests": {"bandwidth": "25G"}}
    else:
        memory = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("{wanted}")) == 0'
        exactly["selectors"] = [
            {"cel": {"expression": f'"memory" in device.capacity["{DRIVER}"] && {memory}'}}
        ]
        exactly["tolerations"] = [{"key": "hot", "operator": "Exists"}]
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

DRA_SHARED = Workload(
    lambda nodes: 0,
    make_initial_pod,
    lambda nodes: nodes * len(CLAIMS_OF_SHARED),
    make_pod_with_claim,
    objects=make_shared_device_objects,
)
"""The same with what devices have since v1.36 by default."""
