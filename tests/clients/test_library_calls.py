"""Calls of the kinds that the client libraries' own test suites make, against a sandbox whose time stands
still."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import kr8s
import lightkube
import pytest
import yaml
from kr8s.objects import (
    ConfigMap,
    Deployment,
    Namespace,
    Node,
    Pod,
    Secret,
    Service,
    new_class,
    object_from_spec,
    objects_from_files,
)
from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError
from lightkube import codecs
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource, create_resources_from_crd
from lightkube.models.apiextensions_v1 import CustomResourceDefinitionSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources import apps_v1, core_v1
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.types import CascadeType, PatchType

from schedviz.api import write
from schedviz.store import Sandbox
from simulator.api import Manifest
from tests.clients.test_libraries import DEFINITION

NAMESPACE = "default"
CONTAINERS = {"containers": [{"name": "main", "image": "web:1"}]}
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": CONTAINERS}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": NAMESPACE, "labels": {"app": "web"}},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE},
}
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": NAMESPACE, "resourceVersion": "v1"},
    "spec": {"ports": [{"port": 80, "name": "http", "protocol": "TCP", "targetPort": 80}]},
}
CONFIG: Manifest = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "c", "namespace": NAMESPACE},
}
POD: Manifest = {
    "metadata": {"name": "web", "namespace": NAMESPACE, "labels": {"app": "web"}},
    "spec": CONTAINERS,
}
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": NAMESPACE}}


@pytest.fixture
def light(kubeconfig: Path) -> Iterator[lightkube.Client]:
    with lightkube.Client(lightkube.KubeConfig.from_file(str(kubeconfig)), field_manager="light") as found:
        yield found


@pytest.fixture
def official(kubeconfig: Path) -> Iterator[client.ApiClient]:
    with config.new_client_from_config(str(kubeconfig)) as found:
        yield found


# kr8s


def test_kr8s_discovers(api: kr8s.Api) -> None:
    assert api.version()["gitVersion"].startswith("v1.34")
    kinds = {(each["kind"], each["version"]) for each in api.api_resources()}
    assert {("Pod", "v1"), ("Deployment", "apps/v1"), ("PriorityClass", "scheduling.k8s.io/v1")} <= kinds
    assert api.lookup_kind("po")[:2] == ("pod/v1", "pods")


@pytest.mark.long
def test_kr8s_changes_objects(api: kr8s.Api, tmp_path: Path) -> None:
    pod = Pod(POD, api=api)
    pod.create()
    with pytest.raises(kr8s.ServerError) as refused:
        pod.create()
    assert refused.value.status["reason"] == "AlreadyExists"
    pod.annotate({"a": "1"})
    pod.annotate(b="2")
    pod.label({"tier": "front"})
    pod.label("tier-")
    assert (dict(pod.annotations), dict(pod.labels)) == ({"a": "1", "b": "2"}, {"app": "web"})
    pod.patch([{"op": "replace", "path": "/metadata/labels/app", "value": "api"}], type="json")
    assert pod.labels.app == "api"
    assert [each.name for each in Pod.list(namespace=NAMESPACE, label_selector="app=api", api=api)] == ["web"]
    assert Pod.get("web", namespace=NAMESPACE, api=api).metadata.uid == pod.metadata.uid
    assert [*api.get("pods", namespace=kr8s.ALL, field_selector="metadata.name=other")] == []
    assert not pod.ready()
    pod.set_owner(ConfigMap({**CONFIG, "metadata": {**CONFIG["metadata"], "uid": "u"}}, api=api))
    path = tmp_path / "objects.yaml"
    path.write_text(yaml.safe_dump_all([SERVICE, CONFIG]))
    for each in objects_from_files(path, api=api):
        each.create()
    service = Service.get("web", namespace=NAMESPACE, api=api)
    assert (service.spec.ports[0].targetPort, service.raw["metadata"]["resourceVersion"] != "v1") == (
        80,
        True,
    )
    secret = Secret({**CONFIG, "kind": "Secret", "data": {"k": "YWFh\nYQ==\n"}}, api=api)
    secret.create()
    assert secret.data.k == "YWFhYQ=="
    namespace = Namespace({"metadata": {"name": "other"}}, api=api)
    namespace.create()
    assert namespace.exists()
    namespace.delete()
    pod.delete(grace_period=0)
    assert not pod.exists()
    with pytest.raises(kr8s.NotFoundError):
        Pod.get("web", namespace=NAMESPACE, api=api)


def test_kr8s_scales_cordons_and_watches(api: kr8s.Api) -> None:
    deployment = Deployment(DEPLOYMENT, api=api)
    deployment.create()
    deployment.patch({"spec": {"replicas": 3}})
    assert deployment.replicas == 3
    node = Node(NODE, api=api)
    node.create()
    node.cordon()
    assert node.unschedulable
    node.taint("a", "b", effect="NoSchedule")
    node.uncordon()
    assert ([taint["key"] for taint in node.taints], node.unschedulable) == (["a"], False)
    with closing(api.watch("nodes")) as events:
        kind, seen = next(events)
    assert (kind, seen.name) == ("ADDED", "n")


def test_kr8s_has_classes_of_custom_resources(api: kr8s.Api) -> None:
    object_from_spec(DEFINITION, api=api).create()
    widget = new_class("Widget", version="example.com/v1", plural="widgets")(
        {**WIDGET, "spec": {"a": {"b": [1]}}}, api=api
    )
    widget.create()
    widget.patch({"spec": {"a": {"c": None, "d": 2}}})
    assert widget.spec.to_dict() == {"a": {"b": [1], "d": 2}}
    assert [each.name for each in api.get("widgets.example.com", namespace=NAMESPACE)] == ["w"]
    widget.delete()


# lightkube


def test_lightkube_lists_watches_and_deletes(light: lightkube.Client) -> None:
    for number in range(5):
        light.create(core_v1.ConfigMap(metadata=ObjectMeta(name=f"c{number}", labels={"n": str(number % 2)})))
    names = [each.metadata.name for each in light.list(core_v1.ConfigMap, chunk_size=2, labels={"n": "0"})]
    assert names == ["c0", "c2", "c4"]
    listed = light.list(core_v1.ConfigMap, labels={"n": ("0", "1")})
    assert len([*listed]) == 5
    with closing(light.watch(core_v1.ConfigMap, resource_version=listed.resourceVersion)) as events:
        light.delete(core_v1.ConfigMap, "c1", cascade=CascadeType.FOREGROUND)
        assert next(iter(events))[0] in ("MODIFIED", "DELETED")
    light.deletecollection(core_v1.ConfigMap, namespace=NAMESPACE)
    assert [*light.list(core_v1.ConfigMap, labels={"n": "0"})] == []


def test_lightkube_patches_replaces_and_applies(light: lightkube.Client) -> None:
    created = light.create(codecs.from_dict(DEPLOYMENT))
    created.spec.replicas = 3
    replaced = light.replace(created)
    with pytest.raises(ApiError) as stale:
        light.replace(created)
    assert (stale.value.status.code, stale.value.status.reason) == (409, "Conflict")
    assert replaced.spec.replicas == 3
    patched = light.patch(
        apps_v1.Deployment,
        "web",
        [{"op": "replace", "path": "/spec/replicas", "value": 1}],
        patch_type=PatchType.JSON,
    )
    assert patched.spec.replicas == 1
    scale = light.get(apps_v1.Deployment.Scale, "web")
    scale.spec.replicas = 4
    assert light.replace(scale, name="web").spec.replicas == 4
    replaced = light.get(apps_v1.Deployment, "web")
    replaced.status.observedGeneration = 7
    assert light.replace(replaced, name="web").status.observedGeneration is None
    status = light.patch(
        apps_v1.Deployment.Status, "web", {"status": {"observedGeneration": 7}}, patch_type=PatchType.MERGE
    )
    assert status.status.observedGeneration == 7
    config_map = core_v1.ConfigMap(metadata=ObjectMeta(name="c"), data={"a": "1"})
    light.apply(config_map, dry_run=True)
    with pytest.raises(ApiError):
        light.get(core_v1.ConfigMap, "c")
    light.apply(config_map)
    other = core_v1.ConfigMap(metadata=ObjectMeta(name="c"), data={"a": "2"})
    with pytest.raises(ApiError) as conflict:
        light.apply(other, field_manager="other")
    assert conflict.value.status.details.causes[0].field == ".data.a"
    assert light.apply(other, field_manager="other", force=True).data == {"a": "2"}


def test_lightkube_has_classes_of_custom_resources(light: lightkube.Client) -> None:
    definition = CustomResourceDefinition(
        metadata=ObjectMeta(name="widgets.example.com"),
        spec=CustomResourceDefinitionSpec.from_dict(DEFINITION["spec"]),
    )
    light.create(definition)
    create_resources_from_crd(definition)
    widget_class = create_namespaced_resource("example.com", "v1", "Widget", "widgets")
    light.create(widget_class(metadata=ObjectMeta(name="w"), spec={"size": 1, "none": None}))
    (seen,) = light.list(widget_class)
    assert seen.spec["size"] == 1
    text = codecs.dump_all_yaml([seen])
    assert codecs.load_all_yaml(text)[0].metadata.name == "w"


# The official client


def failure(message: str, reason: str, details: Manifest, code: int) -> str:
    """The text of a Status, which the client shows."""
    shown = {"status": "Failure", "message": message, "reason": reason, "details": details, "code": code}
    text = json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, **shown}, separators=(",", ":"))
    return f"{text}\n"


def test_the_official_client_creates_from_files(official: client.ApiClient, tmp_path: Path) -> None:
    path = tmp_path / "objects.yaml"
    path.write_text(yaml.safe_dump_all([DEPLOYMENT, SERVICE]))
    utils.create_from_yaml(official, str(path), verbose=False)
    with pytest.raises(utils.FailToCreateError) as refused:
        utils.create_from_yaml(official, str(path), verbose=False)
    assert str(refused.value) == "".join(
        "Error from server (Conflict): " + failure(f'{kind} "web" already exists', "AlreadyExists", of, 409)
        for kind, of in (
            ("deployments.apps", {"name": "web", "group": "apps", "kind": "deployments"}),
            ("services", {"name": "web", "kind": "services"}),
        )
    )


def test_the_official_client_changes_objects(official: client.ApiClient) -> None:
    core = client.CoreV1Api(official)
    created = core.create_namespaced_service(NAMESPACE, SERVICE)
    assert created.metadata.resource_version.isdigit()
    patched = core.patch_namespaced_service(
        "web",
        NAMESPACE,
        {"spec": {"ports": [{"name": "new", "port": 8080, "protocol": "TCP", "targetPort": 8080}]}},
    )
    assert [port.port for port in patched.spec.ports] == [8080, 80]
    core.create_namespaced_config_map(NAMESPACE, {**CONFIG, "data": {"a": "1"}})
    core.replace_namespaced_config_map("c", NAMESPACE, {**CONFIG, "data": {"b": "2"}})
    assert core.read_namespaced_config_map("c", NAMESPACE).data == {"b": "2"}
    with pytest.raises(ApiException) as refused:
        core.read_namespaced_pod("nope", NAMESPACE)
    details = {"name": "nope", "kind": "pods"}
    assert refused.value.body == failure('pods "nope" not found', "NotFound", details, 404)
    watching = watch.Watch()
    stream = watching.stream(core.list_namespaced_config_map, NAMESPACE, timeout_seconds=1)
    assert {event["object"].metadata.name for event in stream if event["type"] == "ADDED"} >= {"c"}
    core.delete_namespaced_config_map("c", NAMESPACE)
    pages = core.list_namespace(limit=1)
    assert (len(pages.items), bool(pages.metadata._continue)) == (1, True)


def test_the_dynamic_client(official: client.ApiClient, cluster: Sandbox) -> None:
    write.create(cluster, [DEFINITION])
    found = dynamic.DynamicClient(official)
    widgets = found.resources.get(api_version="example.com/v1", kind="Widget")
    widgets.create(body={**WIDGET, "spec": {"a": 1}}, namespace=NAMESPACE)
    with pytest.raises(ConflictError):
        widgets.create(body=WIDGET, namespace=NAMESPACE)
    merge = {"content_type": "application/merge-patch+json"}
    patched = widgets.patch(body={"spec": {"b": 2}}, name="w", namespace=NAMESPACE, **merge)
    assert patched.spec.to_dict() == {"a": 1, "b": 2}
    assert [each.metadata.name for each in widgets.get(namespace=NAMESPACE).items] == ["w"]
    maps = found.resources.get(api_version="v1", kind="ConfigMap")
    applied = maps.server_side_apply(
        body={**CONFIG, "data": {"k": "v"}}, name="c", namespace=NAMESPACE, field_manager="me"
    )
    assert applied.metadata.managedFields[0].manager == "me"
    partial = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    listed = maps.get(namespace=NAMESPACE, header_params={"Accept": partial}, serialize=False)
    assert json.loads(listed.data)["kind"] == "PartialObjectMetadataList"
    widgets.delete(name="w", namespace=NAMESPACE)
    with pytest.raises(NotFoundError):
        widgets.get(name="w", namespace=NAMESPACE)
    maps.delete(namespace=NAMESPACE, label_selector="a=b")
