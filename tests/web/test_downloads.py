"""The exports of a sandbox; an imported export is the same cluster."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
import yaml
from django.test import Client

from schedviz.api import write
from schedviz.bundled_scenarios import scenarios
from schedviz.store import Meta, Sandbox, Store
from simulator.api import SECOND, Change, Manifest, bare
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.server import ApiServer
from simulator.dumps.dump import Dump
from simulator.dumps.imported import Import
from simulator.harness.random_clusters import random_cluster
from simulator.memory import MemoryStorage
from simulator.simulation import Options, Simulation
from simulator.versions.features import DEFAULT_FEATURES

Objects = dict[str, dict[str, Manifest]]
START = 1_780_000_000 * SECOND


@pytest.fixture
def client() -> Iterator[Client]:
    return Client(headers={"host": "localhost"})


@pytest.fixture
def second(store: Store, sandbox_name: str) -> Iterator[str]:
    """The name of another sandbox, deleted afterwards."""
    name = f"{sandbox_name[:50]}-2"
    yield name
    if any(meta.name == name for meta in store.sandboxes()):
        store.delete(name)


def lived(documents: list[Manifest], seconds: int) -> Objects:
    """The objects of a cluster after the scheduler, kubelets and controllers ran for this time."""
    api = MemoryStorage()
    api.commit(new_cluster(documents, START, DEFAULT_FEATURES))
    options = Options(seed=1, pace=SECOND // 2, kubernetes=DEFAULT_FEATURES.version.patch)
    simulation = Simulation(api, ApiServer, options)
    simulation.observe(api.take_events())
    for moment in range(seconds):
        while simulation.step(START + moment * SECOND):
            simulation.observe(api.take_events())
    return api.objects


def without_events(objects: Objects) -> Objects:
    return {
        resource: {key: bare(manifest) for key, manifest in collection.items()}
        for resource, collection in objects.items()
        if collection and resource != "events"
    }


def brought(text: str) -> Objects:
    taken = Import(START, b"salt")
    for manifest in Dump(text.encode()).manifests():
        taken.take(manifest)
    objects: Objects = {}
    for change in taken.changes():
        assert change.object is not None
        objects.setdefault(change.resource, {})[change.key] = change.object
    assert taken.report.refused == []
    return objects


@pytest.mark.parametrize("name", ["online-vs-offline", "disruption-budgets", "gang"])
def test_a_cluster_is_the_same_after_export_and_import(name: str) -> None:
    """After a minute, with a Deployment, a StatefulSet and their pods in it."""
    workloads = [*yaml.safe_load_all(WORKLOADS)]
    objects = without_events(lived([*scenarios()[name].manifests, *workloads], 60))
    assert objects["controllerrevisions.apps"]
    items = [manifest for collection in objects.values() for manifest in collection.values()]
    assert brought(json.dumps({"kind": "List", "items": items})) == objects


@pytest.mark.parametrize("seed", range(5))
def test_random_clusters_are_the_same_after_export_and_import(
    client: Client, store: Store, second: str, seed: int
) -> None:
    documents = [*random_cluster(Random(seed), 6)]
    text = json.dumps({"kind": "List", "items": documents})
    client.post("/bring/", {"do": "create", "name": second, "text": text})
    exported = client.get(f"/s/{second}/download/objects/").content.decode()
    stored, _ = store.sandbox(second).list_all()
    assert len(stored["nodes"]) == 6
    assert brought(exported) == without_events(stored)


def sandbox_of(store: Store, name: str, objects: Objects) -> Sandbox:
    changes = [
        Change(resource, key, bare(manifest), 0)
        for resource, collection in objects.items()
        for key, manifest in collection.items()
    ]
    return store.create(Meta(name, created=1_780_000_000.0), changes)


def test_the_exported_manifests_can_be_applied_and_have_no_generated_fields(
    client: Client, store: Store, second: str, sandbox_name: str
) -> None:
    documents = [*scenarios()["disruption-budgets"].manifests, *yaml.safe_load_all(WORKLOADS)]
    objects = lived(documents, 30)
    assert any(pod["metadata"].get("ownerReferences") for pod in objects["pods"].values())
    sandbox_of(store, sandbox_name, objects)
    answer = client.get(f"/s/{sandbox_name}/download/manifests/")
    assert 'filename="' + sandbox_name + '.manifests.yaml"' in answer.headers["Content-Disposition"]
    found: list[dict[str, Any]] = [*yaml.safe_load_all(answer.content)]
    for manifest in found:
        assert manifest["metadata"].keys() <= {"name", "namespace", "labels", "annotations"}
        assert manifest["kind"] not in ("Event", "ReplicaSet", "ControllerRevision", "Timetable")
        assert manifest.get("spec", {}).get("nodeName") is None
        assert "status" not in manifest or manifest["kind"] == "Node"
    assert {m["metadata"]["name"] for m in found} >= {"web", "db", *objects["nodes"]}
    made = write.create_sandbox(store, Meta(second, created=1_780_000_000.0), found)
    assert made.count("nodes") == len(objects["nodes"])
    web = made.get("deployments.apps", "default/web")
    assert web
    assert web["spec"]["replicas"] == 2
    store.delete(sandbox_name)


def test_large_objects_are_read_as_json_where_yaml_is_asked_for(
    client: Client, store: Store, sandbox_name: str
) -> None:
    data = {f"key-{number}": "" for number in range(45_000)}
    large = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}
    write.create_sandbox(store, Meta(sandbox_name, created=1_780_000_000.0), [large])
    answer = client.get(f"/s/{sandbox_name}/download/manifests/")
    assert 'filename="' + sandbox_name + '.manifests.json"' in answer.headers["Content-Disposition"]
    assert data in [each.get("data") for each in json.loads(answer.content)["items"]]
    path = f"/s/{sandbox_name}/api/v1/namespaces/default/configmaps"
    listed = client.get(path, headers={"accept": "application/yaml"})
    assert listed.headers["Content-Type"] == "application/yaml"
    assert json.loads(listed.content)["items"][0]["data"] == data
    store.delete(sandbox_name)


WORKLOADS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1", resources: {requests: {cpu: 10m}}}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 1
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "db:1", resources: {requests: {cpu: 10m}}}]}
"""


