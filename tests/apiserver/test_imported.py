"""The import of a real cluster: the objects that are imported, and those that are left out."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.api import SECOND, Change, Manifest, WatchEvent
from simulator.apiserver import resources
from simulator.apiserver.resources import PODS
from simulator.apiserver.server import ApiServer
from simulator.commands.clean import clean
from simulator.dumps.dump import Dump
from simulator.dumps.fitting import Unfit
from simulator.dumps.imported import Import, without_unserved
from simulator.dumps.imported_kinds import IMPORTED_RESOURCES, kind_outcome
from simulator.dumps.kubelet_versions import imported_features
from simulator.memory import MemoryStorage
from simulator.objects.pod_group import POD_GROUP_PROTECTION
from simulator.objects.timestamps import micros
from simulator.simulation import Options, Simulation
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import V1_35
from tests.apiserver.imported_objects import KATA, LIMITS, NOW, QUOTA, imported, named, with_value
from tests.dumps import SECRET, as_list, cluster, node, pod, workload
from tests.simulator.devices import DRIVER, claim_template, device_class, resource_claim, resource_slice
from tests.workload_dump import workload_dump

PROTECTION_OF_CLAIMS = "resource.kubernetes.io/delete-protection"


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
    assert report.refused == ["Pod shop/broken: spec.containers: Required value"]
    assert (report.orphaned, report.namespaces, report.stray) == (1, 1, 0)
    assert report.dropped["status.fieldOfTheFuture"] == 3
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


def test_what_admission_reads_of_a_pod_is_taken_over() -> None:
    """Also for pods of a file that no API server has admitted. Others are as the server made them."""
    admitted = {
        **pod("old", "n"),
        "spec": {**pod("old", "n")["spec"], "runtimeClassName": "kata", "priority": 5},
    }
    new = named("Pod", "new", spec={"runtimeClassName": "kata", "containers": [{"name": "c", "image": "x"}]})
    unknown = named("Pod", "of-another", spec={**new["spec"], "runtimeClassName": "gvisor"})
    objects, report = imported(as_list([QUOTA, LIMITS, KATA, node("n"), admitted, new, unknown]))
    assert objects["resourcequotas", "default/q"]["status"]["used"] == {"pods": "1"}
    assert objects["limitranges", "default/l"]["spec"]["limits"][0]["defaultRequest"] == {"cpu": "100m"}
    assert objects["runtimeclasses.node.k8s.io", "kata"]["overhead"] == {"podFixed": {"cpu": "250m"}}
    assert {kind.outcome for kind in report.kinds} == {"taken"}
    spec = objects["pods", "default/new"]["spec"]
    assert (spec["overhead"], spec["priority"]) == ({"cpu": "250m"}, 0)
    assert spec["containers"][0]["resources"] == {"requests": {"cpu": "100m"}}
    assert objects["pods", "default/new"]["status"]["qosClass"] == "Burstable"
    assert "overhead" not in objects["pods", "default/of-another"]["spec"]
    assert "overhead" not in objects["pods", "shop/old"]["spec"]


def test_the_report_says_of_each_kind_why_it_was_left_out() -> None:
    """The kinds of Kubernetes that have a type and are not imported."""
    outcomes: dict[str, set[str]] = {}
    for each in resources.BUILT_IN:
        if each.id not in IMPORTED_RESOURCES:
            outcome = kind_outcome(each.api_version, each.kind, each)
            outcomes.setdefault(outcome, set()).add(each.kind)
    assert outcomes.pop("private") == {"Secret", "ConfigMap"}
    assert outcomes.pop("unsimulated") == {"HorizontalPodAutoscaler"}
    assert outcomes.pop("admission") == {
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    }
    assert outcomes.keys() == {"unread"}
    # No plugin, no controller of a sandbox and no admission of pods reads them, or they are of its server.
    assert outcomes["unread"] == {
        *("APIService", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding"),
        *("CustomResourceDefinition", "EndpointSlice", "Endpoints", "Event", "FlowSchema", "IPAddress"),
        *("Ingress", "IngressClass", "Lease", "NetworkPolicy", "PodTemplate", "PriorityLevelConfiguration"),
        *("Role", "RoleBinding", "ServiceAccount", "ServiceCIDR", "VolumeAttributesClass"),
    }


def test_pods_whose_claims_of_devices_are_not_in_the_dump_are_counted() -> None:
    claims = [{"name": "gpu", "resourceClaimName": "mine"}]
    items = [device_class(), resource_claim("mine"), pod("a", resourceClaims=claims), pod("b")]
    items[1]["metadata"] |= {"namespace": "shop"}
    assert imported(as_list(items))[1].claiming == 0
    assert imported(as_list([items[0], *items[2:]]))[1].claiming == 1


def pods_alike() -> list[Manifest]:
    """Return pods of which most have the spec of the first one but for one field."""
    plain = with_value(pod("p0"), ("spec", "nodeName"), "n1")
    changes: list[tuple[tuple[str | int, ...], object]] = [
        (("spec", "nodeName"), "n1"),
        (("spec", "nodeName"), "n2"),
        (("spec", "nodeName"), "N 3"),
        (("spec", "nodeName"), 4),
        (("spec", "nodeName"), None),
        (("spec", "fieldOfTheFuture"), 1),
        (("spec", "containers", 0, "resources"), {"requests": {"cpu": "1 core"}}),
        (("spec", "containers", 0, "resources"), {"requests": {"cpu": "1000m"}}),
        (("spec", "containers", 0, "resources"), {"requests": {"cpu": 1}, "limits": {"cpu": "500m"}}),
        (("spec", "containers"), []),
        (("spec", "containers", 0, "name"), None),
        (("spec", "volumes"), [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]),
        (("spec",), None),
        (("spec",), "none"),
        (("metadata", "labels"), {"wrong label": "x"}),
        (("metadata", "annotations"), {"container.apparmor.security.beta.kubernetes.io/c": "wrong"}),
        (("metadata", "name"), "P 1"),
        (("metadata", "uid"), "of-its-own"),
        (("metadata", "uid"), None),
        (("metadata", "uid"), 5),
        (("metadata", "creationTimestamp"), "yesterday"),
        (("metadata", "deletionTimestamp"), "2026-01-01T00:00:00Z"),
        (("metadata", "namespace"), "Wrong"),
        (("metadata", "ownerReferences"), [{"kind": "ReplicaSet", "name": "r"}]),
        (("status",), {"phase": "Running", "conditions": [{"type": "Ready"}]}),
        (("status",), {"phase": 1}),
    ]
    changed = [
        with_value(with_value(plain, ("metadata", "name"), f"p{i}"), path, value)
        for i, (path, value) in enumerate(changes, 1)
    ]
    return [plain, *changed]


def test_a_pod_is_read_in_the_same_way_whether_one_like_it_came_before_or_not() -> None:
    known = Import(NOW, b"salt")
    for manifest in [*pods_alike(), *pods_alike()]:
        alone = Import(NOW, b"salt")
        found = []
        for reading in (alone, known):
            left: list[str] = []
            try:
                found.append((reading.restore(PODS, manifest, left.append), left))
            except Unfit as unfit:
                found.append((str(unfit), left))
        assert found[0] == found[1]


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
    api = MemoryStorage()
    api.commit([Change(resource, key, each, 0) for (resource, key), each in objects.items()])
    simulation = Simulation(api, ApiServer, Options())
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


@pytest.mark.parametrize("lacking", ["", "ControllerRevision"], ids=["whole", "kubectl-get-all"])
def test_controllers_write_nothing_to_an_import_of_settled_workloads(lacking: str) -> None:
    given = [each for each in workload_dump() if each["kind"] != lacking]
    objects, report = imported(as_list(given))
    assert report.refused == []
    assert report.taken == len(given)
    api = MemoryStorage()
    api.commit([Change(resource, key, each, 0) for (resource, key), each in objects.items()])
    api.take_events()
    simulation = Simulation(api, ApiServer, Options())
    listed = [
        WatchEvent("ADDED", resource, key, each, int(each["metadata"]["resourceVersion"]))
        for resource, found in api.objects.items()
        for key, each in found.items()
    ]
    simulation.relist(listed, api.version)
    start = micros("2025-05-20T10:00:00Z")
    for second in range(0, 3600, 10):
        while simulation.step(start + second * SECOND):
            assert api.take_events() == []
    assert simulation.next_due() == micros("2025-05-21T09:00:00Z"), "only the CronJob has something to do"


def test_a_revision_stays_equal_to_the_template_of_its_owner() -> None:
    """Both are converted in the same way: fields without a default here, other notations, later fields."""
    given = workload_dump()
    for each in given:
        if each["kind"] in ("StatefulSet", "ControllerRevision"):
            template = (each.get("data") or each)["spec"]["template"]
            del template["spec"]["dnsPolicy"]
            [container] = template["spec"]["containers"]
            container["resources"]["requests"]["cpu"] = "0.1"
            container["lifecycleOfTheFuture"] = {}
    objects, _ = imported(as_list(given))
    revision = next(each for (_, key), each in objects.items() if key == "shop/db-5c9f6b7d8")
    assert revision["data"]["spec"]["template"] == objects["statefulsets.apps", "shop/db"]["spec"]["template"]


def ownership(items: list[Manifest]) -> list[Manifest]:
    replica_set = next(each for each in items if each["kind"] == "ReplicaSet")
    found: list[Manifest] = replica_set["metadata"]["ownerReferences"]
    return found


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
    api = MemoryStorage()
    api.commit([Change(resource, key, each, 0) for (resource, key), each in objects.items()])
    simulation = Simulation(api, ApiServer, Options())
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
    clean(Dump(done.stdout.encode()), again, lines=False)
    assert by_uid(again.getvalue()) == by_uid(done.stdout)


def by_uid(listed: str | bytes) -> dict[str, Manifest]:
    return {item["metadata"]["uid"]: item for item in json.loads(listed)["items"]}


def test_pod_groups_are_imported_and_show_the_gates_of_their_cluster() -> None:
    reference = {"workload": {"workloadName": "gone", "podGroupTemplateName": "workers"}}
    policy = {"gang": {"minCount": 2}}
    group = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "default", "finalizers": [POD_GROUP_PROTECTION]},
        "spec": {"podGroupTemplateRef": reference, "schedulingPolicy": policy},
    }
    template = {"name": "workers", "schedulingPolicy": policy, "schedulingConstraints": {}}
    training = {**group, "kind": "Workload", "spec": {"podGroupTemplates": [template]}}
    member = pod("a")
    member["spec"]["schedulingGroup"] = {"podGroupName": "train"}
    objects, report = imported(as_list([group, training, member]))
    found = objects["podgroups.scheduling.k8s.io", "default/train"]
    assert (found["spec"], found["metadata"]["finalizers"]) == (group["spec"], [POD_GROUP_PROTECTION])
    assert objects["pods", f"{member['metadata']['namespace']}/a"]["spec"]["schedulingGroup"]
    assert report.gates == ["GangScheduling", "GenericWorkload", "TopologyAwareWorkloadScheduling"]
    features = imported_features(None, {"v1.36": 1}, report.gates)
    changes = [Change(resource, key, None) for resource, key in objects]
    assert [*without_unserved(changes, features)] == changes
    older = imported_features(None, {"v1.36": 1}, report.gates, "v1.35")
    assert older == Features(V1_35)
    kept = {change.resource for change in without_unserved(changes, older)}
    assert kept & {"podgroups.scheduling.k8s.io", "workloads.scheduling.k8s.io", "pods"} == {"pods"}
