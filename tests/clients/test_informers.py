"""Informers and watch loops of client libraries know what is stored, also after two minutes of changes
without a server."""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedviz.api import removal, write
from schedviz.store import Sandbox
from simulator.api import Manifest
from tests.clients.conftest import Server, write_kubeconfig
from tests.node_packages import CLIENT, NODE
from tests.processes import Process
from tests.waiting import eventually

PYTHON = Path(__file__).parent / "programs" / "watch_pods.py"
CHANGES = 240
"""Two a second for two minutes."""


@pytest.fixture(params=["javascript", "python"])
def informer(
    request: pytest.FixtureRequest, own_server: Server, cluster: Sandbox, tmp_path: Path
) -> Iterator[Process]:
    kubeconfig = str(write_kubeconfig(tmp_path, f"{own_server.url}/s/{cluster.name}"))
    if request.param == "javascript":
        process = Process(
            [CLIENT.program("watch_pods.js"), kubeconfig], tmp_path / "informer.log", program=NODE
        )
    else:
        process = Process([str(PYTHON), kubeconfig], tmp_path / "informer.log", program=sys.executable)
    yield process
    process.kill()


def pod(name: str, **labels: str) -> Manifest:
    containers = [{"name": "main", "image": "web:1"}]
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}


def stored(sandbox: Sandbox) -> dict[str, str]:
    items = sandbox.list("pods").items
    return {item["metadata"]["name"]: item["metadata"]["labels"]["version"] for item in items}


def known(informer: Process) -> object:
    *_, last = informer.output.splitlines() or ["null"]
    try:
        return json.loads(last)
    except ValueError:
        return None  # the line is not whole yet


def change(sandbox: Sandbox, rng: random.Random, number: int) -> None:
    """Create, label or delete a pod."""
    name, labels = f"p{rng.randrange(40)}", {"version": str(number)}
    if name not in stored(sandbox):
        write.create(sandbox, [pod(name, **labels)])
    elif rng.random() < 0.4:
        removal.delete(sandbox, "pods", f"default/{name}")
    else:
        write.patch(sandbox, "pods", f"default/{name}", {"metadata": {"labels": labels}})


@pytest.mark.long
def test_an_informer_continues_after_the_server_was_stopped(
    informer: Process, own_server: Server, cluster: Sandbox
) -> None:
    rng = random.Random(5)
    for number in range(10):
        change(cluster, rng, number)
    eventually(lambda: informer.alive() and known(informer) == stored(cluster), "it knows the first pods")
    own_server.kill()
    for number in range(CHANGES):
        change(cluster, rng, number)
    own_server.start()
    eventually(lambda: informer.alive() and known(informer) == stored(cluster), "it knows the changes")
    change(cluster, rng, CHANGES)
    eventually(lambda: informer.alive() and known(informer) == stored(cluster), "it watches again")