@pytest.mark.parametrize("nodes", [4, 70])
def test_the_exported_image_is_one_svg_file_with_a_description(
    client: Client, store: Store, second: str, nodes: int
) -> None:
    text = json.dumps({"kind": "List", "items": [*random_cluster(Random(1), nodes)]})
    client.post("/bring/", {"do": "create", "name": second, "text": text})
    answer = client.get(f"/s/{second}/download/nodes.svg")
    assert answer.headers["Content-Type"] == "image/svg+xml"
    root = ET.fromstring(answer.content)
    svg = "{http://www.w3.org/2000/svg}"
    assert root.findtext(f"{svg}title") == f"Nodes of {second}"
    assert f"{nodes} nodes" in (root.findtext(f"{svg}desc") or "")
    titles = [each.text or "" for each in root.iter(f"{svg}title")]
    assert all(any(title.startswith(f"node-{number}") for title in titles) for number in range(nodes))
    assert nodes > 60 or any("default/pod-" in title or "pod-" in title for title in titles)
    for other in ("href", "url(http", "<style", "<script", "@import", "style="):
        assert other not in answer.content.decode()
    width = float(root.attrib["width"])
    assert all(float(box.get("width", "0").rstrip("%")) <= width for box in root.iter(f"{svg}rect"))


def test_the_exported_image_of_many_nodes_has_the_shades_and_marks_of_the_grid(
    client: Client, store: Store, second: str
) -> None:
    nodes: list[Manifest] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{number}"},
            "spec": {"unschedulable": number == 2},
            "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}},
        }
        for number in range(70)
    ]
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"on-{node}"},
            "spec": {
                "nodeName": f"node-{node}",
                "containers": [{"name": "c", "image": "c:1", "resources": {"requests": {"cpu": cpu}}}],
            },
        }
        for node, cpu in ((0, "4"), (1, "2"))
    ]
    write.create_sandbox(store, Meta(second), [*nodes, *pods])
    root = ET.fromstring(client.get(f"/s/{second}/download/nodes.svg").content)
    svg = "{http://www.w3.org/2000/svg}"
    cells = {
        (group.findtext(f"{svg}title") or "").partition(":")[0]: [*group.iter(f"{svg}rect")]
        for group in root.iter(f"{svg}g")
        if (group.findtext(f"{svg}title") or "").startswith("node-")
    }
    assert len(cells) == 70
    fills = {name: [rect.attrib["fill"] for rect in rects] for name, rects in cells.items()}
    opacity = {name: rects[1].attrib["fill-opacity"] for name, rects in cells.items()}
    assert (opacity["node-0"], opacity["node-1"], opacity["node-3"]) == ("0.75", "0.38", "0.0")
    quiet, warn = fills["node-0"][1:]
    assert fills["node-1"][1:] == fills["node-3"][1:] == [quiet]
    assert fills["node-2"][1:] == [quiet, "url(#cordoned)"]
    assert warn != quiet
    words = " ".join(each.text or "" for each in root.iter(f"{svg}text"))
    assert "shade: requested share of the fullest resource" in words
    assert "a pod is nominated" in words
