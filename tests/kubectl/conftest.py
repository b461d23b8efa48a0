"""A sandbox for kubectl. It is used with the kubeconfig that its page offers."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from django.test import Client

from schedviz.api.write import create_sandbox
from schedviz.store import Clock, Meta, Sandbox, Store
from simulator.api import SECOND
from simulator.versions.feature_gates import GANG_GATES
from simulator.versions.kubernetes_version import V1_34, V1_36, KubernetesVersion
from tests.kubectl.transcript import FOLDER, Shell
from tests.tools import OLDER_KUBECTL
from tests.waiting import eventually

SPEED = 50.0
"""A pod that is deleted has 30 seconds of grace, an Event is kept for an hour."""
NODES = [("node-1", "a"), ("node-2", "b"), ("node-3", "a")]


def node(name: str, zone: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"zone": zone}},
        "status": {"capacity": {"cpu": "4", "memory": "8Gi"}},
    }


@contextmanager
def running_cluster(
    store: Store, name: str, version: KubernetesVersion, gates: Mapping[str, bool] | None = None
) -> Iterator[Sandbox]:
    """Three nodes, and at least one object of each common kind."""
    manifests = [*yaml.safe_load_all((FOLDER / "manifests" / "cluster.yaml").read_text())]
    now = store.wall()
    clock = Clock(sim=int(now) * SECOND, wall=now, speed=SPEED)
    nodes = [node(name, zone) for name, zone in NODES]
    meta = Meta(name="", created=now, kubernetes=version.patch, feature_gates={**(gates or {})})
    sandbox = create_sandbox(store, meta, [*nodes, *manifests], clock, names=[name])
    eventually(lambda: _is_available(sandbox), "the Deployment is available")
    yield sandbox
    store.delete(sandbox.name)


@pytest.fixture(scope="module")
def cluster(store: Store, stack: str) -> Iterator[Sandbox]:
    with running_cluster(store, "kubectl", V1_36, dict.fromkeys(GANG_GATES, True)) as sandbox:
        yield sandbox


def _is_available(sandbox: Sandbox) -> bool:
    deployment = sandbox.get("deployments.apps", "default/web")
    return deployment is not None and deployment.get("status", {}).get("availableReplicas") == 2


def ready_shell(home: Path, config: str, kubectl: str = "kubectl") -> Shell:
    shell = Shell(home, config, kubectl)
    assert shell.run("kubectl create -f widgets.yaml && kubectl create -f small.yaml").endswith(
        "small created"
    )
    return shell


@pytest.fixture(scope="module")
def shell(cluster: Sandbox, stack: str, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return ready_shell(tmp_path_factory.mktemp("home"), kubeconfig_of(cluster, stack))


@pytest.fixture(scope="module")
def older_shell(store: Store, stack: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """kubectl v1.34 with a cluster v1.34."""
    with running_cluster(store, OLDER_KUBECTL.replace(".", "-"), V1_34) as sandbox:
        yield ready_shell(tmp_path_factory.mktemp("home"), kubeconfig_of(sandbox, stack), OLDER_KUBECTL)


def kubeconfig_of(sandbox: Sandbox, server: str) -> str:
    """What a person downloads from the page."""
    browser = Client(headers={"Host": urlsplit(server).netloc})
    return browser.post(f"/s/{sandbox.name}/share/kubeconfig/").content.decode()
