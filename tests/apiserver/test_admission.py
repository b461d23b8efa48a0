"""From manifests to stored objects, as the API server admits them."""

from pathlib import Path

import pytest

from simulator.apiserver import admission
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.overlay import CreatedObjects
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.resources import NAMESPACES, NODES, PODS, PRIORITY_CLASSES
from simulator.apiserver.served_features import serving
from simulator.apiserver.status import (
    AlreadyExists,
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    StatusError,
)
from simulator.apiserver.update import admit_update
from simulator.scenario import load_scenario
from tests.apiserver.cluster import NOW, Cluster, pod, priority_class

SCENARIOS = Path(__file__).parents[2] / "schedviz" / "scenarios"


def test_a_pod_gets_what_the_scheduler_relies_on() -> None:
    manifest = pod(
        hostNetwork=True,
        containers=[
            {
                "name": "main",
                "image": "web:1",
                "ports": [{"containerPort": 80}],
                "resources": {"limits": {"cpu": "1", "memory": "1024Mi"}, "requests": {"cpu": 0.5}},
            }
        ],
        affinity={
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "topologyKey": "zone",
                        "labelSelector": {"matchLabels": {"app": "web"}},
                        "matchLabelKeys": ["version", "absent"],
                    }
                ]
            }
        },
        tolerations=[{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}],
    )
    manifest["metadata"] = {"name": "web", "labels": {"version": "7"}, "uid": "mine", "resourceVersion": "9"}
    (created,) = Cluster().create([manifest])
    spec = created["spec"]
    container = spec["containers"][0]
    assert container["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP", "hostPort": 80}]
    assert spec["schedulerName"] == "default-scheduler"
    assert spec["terminationGracePeriodSeconds"] == 30
    assert [(t["key"], t.get("tolerationSeconds")) for t in spec["tolerations"]] == [
        ("node.kubernetes.io/not-ready", None),
        ("node.kubernetes.io/unreachable", 300),
    ]
    (term,) = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["labelSelector"]["matchExpressions"] == [
        {"key": "version", "operator": "In", "values": ["7"]}
    ]
    assert (spec["priority"], spec["preemptionPolicy"]) == (0, "PreemptLowerPriority")
    assert created["status"] == {"phase": "Pending", "qosClass": "Burstable"}
    metadata = created["metadata"]
    assert metadata["namespace"] == "default"
    assert metadata["creationTimestamp"] == "2023-11-14T22:13:20Z"
    assert metadata["uid"] != "mine"


def test_a_node_reports_what_its_kubelet_would() -> None:
    cluster = Cluster()
    (created,) = cluster.create(
        "{apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {cpu: 4, memory: 8192Mi}}}"
    )
    assert created["status"]["allocatable"] == {"cpu": "4", "memory": "8Gi", "pods": "110"}
    assert created["status"]["capacity"] == created["status"]["allocatable"]
    assert created["metadata"]["labels"]["kubernetes.io/hostname"] == "n"
    assert created["status"]["conditions"][0]["type"] == "Ready"


def test_a_gated_pod_has_a_condition_and_a_bound_one_keeps_its_status() -> None:
    cluster = Cluster()
    gated = cluster.create([pod(schedulingGates=[{"name": "example.com/quota"}])])[0]
    assert gated["status"]["conditions"][0]["reason"] == "SchedulingGated"
    running = pod("running", nodeName="n") | {
        "status": {"phase": "Running", "startTime": "2023-11-14T22:00:00Z"}
    }
    assert cluster.create([running])[0]["status"]["startTime"] == "2023-11-14T22:00:00Z"
    pretending = pod("pretending") | {"status": {"phase": "Running"}}
    assert cluster.create([pretending])[0]["status"]["phase"] == "Pending"


def test_the_priority_comes_from_the_class_or_the_default_class() -> None:
    cluster = Cluster()
    cluster.create(
        [
            priority_class("urgent", 1000, preemptionPolicy="Never"),
            pod("one", priorityClassName="urgent"),
            pod("two", priorityClassName="system-node-critical"),
            pod("three"),
            priority_class("usual", 10, globalDefault=True),
            pod("four"),
        ]
    )
    found = {
        item["metadata"]["name"]: (
            item["spec"]["priority"],
            item["spec"].get("priorityClassName"),
            item["spec"]["preemptionPolicy"],
        )
        for item in cluster.list("pods").items
    }
    assert found == {
        "one": (1000, "urgent", "Never"),
        "two": (2_000_001_000, "system-node-critical", "PreemptLowerPriority"),
        "three": (0, None, "PreemptLowerPriority"),
        "four": (10, "usual", "PreemptLowerPriority"),
    }


