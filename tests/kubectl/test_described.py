"""The output of kubectl describe on the page is that of kubectl."""

from collections.abc import Iterator
from typing import Final

import pytest
import yaml
from django.test import Client
from django.utils.html import escape

from schedviz.api.new_sandbox import new_sandbox
from schedviz.store import Clock, Meta, Sandbox, Store
from schedviz.web.kubectl.describe.events import events_naming, get_events
from schedviz.web.kubectl.describe.nodes import describe_node
from schedviz.web.kubectl.describe.pods import describe_pod
from simulator.api import SECOND, Change, Manifest
from simulator.apiserver.defaults import set_defaults
from simulator.apiserver.new_cluster import bootstrap
from simulator.apiserver.resources import NODES, PODS, find_by_kind
from simulator.objects.metadata import key_of
from simulator.versions.kubernetes_version import V1_36
from tests.kubectl.conftest import kubeconfig_of
from tests.kubectl.transcript import FOLDER, Shell

CREATED: Final = "2021-03-01T06:00:00Z"
"""Long ago: ages are in days, the same in both outputs."""


def stored(manifest: Manifest) -> Change:
    """The object as an API server stores it."""
    resource = find_by_kind(manifest["apiVersion"], manifest["kind"])
    assert resource is not None
    manifest["metadata"].setdefault("creationTimestamp", CREATED)
    set_defaults(resource, manifest)
    return Change(resource.id, key_of(manifest), manifest, 0)


@pytest.fixture(scope="module")
def described(store: Store, server: str) -> Iterator[Sandbox]:
    """A paused sandbox, whose time is that of the clock that kubectl reads."""
    now = store.wall()
    clock = Clock(sim=int(now) * SECOND, wall=now, paused=True)
    changes = [
        *bootstrap(clock.sim),
        *(stored(each) for each in yaml.safe_load_all((FOLDER / "described.yaml").read_text())),
    ]
    with new_sandbox(
        store, ["described"], Meta(name="", created=now, kubernetes=V1_36.patch), changes, clock
    ) as sandbox:
        yield sandbox
    store.delete(sandbox.name)


@pytest.fixture(scope="module")
def kubectl(described: Sandbox, server: str, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(tmp_path_factory.mktemp("home"), kubeconfig_of(described, server))


@pytest.mark.parametrize(
    "key", ["default/plain", "shop/rich", "shop/volumes", "shop/going", "default/on-bare"]
)
def test_a_pod_is_described_as_by_kubectl(described: Sandbox, kubectl: Shell, key: str) -> None:
    manifest = described.get(PODS.id, key)
    assert manifest is not None
    namespace, _, name = key.partition("/")
    expected = kubectl.run(f"TZ=UTC kubectl describe pod {name} -n {namespace}")
    naming = events_naming(described, name)
    assert describe_pod(manifest, naming, described.now()).splitlines() == expected.splitlines()
    expected = kubectl.run(f"kubectl get events -n {namespace} --field-selector involvedObject.name={name}")
    lines = [line.rstrip() for line in expected.splitlines()]
    assert get_events(described, namespace, naming).splitlines() == lines


@pytest.mark.parametrize("name", ["node-1", "bare"])
def test_a_node_is_described_as_by_kubectl(described: Sandbox, kubectl: Shell, name: str) -> None:
    manifest = described.get(NODES.id, name)
    assert manifest is not None
    expected = kubectl.run(f"TZ=UTC kubectl describe node {name}")
    assert describe_node(described, manifest, described.now()).splitlines() == expected.splitlines()


@pytest.mark.parametrize("path", ["pods/shop/rich/", "nodes/node-1/"])
def test_the_panels_have_the_output(described: Sandbox, path: str) -> None:
    node, pod = described.get(NODES.id, "node-1"), described.get(PODS.id, "shop/rich")
    assert node is not None
    assert pod is not None
    now = described.now()
    if "node" in path:
        printed = describe_node(described, node, now)
    else:
        printed = describe_pod(pod, events_naming(described, "rich"), now)
    page = Client(headers={"host": "localhost"}).get(f"/s/{described.name}/{path}").content.decode()
    assert escape(printed) in page
    assert f"kubectl describe {'node node-1' if 'node' in path else 'pod rich -n shop'}" in page


def test_a_pod_of_a_group_names_it() -> None:
    spec = {"schedulingGroup": {"podGroupName": "training-1"}, "containers": []}
    metadata = {"name": "worker-1", "namespace": "default", "creationTimestamp": CREATED}
    text = describe_pod({"metadata": metadata, "spec": spec, "status": {}}, [], 0)
    assert "\nSchedulingGroup:\n  PodGroupName:  training-1\nEvents:" in text
