"""The import of a real cluster: the objects that are imported from each form of a dump, and those that are
left out."""

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from schedviz.web.manifests.yaml import Plain, to_yaml
from simulator.api import SECOND, Change, Manifest
from simulator.apiserver.bounds import ManifestError
from simulator.commands.clean import clean
from simulator.dumps.dump import Dump
from simulator.dumps.imported import Import, ImportReport
from simulator.memory import MemoryApi
from simulator.simulation import Options, Simulation
from tests.dumps import SECRET, as_list, cluster, node, pod, workload
from tests.simulator.devices import DRIVER, claim_template, device_class, resource_claim, resource_slice

PROTECTION_OF_CLAIMS = "resource.kubernetes.io/delete-protection"
NOW = 1_780_000_000 * SECOND


def imported(text: str | bytes) -> tuple[dict[tuple[str, str], Manifest], ImportReport]:
    taken = Import(NOW, b"salt")
    for manifest in Dump(text.encode() if isinstance(text, str) else text).manifests():
        taken.take(manifest)
    changes = [*taken.changes()]
    return {(change.resource, change.key): change.object or {} for change in changes}, taken.report


def test_a_real_cluster_is_imported_unchanged_and_the_report_lists_what_was_left_out() -> None:
    objects, report = imported(as_list(cluster()))
    web = objects["pods", "shop/web-7d4b9c6f5-aaaaa"]
    assert web["spec"]["nodeName"] == "gke-main-pool-1"
    assert (web["status"]["phase"], web["metadata"]["uid"]) == ("Running", "uid-web-7d4b9c6f5-aaaaa")
    assert web["metadata"]["ownerReferences"][0]["uid"] == "uid-web-7d4b9c6f5"
    assert "ownerReferences" not in objects["pods", "shop/canary"]["metadata"]
    assert objects["pods", "shop/kube-apiserver-cp-1"]["metadata"]["ownerReferences"]
    machine = objects["nodes", "gke-main-pool-1"]
    assert machine["status"]["allocatable"]["memory"] == "15155332Ki"
    assert machine["status"]["images"] == [{"names": ["shop/web:3"], "sizeBytes": 123456789}]
    assert machine["status"]["conditions"][0]["status"] == "True"
    assert ("namespaces", "shop") in objects
    assert ("namespaces", "kube-system") in objects
    outcomes = {kind.kind: (kind.outcome, kind.came, kind.taken) for kind in report.kinds}
    assert outcomes == {
        "Pod": ("taken", 6, 5),
        "Node": ("taken", 3, 3),
        "ReplicaSet": ("taken", 2, 2),
        "Deployment": ("taken", 1, 1),
        "PersistentVolumeClaim": ("taken", 1, 1),
        "StorageClass": ("taken", 1, 1),
        "ConfigMap": ("private", 1, 0),
        "Secret": ("private", 1, 0),
        "Rollout": ("custom", 1, 0),
        "PodDisruptionBudget": ("version", 1, 0),
        "Event": ("unread", 1, 0),
    }
    assert report.refused == ["Pod broken: spec.containers: Required value"]
    assert (report.orphaned, report.namespaces, report.stray) == (1, 1, 0)
    assert report.dropped["status.declaredFeatures"] == 3
    assert report.dropped["spec.containers[].env"] == 5
    assert [*report.dropped.items()] == sorted(
        report.dropped.items(), key=lambda field: (-field[1], field[0])
    )