@pytest.mark.parametrize(
    ("manifest", "error", "message"),
    [
        (pod(priorityClassName="nope"), Forbidden, "no PriorityClass with name nope was found"),
        (pod(priority=7), Forbidden, "the integer value of priority (7) must not be provided in pod spec"),
        (pod(preemptionPolicy="Never"), Forbidden, "the string value of PreemptionPolicy (Never) must not"),
        (priority_class("big", 1_000_000_001), Invalid, "maximum allowed value of a user defined priority"),
        (
            priority_class("huge", 1 << 31),
            Invalid,
            "value: Invalid value: 2147483648: must be in the range of int32",
        ),
        (priority_class("system-mine", 1), Invalid, "'system-' prefix are reserved for system use only"),
        (priority_class("second", 1, globalDefault=True), Forbidden, "Only one default can exist"),
        (
            pod() | {"metadata": {"name": "x", "namespace": "nowhere"}},
            NotFound,
            'namespaces "nowhere" not found',
        ),
        (pod() | {"metadata": {"name": "there"}}, AlreadyExists, 'pods "there" already exists'),
        (pod() | {"kind": "Pods"}, BadRequest, 'no matches for kind "Pods" in version "v1"'),
        (pod() | {"apiVersion": "apps/v1"}, BadRequest, 'no matches for kind "Pod" in version "apps/v1"'),
        (pod() | {"kind": "Pood"}, BadRequest, "did you mean Pod of v1?"),
        (priority_class("a", 1) | {"apiVersion": "v1"}, BadRequest, "PriorityClass of scheduling.k8s.io/v1?"),
        (priority_class("a", 1) | {"apiVersion": "scheduling/v1"}, BadRequest, "no matches for kind"),
        (pod() | {"apiVersion": "x.example/v1", "kind": "A b"}, BadRequest, 'no matches for kind "A b"'),
        (pod() | {"apiVersion": "x..example/v1", "kind": "A"}, BadRequest, "no matches for kind"),
        ({"kind": "Pod"}, BadRequest, "must have an apiVersion and a kind"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_refusal_of_admission_has_the_message_of_the_api_server(
    manifest: dict[str, object], error: type[StatusError], message: str
) -> None:
    cluster = Cluster()
    cluster.create([priority_class("first", 1, globalDefault=True)])
    version = cluster.version
    with pytest.raises(error) as refused:
        cluster.create([pod("there"), manifest])
    assert message in refused.value.message
    assert cluster.version == version, "all or nothing"
    status = refused.value.status()
    assert (status["kind"], status["code"]) == ("Status", error.code)


def test_faults_are_listed_by_field_with_a_hint() -> None:
    manifest = pod(replicas=3)
    manifest["spec"]["containers"][0]["imagee"] = "x"
    with pytest.raises(Invalid) as refused:
        Cluster().create([manifest])
    assert [(cause.field, cause.message) for cause in refused.value.causes] == [
        ("spec.containers[0].imagee", 'unknown field "spec.containers[0].imagee"; did you mean "image"?'),
        ("spec.replicas", 'unknown field "spec.replicas"'),
    ]
    assert refused.value.status()["details"]["causes"][1]["field"] == "spec.replicas"


def test_the_same_request_gives_the_same_names_and_uids_and_another_gives_others() -> None:
    documents = [{**pod(), "metadata": {"generateName": "web-"}} for _ in range(50)]
    cluster = Cluster()
    first, again = cluster.admit(documents).changes, cluster.admit(documents).changes
    assert first == again
    assert len({change.key for change in first}) == 50
    assert all(len(change.key) == len("default/web-abcde") for change in first)
    other = admission.admit(documents, cluster, NOW, source="other").changes
    assert not {change.object["metadata"]["uid"] for change in first if change.object} & {
        change.object["metadata"]["uid"] for change in other if change.object
    }


def test_admission_names_the_collections_that_it_relied_on() -> None:
    cluster = Cluster()
    admitted = cluster.admit([pod()])
    assert admitted.unchanged == {
        "limitranges": cluster.version,
        "priorityclasses.scheduling.k8s.io": cluster.version,
        "namespaces": cluster.version,
        "resourcequotas": cluster.version,
    }
    assert [change.expected for change in admitted.changes] == [0]


def test_a_request_of_too_many_objects_is_refused() -> None:
    with pytest.raises(TooLarge):
        Cluster().create([{**pod(), "metadata": {"generateName": "web-"}}] * (admission.MAX_COPIES + 1))


def test_an_unknown_kind_is_kept_as_it_is() -> None:
    (created,) = Cluster().create(
        "{apiVersion: x.example/v1, kind: Proxy, metadata: {name: a}, any: [{b: 1}]}"
    )
    assert created["any"] == [{"b": 1}]
    cluster = Cluster()
    cluster.create("{apiVersion: x.example/v1, kind: Proxy, metadata: {name: a}}")
    assert [*cluster.objects["proxies.x.example"]] == ["default/a"]


def test_an_update_keeps_what_is_the_servers_and_the_status_has_its_own_path() -> None:
    cluster = Cluster()
    (old,) = cluster.create([pod()])
    changed = pod(containers=[{"name": "main", "image": "web:2"}]) | {"status": {"phase": "Failed"}}
    # As `kubectl replace` sends it: without any default, which are filled in again.
    new = cluster.update(PODS, old, changed)
    assert new["metadata"]["uid"] == old["metadata"]["uid"]
    assert new["spec"]["containers"][0]["image"] == "web:2"
    assert new["status"]["phase"] == "Pending"
    failed = cluster.update(PODS, new, {**new, "status": {**new["status"], "phase": "Failed"}}, "status")
    assert failed["status"]["phase"] == "Failed"
    assert failed["spec"] == new["spec"]
    assert not admit_update(PODS, failed, failed, cluster).changes, "nothing differs, nothing is written"


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"schedulerName": "other"}, "spec"),
        ({"nodeName": "n"}, "spec"),
        ({"priority": 5}, "spec"),
        ({"priorityClassName": "system-node-critical"}, "spec"),
        (
            {"containers": [{"name": "main", "image": "web:1"}, {"name": "b", "image": "b"}]},
            "spec.containers",
        ),
        ({"schedulingGates": [{"name": "new"}]}, "spec.schedulingGates[0].name"),
        ({"tolerations": []}, "spec.tolerations"),
    ],
)
def test_a_pods_spec_is_immutable(spec: dict[str, object], field: str) -> None:
    cluster = Cluster()
    (old,) = cluster.create([pod(tolerations=[{"key": "mine", "operator": "Exists"}])])
    with pytest.raises(Invalid) as refused:
        cluster.update(PODS, old, {**old, "spec": {**old["spec"], **spec}})
    assert field in [cause.field for cause in refused.value.causes]


