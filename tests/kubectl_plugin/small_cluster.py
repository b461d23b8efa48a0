"""A cluster of one node, as an API server lists it."""

from typing import Any

from simulator.api import Manifest
from tests.kubectl_plugin.api_server import ApiServer

PODS, NODES, EVENTS = "/api/v1/pods", "/api/v1/nodes", "/api/v1/events"
BUDGETS = "/apis/policy/v1/poddisruptionbudgets"
LISTS = (
    *(PODS, NODES, EVENTS, BUDGETS, "/api/v1/namespaces", "/api/v1/services", "/api/v1/persistentvolumes"),
    *("/api/v1/persistentvolumeclaims", "/api/v1/replicationcontrollers", "/apis/apps/v1/replicasets"),
    *("/apis/apps/v1/statefulsets", "/apis/scheduling.k8s.io/v1/priorityclasses"),
    *(f"/apis/storage.k8s.io/v1/{each}" for each in ("storageclasses", "csinodes", "csidrivers")),
    *(f"/apis/storage.k8s.io/v1/{each}" for each in ("csistoragecapacities", "volumeattachments")),
    *(f"/apis/resource.k8s.io/v1/{each}" for each in ("deviceclasses", "resourceslices")),
    *(f"/apis/resource.k8s.io/v1/{each}" for each in ("resourceclaimtemplates", "resourceclaims")),
)
SECRET = "hunter2"


def node(name: str, cpu: str) -> Manifest:
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {
        "metadata": {"name": name, "uid": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def pod(name: str, cpu: str, on: str = "", namespace: str = "shop", owner: str = "", **spec: Any) -> Manifest:
    owners = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}
    ]
    unscheduled = {
        "type": "PodScheduled",
        "status": "False",
        "message": "0/1 nodes are available: as it was.",
    }
    container = {
        "name": "main",
        "image": "app",
        "env": [{"name": "PASSWORD", "value": SECRET}],
        "resources": {"requests": {"cpu": cpu}},
    }
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{name}",
            "creationTimestamp": "2026-11-01T00:00:00Z",
            "ownerReferences": owners if owner else [],
        },
        "spec": {
            "containers": [container],
            "priority": 0,
            "schedulerName": "default-scheduler",
            **({"nodeName": on} if on else {}),
            **spec,
        },
        "status": {"phase": "Running"} if on else {"phase": "Pending", "conditions": [unscheduled]},
    }


def small_cluster() -> ApiServer:
    """A node with one free cpu. Two pods that wait, of one owner, are too large, one is gated, one fits."""
    pods = [
        pod("runs", "3", on="node-1"),
        pod("big-1", "3", owner="big"),
        pod("big-2", "3", owner="big"),
        pod("gated", "100m", schedulingGates=[{"name": "wait"}]),
        pod("small", "500m", namespace="other"),
    ]
    return ApiServer({**{path: [] for path in LISTS}, NODES: [node("node-1", "4")], PODS: pods})