def test_devices_and_their_claims_are_taken_over_without_what_only_drivers_read() -> None:
    config = [{"opaque": {"driver": DRIVER, "parameters": {"token": SECRET}}}]
    used = resource_claim("mine", allocationMode="ExactCount")
    used["metadata"] |= {"namespace": "default", "uid": "mine", "finalizers": [PROTECTION_OF_CLAIMS]}
    used["spec"]["devices"]["config"] = config
    result = {"request": "gpus", "driver": DRIVER, "pool": "n", "device": "gpu-0"}
    devices = {"results": [result], "config": [{"source": "FromClaim", **config[0]}]}
    reported = [{"driver": DRIVER, "pool": "n", "device": "gpu-0", "data": {"serial": SECRET}}]
    consumer = {"resource": "pods", "name": "web", "uid": "web"}
    used["status"] = {"allocation": {"devices": devices}, "reservedFor": [consumer], "devices": reported}
    configured = device_class()
    configured["spec"]["config"] = config
    given = [node("n"), configured, resource_slice("n"), used, claim_template()]
    objects, report = imported(as_list(given))
    claim = objects["resourceclaims.resource.k8s.io", "default/mine"]
    assert claim["status"] == {"allocation": {"devices": {"results": [result]}}, "reservedFor": [consumer]}
    assert claim["metadata"]["finalizers"] == [PROTECTION_OF_CLAIMS]
    assert SECRET not in json.dumps([*objects.values()])
    assert {kind.kind for kind in report.kinds if kind.taken} == {
        "Node", "DeviceClass", "ResourceSlice", "ResourceClaim", "ResourceClaimTemplate",
    }  # fmt: skip


def test_no_secret_is_in_what_is_taken_over() -> None:
    objects, _ = imported(as_list(cluster()))
    assert SECRET in json.dumps(cluster())
    assert SECRET not in json.dumps([*objects.values()])
    left = json.dumps(objects["pods", "shop/waits"])
    assert not [word for word in ("env", "command", "Probe", "volumeAttributes", "managedF") if word in left]


def test_controllers_change_an_import_only_as_in_a_real_cluster() -> None:
    """Revisions that differ in their environment only stay two, a finished rollout stays finished."""
    finished = [each for each in cluster() if "5bb9d7c4f" not in each["metadata"]["name"]]
    deployment = next(each for each in finished if each["kind"] == "Deployment")
    deployment["spec"]["replicas"] = 1
    idle = workload("ReplicaSet", "web-5bb9d7c4f", 0, "another", ownerReferences=ownership(finished))
    objects, _ = imported(as_list([*finished, idle]))
    api = MemoryApi()
    api.commit([Change(resource, key, each, 0) for (resource, key), each in objects.items()])
    simulation = Simulation(api, Options())
    before = set(api.objects["pods"])
    for moment in range(0, 120, 10):
        simulation.observe(api.take_events())
        while simulation.step(NOW + moment * SECOND):
            simulation.observe(api.take_events())
    assert set(api.objects["pods"]) == before
    sizes = {key: each["spec"]["replicas"] for key, each in api.objects["replicasets.apps"].items()}
    assert sizes == {"shop/web-7d4b9c6f5": 1, "shop/web-5bb9d7c4f": 0}
    bound = {key: each["spec"].get("nodeName") for key, each in api.objects["pods"].items()}
    assert bound["shop/canary"] == "gke-main-pool-1"
    assert bound["shop/waits"] is None


def test_the_items_of_a_small_list_may_refer_to_one_another() -> None:
    listed = yaml.safe_dump({"items": cluster(), "kind": "List"})
    assert "*id001" in listed
    assert imported(listed)[0] == imported(as_list(cluster()))[0]


def ownership(items: list[Manifest]) -> list[Manifest]:
    replica_set = next(each for each in items if each["kind"] == "ReplicaSet")
    found: list[Manifest] = replica_set["metadata"]["ownerReferences"]
    return found