def test_some_fields_of_a_pod_may_change() -> None:
    cluster = Cluster()
    (old,) = cluster.create([pod(schedulingGates=[{"name": "a"}, {"name": "b"}])])
    spec = old["spec"] | {
        "schedulingGates": [{"name": "b"}],
        "activeDeadlineSeconds": 60,
        "tolerations": [*old["spec"]["tolerations"], {"operator": "Exists"}],
        "nodeSelector": {"disk": "ssd"},
    }
    new = cluster.update(PODS, old, {**old, "spec": spec})
    assert new["spec"] == spec
    with pytest.raises(Invalid, match="schedulingGates"):
        cluster.update(
            PODS, new, {**new, "spec": {**spec, "schedulingGates": old["spec"]["schedulingGates"]}}
        )


WIDGET = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {size: 1}}"


@pytest.mark.parametrize("text", [WIDGET, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}"])
@pytest.mark.parametrize("field", ["apiVersion", "kind"])
def test_an_object_keeps_its_type(text: str, field: str) -> None:
    cluster = Cluster()
    (old,) = cluster.create(text)
    resource = admission.resource_of(old, cluster)
    untyped = {name: value for name, value in old.items() if name != field}
    for new in (untyped, {**old, field: None}, {**old, field: ""}):
        assert cluster.update(resource, old, {**new, "data": {"a": "b"}})[field] == old[field]
    for other in ("Node", 5, ["Widget"]):
        with pytest.raises(BadRequest, match=f"the {field} of the object .* does not match"):
            cluster.update(resource, old, {**old, field: other})


def test_a_class_keeps_its_value_and_stays_the_only_default() -> None:
    cluster = Cluster()
    first, second = cluster.create([priority_class("a", 1, globalDefault=True), priority_class("b", 2)])
    with pytest.raises(Invalid, match="may not be changed in an update"):
        cluster.update(PRIORITY_CLASSES, first, {**first, "value": 5})
    with pytest.raises(Forbidden, match="Only one default can exist"):
        cluster.update(PRIORITY_CLASSES, second, {**second, "globalDefault": True})
    assert cluster.update(PRIORITY_CLASSES, first, {**first, "description": "x"})["description"] == "x"


def test_an_update_meant_for_another_version_or_object_is_refused() -> None:
    cluster = Cluster()
    (old,) = cluster.create([pod()])
    with pytest.raises(Conflict):
        cluster.update(PODS, old, {**old, "metadata": {**old["metadata"], "resourceVersion": "1"}})
    with pytest.raises(Invalid, match=r"metadata\.uid"):
        cluster.update(PODS, old, {**old, "metadata": {**old["metadata"], "uid": "1"}})
    with pytest.raises(BadRequest, match="does not match"):
        cluster.update(PODS, old, {**old, "metadata": {**old["metadata"], "name": "other"}})


def test_a_running_pod_is_deleted_gracefully_and_a_second_request_only_shortens() -> None:
    cluster = Cluster()
    (bound,) = cluster.create([pod(nodeName="n", terminationGracePeriodSeconds=60)])
    change = admit_delete(PODS, bound, NOW)
    assert change
    assert change.object
    metadata = change.object["metadata"]
    assert metadata["deletionTimestamp"] == "2023-11-14T22:14:20Z"
    assert metadata["deletionGracePeriodSeconds"] == 60
    assert admit_delete(PODS, change.object, NOW, grace_seconds=90) is None
    shorter = admit_delete(PODS, change.object, NOW, grace_seconds=10)
    assert shorter
    assert shorter.object
    assert shorter.object["metadata"]["deletionTimestamp"] == "2023-11-14T22:13:30Z"
    at_once = admit_delete(PODS, change.object, NOW, grace_seconds=0)
    assert at_once
    assert at_once.object is None


@pytest.mark.parametrize("spec", [{}, {"nodeName": "n"}], ids=["pending", "finished"])
def test_a_pod_that_does_not_run_is_deleted_at_once(spec: dict[str, object]) -> None:
    (created,) = Cluster().create([pod(**spec) | {"status": {"phase": "Succeeded"}}])
    change = admit_delete(PODS, created, NOW)
    assert change
    assert change.object is None


def test_an_object_with_finalizers_is_deleted_when_the_last_is_removed() -> None:
    cluster = Cluster()
    (node,) = cluster.create("{apiVersion: v1, kind: Node, metadata: {name: n, finalizers: [example.com/a]}}")
    marked = admit_delete(NODES, node, NOW)
    assert marked
    (waiting,) = cluster.commit([marked])
    assert waiting["metadata"]["deletionTimestamp"]
    released = {**waiting, "metadata": {**waiting["metadata"], "finalizers": []}}
    cluster.update(NODES, waiting, released)
    assert cluster.objects["nodes"] == {}


def test_objects_of_every_cluster_cannot_be_deleted() -> None:
    cluster = Cluster()
    default = cluster.objects["namespaces"]["default"]
    assert default["metadata"]["labels"] == {"kubernetes.io/metadata.name": "default"}
    with pytest.raises(Forbidden):
        admit_delete(NAMESPACES, default, NOW)
    critical = cluster.objects["priorityclasses.scheduling.k8s.io"]["system-node-critical"]
    with pytest.raises(Forbidden):
        admit_delete(PRIORITY_CLASSES, critical, NOW)


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_bundled_scenario_is_admitted_with_all_that_it_will_create(path: Path) -> None:
    scenario = load_scenario(path.read_text())
    later = [
        entry["object"]
        for manifest in scenario.manifests
        if manifest["kind"] == "Timetable"
        for entry in manifest["spec"]["entries"]
    ]
    changes = new_cluster(scenario.manifests, NOW, scenario.features)
    assert changes == new_cluster(scenario.manifests, NOW, scenario.features)
    with serving(scenario.features):
        assert admission.admit(later, CreatedObjects(changes), NOW, source="later").changes
