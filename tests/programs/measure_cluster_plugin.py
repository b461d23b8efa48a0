"""The CPU time and the memory of ``kubectl schedviz`` for a large cluster, which this process serves as an
API server does: ``python -m tests.programs.measure_cluster_plugin``. The numbers are in docs/BENCHMARKS.md.

The pods have what real ones have: environments, probes, status of containers, managed fields, 6 KB of JSON.
Three in ten are of DaemonSets, each with an affinity to its node, and two in ten of StatefulSets, each with a
claim. One in a thousand is pending.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, overload

from simulator.api import Manifest
from tests.kubectl_plugin.api_server import ApiServer, serving, write_kubeconfig
from tests.kubectl_plugin.small_cluster import LISTS, NODES, PODS

PER_APP, PENDING = 170, 1000
BORN = "2026-03-01T08:00:00Z"
ZONE = "topology.kubernetes.io/zone"


class Generated(Sequence[Manifest]):
    """Manifests that are made when they are listed."""

    def __init__(self, make: Callable[[int], Manifest], count: int) -> None:
        self._make, self._count = make, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Manifest: ...

    @overload
    def __getitem__(self, place: slice) -> list[Manifest]: ...

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, int):
            return self._make(place)
        return [self._make(number) for number in range(*place.indices(self._count))]


class Measured(NamedTuple):
    status: int
    seconds: float
    """CPU time of the process."""
    megabytes: float
    """The largest memory that it had."""


def large_cluster(nodes: int, pods: int) -> ApiServer:
    lists: dict[str, Sequence[Manifest]] = dict.fromkeys(LISTS, ())
    lists[NODES] = Generated(_node, nodes)
    lists[PODS] = Generated(lambda number: _pod(number, nodes), pods)
    return ApiServer(lists)


def _node(number: int) -> Manifest:
    name = f"ip-10-{number // 250}-{number % 250}-7.eu-west-1.compute.internal"
    amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    image = "registry.example.com/app"
    return {
        "metadata": {
            "name": name,
            "uid": name,
            "labels": {ZONE: f"zone-{number % 3}", "kubernetes.io/hostname": name},
        },
        "spec": {"providerID": f"aws:///a/{name}"},
        "status": {
            "allocatable": amounts,
            "capacity": amounts,
            "nodeInfo": {"kubeletVersion": "v1.36.1"},
            "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": BORN}],
            "images": [
                {
                    "names": [f"{image}-{(number + each) % 300}@sha256:{'b' * 64}", f"{image}-{each}:1"],
                    "sizeBytes": 10**8 + each,
                }
                for each in range(50)
            ],
        },
    }


def _pod(number: int, nodes: int) -> Manifest:
    app, kind, pending = f"app-{number // PER_APP}", number % 10, number % PENDING == PENDING - 1
    name, token = f"{app}-7d4b9c6f5-{number:05d}", f"kube-api-access-{number:05d}"
    node = _node(number % nodes)["metadata"]["name"]
    resources = {"requests": {"cpu": "40" if pending else "250m", "memory": "512Mi"}}
    fields = {f"f:{field}{each}": {} for field in ("env", "image", "resources") for each in range(40)}
    volumes: list[Manifest] = [{"name": token, "projected": {"sources": [{"configMap": {"name": "ca"}}]}}]
    spec: Manifest = {
        "containers": [
            {
                "name": "main",
                "image": f"registry.example.com/{app}:1",
                "resources": resources,
                "env": [{"name": f"VARIABLE_{each}", "value": "x" * 60} for each in range(25)],
                "livenessProbe": {"httpGet": {"path": "/healthz", "port": 80}, "periodSeconds": 10},
                "volumeMounts": [
                    {"name": token, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
                ],
            }
        ],
        "priority": 0,
        "schedulerName": "default-scheduler",
        "serviceAccountName": app,
        "volumes": volumes,
    }
    if kind < 3:
        fits = {"key": "metadata.name", "operator": "In", "values": [node]}
        required = {"nodeSelectorTerms": [{"matchFields": [fits]}]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    elif kind < 5:
        volumes.append({"name": "data", "emptyDir": {"sizeLimit": f"{number}Mi"}})
    status: Manifest = {"phase": "Pending"}
    if not pending:
        spec["nodeName"] = node
        container = {
            "name": "main",
            "imageID": f"sha256:{'a' * 64}",
            "containerID": f"containerd://{number:064d}",
        }
        status = {
            "phase": "Running",
            "startTime": f"2026-03-01T08:{number // 60 % 60:02d}:{number % 60:02d}Z",
            "conditions": [{"type": each, "status": "True"} for each in ("Ready", "PodScheduled")],
            "containerStatuses": [
                {**container, "resources": resources, "state": {"running": {"startedAt": BORN}}}
            ],
        }
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": app, "controller": True}
    return {
        "metadata": {
            "name": name,
            "namespace": f"team-{number % 40}",
            "uid": f"uid-{number}",
            "creationTimestamp": BORN,
            "labels": {"app": app},
            "ownerReferences": [owner],
            "managedFields": [{"manager": "kubelet", "fieldsV1": fields}],
        },
        "spec": spec,
        "status": status,
    }


def measure(cluster: ApiServer, *arguments: str) -> Measured:
    """Run the program in a process of its own."""
    with serving(cluster), tempfile.TemporaryDirectory() as folder:
        config = write_kubeconfig(Path(folder) / "kubeconfig", cluster.address)
        command = [sys.executable, "-m", "schedviz.kubectl_plugin", *arguments, "--kubeconfig", str(config)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Measured(process.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=50_000)
    options = parser.parse_args()
    cluster = large_cluster(options.nodes, options.pods)
    pending = cluster.lists[PODS][PENDING - 1]["metadata"]
    for arguments in (["pending"], ["why", pending["name"], "-n", pending["namespace"]]):
        found = measure(cluster, *arguments)
        print(f"{arguments[0]:<8} {found.seconds:5.1f} s  {found.megabytes:4.0f} MB  status {found.status}")


if __name__ == "__main__":
    main()