class Indented(Plain):
    """Indents lists more than their parents, as other tools than kubectl do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)


def in_forms() -> dict[str, bytes]:
    items = cluster()
    one = as_list(items)
    documents = "---\n".join(yaml.safe_dump(each) for each in items)
    listed = to_yaml([{"apiVersion": "v1", "items": items, "kind": "List", "metadata": {}}])
    indented = yaml.dump({"apiVersion": "v1", "items": items, "kind": "List"}, Dumper=Indented)
    halves = as_list(items[:7]) + "\n" + as_list(items[7:]) + "\n"
    return {
        "a List in JSON": one.encode(),
        "the same, gzipped": gzip.compress(one.encode()),
        "two Lists in JSON, one after the other": halves.encode(),
        "many YAML documents": documents.encode(),
        "a List in YAML": listed.encode(),
        "another hand's indentation": indented.encode(),
    }


@pytest.mark.parametrize("form", in_forms())
def test_every_form_of_a_dump_gives_the_same_objects(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = imported(as_list(cluster()))[0]
    assert imported(in_forms()[form])[0] == expected
    monkeypatch.setattr("simulator.dumps.dump.MAX_WHOLE_DOCUMENT", 0)
    assert imported(in_forms()[form])[0] == expected, "read item by item, as large ones are"


def test_typed_lists_say_once_what_their_items_are() -> None:
    items = [{field: value for field, value in node("n").items() if field not in ("apiVersion", "kind")}]
    typed = {"kind": "NodeList", "apiVersion": "v1", "items": items}
    assert ("nodes", "n") in imported(json.dumps(typed))[0]
    assert ("nodes", "n") in imported(yaml.safe_dump(typed))[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "the dump is empty"),
        (b'{"kind": "List", "items": [', "not JSON"),
        (b"a: [1", "line 2, column 1: not YAML"),
        (b"\xff\xfe", "not UTF-8"),
        (b"\x1f\x8bno", "not gzip"),
        (b"kind: List\nitems:\n- kind: Pod\n- kind: *nobody\n", 'line 4: unknown alias "nobody"'),
        (b'{"a":' * 100_000, "JSON"),
        (b"a: 1\n" * (7 << 20), "use -o json"),
        (b'{"kind":"Recording","sandbox":"x"}\n{"kind":"Lie"}', "line 2: not a record of a recording"),
    ],
)
def test_a_text_that_is_no_dump_is_refused_with_one_line(text: bytes, said: str) -> None:
    with pytest.raises(ManifestError) as refused:
        imported(text)
    assert said in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_a_compressed_file_of_zeros_is_unpacked_up_to_the_bound_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.dumps.dump.MAX_DUMP_BYTES", 1000)
    with pytest.raises(ManifestError, match="more than"):
        Dump(gzip.compress(bytes(10_000_000)))


@pytest.mark.parametrize(
    "strange",
    [
        {"apiVersion": 1, "kind": None},
        {"apiVersion": "v1", "kind": "Pod", "metadata": []},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "../../x"}, "spec": {"containers": []}},
        {**pod("p"), "spec": {"nodeName": {}, "containers": [None, 1], "volumes": "x"}},
        {**pod("p"), "metadata": {"name": "p", "creationTimestamp": "2026-02-30T00:00:00Z"}},
        {**pod("p"), "metadata": {"name": "p", "ownerReferences": [{}, 3], "annotations": {"a": 1}}},
        {**workload("Deployment", "d", 1), "spec": {"template": {"metadata": 1, "spec": 2}}},
        {**node("n"), "status": {"allocatable": {"cpu": "much"}, "conditions": {}}},
        {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "r"}, "data": [1]},
    ],
)
def test_an_imported_object_of_any_shape_is_reported_or_stored_valid(strange: Manifest) -> None:
    objects, report = imported(json.dumps({"kind": "List", "items": [strange, node("good")]}))
    assert ("nodes", "good") in objects
    assert report.came == 2
    api = MemoryApi()
    api.commit([Change(resource, key, each, 0) for (resource, key), each in objects.items()])
    simulation = Simulation(api, Options())
    simulation.observe(api.take_events())
    while simulation.step(NOW):
        simulation.observe(api.take_events())


def test_the_command_prints_a_list_that_is_a_dump_again(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_text(as_list(cluster()))
    command = [sys.executable, "-m", "simulator", "clean", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "1 Secret v1: left out: may contain secrets" in done.stderr
    assert SECRET not in done.stdout + done.stderr
    again = io.BytesIO()
    clean(done.stdout.encode(), again, lines=False)
    assert by_uid(again.getvalue()) == by_uid(done.stdout)


def by_uid(listed: str | bytes) -> dict[str, Manifest]:
    return {item["metadata"]["uid"]: item for item in json.loads(listed)["items"]}
