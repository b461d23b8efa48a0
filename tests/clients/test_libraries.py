"""Client libraries create, change, watch and delete objects of a sandbox as on a real cluster."""

import subprocess
from contextlib import closing
from pathlib import Path

import kr8s
import lightkube
import pytest
from kr8s.objects import ConfigMap, Pod
from lightkube.core.exceptions import ApiError
from lightkube.models.core_v1 import Container, PodSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Pod as LightkubePod
from lightkube.resources.scheduling_v1 import PriorityClass

from schedviz.api import removal, write
from schedviz.store import Sandbox
from simulator.api import Manifest
from tests.node_packages import CLIENT, NODE
from tests.processes import Process
from tests.waiting import PATIENCE, eventually

PROGRAMS = Path(__file__).parent / "programs"
DEFINITION: Manifest = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}


def test_the_official_javascript_client(kubeconfig: Path) -> None:
    command = [NODE, CLIENT.program("use_objects.js"), str(kubeconfig)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ended.stdout, ended.stderr) == ("done\n", "")


def test_kr8s(api: kr8s.Api) -> None:
    spec = {"containers": [{"name": "main", "image": "web:1"}]}
    pod = Pod(
        {"metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}}, "spec": spec}, api=api
    )
    pod.create()
    pod.label(tier="front")
    assert [each.name for each in api.get("pods", label_selector={"tier": "front"})] == ["web"]
    assert pod.status.phase == "Pending"
    settings = ConfigMap({"metadata": {"name": "c", "namespace": "default"}, "data": {"a": "1"}}, api=api)
    settings.create()
    settings.patch({"data": {"b": "2"}})
    settings.refresh()
    assert dict(settings.data) == {"a": "1", "b": "2"}
    pod.delete()
    assert not pod.exists()


def test_lightkube(kubeconfig: Path) -> None:
    config = lightkube.KubeConfig.from_file(str(kubeconfig))
    with lightkube.Client(config, field_manager="light") as client:
        client.apply(PriorityClass(metadata=ObjectMeta(name="urgent"), value=1000))
        spec = PodSpec(containers=[Container(name="main", image="web:1")], priorityClassName="urgent")
        pod = client.apply(LightkubePod(metadata=ObjectMeta(name="web", namespace="default"), spec=spec))
        assert pod.spec.priority == 1000
        assert pod.metadata.managedFields[0].manager == "light"
        version = pod.metadata.resourceVersion
        client.patch(LightkubePod, "web", {"metadata": {"labels": {"app": "web"}}})
        with closing(client.watch(LightkubePod, resource_version=version)) as watch:
            kind, changed = next(iter(watch))
        assert (kind, changed.metadata.labels) == ("MODIFIED", {"app": "web"})
        client.delete(LightkubePod, "web")
        with pytest.raises(ApiError) as refused:
            client.get(LightkubePod, "web")
        assert (refused.value.status.code, refused.value.status.reason) == (404, "NotFound")


@pytest.mark.long
def test_an_operator_of_kopf_reacts_to_custom_resources(
    kubeconfig: Path, cluster: Sandbox, tmp_path: Path
) -> None:
    widget = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w"},
        "spec": {"size": 3},
    }
    write.create(cluster, [DEFINITION])
    write.create(cluster, [widget])
    environment = {"KUBECONFIG": str(kubeconfig), "PYTHONWARNINGS": "ignore"}
    command = [
        "-m",
        "kopf",
        "run",
        "--standalone",
        "--namespace=default",
        str(PROGRAMS / "widget_operator.py"),
    ]
    operator = Process(command, tmp_path / "operator.log", environment)
    try:
        eventually(lambda: operator.alive() and size_of_pod(cluster) == "3", "the operator makes a pod")
        eventually(lambda: operator.alive() and has_status(cluster), "it writes what its handler returned")
        eventually(lambda: operator.alive() and has_event(cluster), "it tells it in an Event")
        write.patch(cluster, "widgets.example.com", "default/w", {"spec": {"size": 5}})
        eventually(lambda: operator.alive() and size_of_pod(cluster) == "5", "it labels the pod")
        removal.delete(cluster, "widgets.example.com", "default/w")
        gone = lambda: cluster.get("widgets.example.com", "default/w") is None  # noqa: E731
        eventually(lambda: operator.alive() and gone(), "it lets the Widget be deleted")
        assert size_of_pod(cluster) is None
    finally:
        operator.stop()


def size_of_pod(cluster: Sandbox) -> str | None:
    pod = cluster.get("pods", "default/w")
    return pod["metadata"]["labels"]["size"] if pod else None


def has_status(cluster: Sandbox) -> bool:
    widget = cluster.get("widgets.example.com", "default/w")
    return bool(widget and widget.get("status", {}).get("create_pod") == {"pod": "w"})


def has_event(cluster: Sandbox) -> bool:
    found = (each["message"] for each in cluster.list("events").items if each["reason"] == "Created")
    return "the pod w has the size 3" in found
