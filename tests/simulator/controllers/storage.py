"""Claims, volumes, classes, and pods that use them."""

from typing import Any

from simulator.api import Manifest
from tests.simulator.lab import node, pod


def claim(name: str = "data", size: str = "5Gi", **spec: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
            "storageClassName": "",
            **spec,
        },
    }


def volume(name: str, size: str, **spec: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": size},
            "hostPath": {"path": "/d"},
            **spec,
        },
    }


def storage_class(name: str, mode: str, provisioner: str = "disks.example") -> Manifest:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def user(name: str = "user", of: str = "data") -> Manifest:
    return pod(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": of}}])


def zoned(name: str, zone: str, **fields: Any) -> Manifest:
    made = node(name, **fields)
    made["metadata"]["labels"] = {"topology.kubernetes.io/zone": zone}
    return made
