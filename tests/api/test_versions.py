"""A sandbox answers as the API server of its version of Kubernetes."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from schedviz.api.write import create_sandbox
from schedviz.store import Clock, Meta, Store
from simulator.api import SECOND
from simulator.versions.kubernetes_version import VERSIONS

CREATED = 1_700_000_000
Ask = Callable[..., tuple[int, Any]]


@pytest.fixture(params=[version.name for version in VERSIONS])
def version(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def ask(store: Store, sandbox_name: str, version: str) -> Iterator[Ask]:
    """Sends a request to a sandbox of the version, and returns the status and the body of the answer."""
    clock = Clock(sim=CREATED * SECOND, wall=CREATED, paused=True)
    create_sandbox(store, Meta(name=sandbox_name, created=CREATED, kubernetes=version), clock=clock)
    client = Client()

    def send(method: str, path: str, body: Any = None) -> tuple[int, Any]:
        content = b"" if body is None else json.dumps(body).encode()
        address = path if path.startswith("/openapi/v3/") else f"/s/{sandbox_name}{path}"
        answer = client.generic(method, address, content, "application/json", headers={"Host": "localhost"})
        return answer.status_code, json.loads(answer.content)

    yield send
    store.delete(sandbox_name)


def node(name: str, **status: Any) -> dict[str, Any]:
    labels = {"topology.kubernetes.io/zone": "a", "disk": "ssd"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": status,
    }


def test_the_version_is_that_of_the_sandbox(ask: Ask, version: str) -> None:
    told = ask("GET", "/version")[1]
    assert f"v{told['major']}.{told['minor']}" == version
    assert told["gitVersion"].startswith(f"{version}.")


def test_a_new_field_is_kept_where_the_version_has_it(ask: Ask, version: str) -> None:
    assert ask("POST", "/api/v1/nodes", node("n1"))[0] == 201
    status = {"declaredFeatures": ["A", "B"]}
    assert ask("PUT", "/api/v1/nodes/n1/status", node("n1", **status))[0] == 200
    kept = ask("GET", "/api/v1/nodes/n1")[1]["status"].get("declaredFeatures")
    assert kept == (["A", "B"] if version == "v1.36" else None)


def test_openapi_documents_are_those_of_the_version(ask: Ask, version: str) -> None:
    address = ask("GET", "/openapi/v3")[1]["paths"]["api/v1"]["serverRelativeURL"]
    status, document = ask("GET", address)
    fields = document["components"]["schemas"]["io.k8s.api.core.v1.NodeStatus"]["properties"]
    assert (status, document["info"]["version"][:5]) == (200, version)
    assert ("declaredFeatures" in fields) == (version != "v1.34")


def test_a_pod_that_is_bound_gets_the_topology_of_its_node(ask: Ask, version: str) -> None:
    assert ask("POST", "/api/v1/nodes", node("n1"))[0] == 201
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
        "spec": {"containers": [{"name": "main", "image": "nginx"}]},
    }
    pods = "/api/v1/namespaces/default/pods"
    assert ask("POST", pods, pod)[0] == 201
    metadata = {"name": "web", "labels": {"from": "binding"}}
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": metadata,
        "target": {"kind": "Node", "name": "n1"},
    }
    assert ask("POST", f"{pods}/web/binding", binding)[0] == 201
    placed = {**pod, "metadata": {"name": "placed"}, "spec": {**pod["spec"], "nodeName": "n1"}}
    assert ask("POST", pods, placed)[0] == 201
    given = {} if version == "v1.34" else {"topology.kubernetes.io/zone": "a"}
    bound, created = (
        ask("GET", f"{pods}/{name}")[1]["metadata"].get("labels", {}) for name in ("web", "placed")
    )
    assert (bound, created) == ({**given, **({"from": "binding"} if given else {})}, given)
