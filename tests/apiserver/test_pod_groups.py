"""PodGroups and Workloads are kinds of clusters whose gate GenericWorkload is on."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from simulator.api import SECOND, Manifest
from simulator.apiserver.kinds.pod_groups import POD_GROUPS, WORKLOADS
from simulator.apiserver.kinds.pods.strategy import PODS
from simulator.apiserver.resources import NAMESPACES
from simulator.apiserver.served_features import serving
from simulator.apiserver.status import StatusError
from simulator.memory_sandbox import MemorySandbox, SandboxOptions
from simulator.objects.pod_group import POD_GROUP_PROTECTION, PodGroup
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import V1_35, V1_36
from tests.apiserver.cluster import Cluster, pod, priority_class, refusal

GATES = {"GenericWorkload": True, "GangScheduling": True}
ALL_GATES = GATES | {
    "DRAWorkloadResourceClaims": True,
    "TopologyAwareWorkloadScheduling": True,
    "WorkloadAwarePreemption": True,
}
GANG: Manifest = {"gang": {"minCount": 2}}
IMMUTABLE = "Invalid value: null: field is immutable"
LABEL = 'Invalid value: "A": a lowercase RFC 1123 label must'


def group(**spec: Any) -> Manifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "default"},
        "spec": {"schedulingPolicy": deepcopy(GANG), **spec},
    }


def workload(*templates: Manifest, **spec: Any) -> Manifest:
    given = [{"name": "workers", "schedulingPolicy": deepcopy(GANG)}, *templates]
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "Workload",
        "metadata": {"name": "training", "namespace": "default"},
        "spec": {"podGroupTemplates": given, **spec},
    }


def reference(workload: str = "training", template: str = "workers") -> Manifest:
    return {"workload": {"workloadName": workload, "podGroupTemplateName": template}}


GROUP = group()


def sandbox(gates: dict[str, bool], *manifests: Manifest) -> MemorySandbox:
    return MemorySandbox(SandboxOptions("groups", manifests, features=Features(V1_36, gates)))


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with serving(Features(V1_36, ALL_GATES)):
        yield Cluster()


def created(cluster: Cluster, manifest: Manifest) -> Manifest:
    return cluster.commit(cluster.admit([deepcopy(manifest)], entry="api").changes)[0]


def faults_of(error: StatusError | None) -> list[str]:
    return [f"{cause.field}: {cause.message}" for cause in error.causes] if error else []


def test_a_cluster_with_the_gate_has_groups_and_pods_of_them() -> None:
    found = sandbox(GATES, GROUP, pod("a", schedulingGroup={"podGroupName": "train"}))
    stored = found.get(POD_GROUPS.id, "default/train")
    assert stored
    assert PodGroup(stored).min_count == 2
    assert "generation" not in stored["metadata"]
    member = found.get("pods", "default/a")
    assert member
    assert member["spec"]["schedulingGroup"] == {"podGroupName": "train"}


def test_a_cluster_without_the_gate_has_neither_and_says_what_to_switch_on() -> None:
    with pytest.raises(StatusError, match=r"; switch the feature gate GenericWorkload on$"):
        sandbox({}, GROUP)
    with pytest.raises(StatusError, match=r"; it needs Kubernetes v1\.36 with the feature gate GenericWork"):
        MemorySandbox(SandboxOptions("groups", [GROUP], features=Features(V1_35)))
    member = sandbox({}, pod("a", schedulingGroup={"podGroupName": "train"})).get("pods", "default/a")
    assert member
    assert "schedulingGroup" not in member["spec"]


@pytest.mark.parametrize(
    ("manifest", "faults"),
    [
        (
            group(schedulingPolicy={}),
            ['spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'],
        ),
        (
            group(schedulingPolicy={"basic": {}, "gang": {"minCount": -1}}),
            [
                'spec.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: ',
                "spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1",
            ],
        ),
        (group(schedulingPolicy={"gang": {}}), ["spec.schedulingPolicy.gang.minCount: Required value"]),
        (
            group(podGroupTemplateRef={"workload": {"workloadName": "w", "podGroupTemplateName": "A"}}),
            [f"spec.podGroupTemplateRef.workload.podGroupTemplateName: {LABEL}"],
        ),
        (
            group(schedulingConstraints={"topology": [{"key": "rack"}, {"key": "zone"}]}),
            ["spec.schedulingConstraints.topology: Too many: 2: must have at most 1 items"],
        ),
        (
            group(schedulingConstraints={"topology": [{}]}),
            ["spec.schedulingConstraints.topology[0].key: Required value"],
        ),
        (
            group(disruptionMode="Group"),
            ['spec.disruptionMode: Unsupported value: "Group": supported values: "Pod", "PodGroup"'],
        ),
        (
            group(resourceClaims=[{"name": "A"}]),
            [
                (
                    'spec.resourceClaims[0]: Invalid value: "": must specify one of: `resourceClaimName`, '
                    "`resourceClaimTemplateName`"
                ),
                f"spec.resourceClaims[0].name: {LABEL}",
            ],
        ),
        (
            workload({"name": "workers", "schedulingPolicy": {"basic": {}}}),
            [
                (
                    'spec.podGroupTemplates[1]: Duplicate value: {"name":"workers","schedulingPolicy":'
                    '{"basic":{}},"schedulingConstraints":null}'
                )
            ],
        ),
        (
            workload(*({"name": f"t{number}", "schedulingPolicy": {}} for number in range(8))),
            ["spec.podGroupTemplates: Too many: 9: must have at most 8 items"],
        ),
        (workload(podGroupTemplates=[]), ["spec.podGroupTemplates: Required value"]),
        (
            workload(controllerRef={"apiGroup": "batch", "kind": "a/b"}),
            [
                "spec.controllerRef.kind: Invalid value: \"a/b\": may not contain '/'",
                "spec.controllerRef.name: Required value",
            ],
        ),
    ],
)
def test_new_objects_are_refused_with_the_messages_of_the_markers(
    cluster: Cluster, manifest: Manifest, faults: list[str]
) -> None:
    found = faults_of(refusal(lambda: created(cluster, manifest)))
    assert len(found) == len(faults), found
    assert all(each.startswith(fault) for each, fault in zip(found, faults, strict=True)), found


def test_the_spec_does_not_change_but_the_metadata_does(cluster: Cluster) -> None:
    made = created(cluster, workload())
    stored = created(cluster, group(podGroupTemplateRef=reference()))
    changed = deepcopy(stored)
    changed["spec"]["schedulingPolicy"]["gang"]["minCount"] = 3
    del changed["spec"]["podGroupTemplateRef"]
    found = refusal(lambda: cluster.update(POD_GROUPS, stored, changed))
    assert faults_of(found) == [
        f"spec.podGroupTemplateRef: {IMMUTABLE}",
        f"spec.schedulingPolicy: {IMMUTABLE}",
    ]
    other = {**made, "spec": {**made["spec"], "controllerRef": {"kind": "Job", "name": "j"}}}
    assert faults_of(refusal(lambda: cluster.update(WORKLOADS, made, other))) == [
        f"spec.controllerRef: {IMMUTABLE}"
    ]
    labelled = deepcopy(stored)
    labelled["metadata"]["labels"] = {"team": "ml"}
    assert cluster.update(POD_GROUPS, stored, labelled)["metadata"]["labels"] == {"team": "ml"}


def test_a_status_is_written_by_its_subresource_alone(cluster: Cluster) -> None:
    condition = {"type": "PodGroupScheduled", "status": "True", "reason": "", "lastTransitionTime": None}
    stored = created(cluster, {**group(), "status": {"conditions": [condition]}})
    assert stored["status"] == {}
    changed = group(schedulingPolicy={"basic": {}})
    changed["metadata"] = {**stored["metadata"], "labels": {"team": "ml"}}
    changed["status"] = {"conditions": [condition], "resourceClaimStatuses": [{"name": "shared"}]}
    found = faults_of(refusal(lambda: cluster.update(POD_GROUPS, stored, changed, "status")))
    assert [each.partition(":")[0] for each in found] == [
        "status.conditions[0].lastTransitionTime",
        "status.conditions[0].reason",
        "status.resourceClaimStatuses[0].name",
    ]
    condition |= {"reason": "Scheduled", "lastTransitionTime": "2025-01-01T00:00:00Z"}
    changed["status"] = {"conditions": [condition]}
    updated = cluster.update(POD_GROUPS, stored, changed, "status")
    assert updated["status"]["conditions"][0]["reason"] == "Scheduled"
    assert (updated["spec"], updated["metadata"].get("labels")) == (stored["spec"], None)


def test_fields_of_gates_that_are_off_are_dropped_but_kept_where_they_are_in_use() -> None:
    given = group(
        schedulingConstraints={"topology": [{"key": "rack"}]}, disruptionMode="PodGroup", priority=5
    )
    cluster = Cluster()
    with serving(Features(V1_36, GATES)):
        dropped = created(cluster, given)
        assert dropped["spec"] == group()["spec"]
        cluster.commit([])
    with serving(Features(V1_36, ALL_GATES)):
        in_use = {**dropped, "spec": {**given["spec"]}}
    with serving(Features(V1_36, GATES)):
        updated = cluster.update(POD_GROUPS, in_use, {**in_use, "spec": {**in_use["spec"]}})
        assert updated["spec"] == given["spec"]
    member = pod("a", schedulingGroup={"podGroupName": "train"})
    with serving(Features(V1_36, GATES)):
        stored = created(cluster, member)
    with serving(Features(V1_36)):
        labelled = {**stored, "metadata": {**stored["metadata"], "labels": {"team": "ml"}}}
        updated = cluster.update(PODS, stored, labelled)
        assert updated["spec"]["schedulingGroup"] == {"podGroupName": "train"}


def test_the_group_of_a_pod_is_a_name_and_does_not_change(cluster: Cluster) -> None:
    path = "spec.schedulingGroup.podGroupName"
    assert faults_of(refusal(lambda: created(cluster, pod("a", schedulingGroup={})))) == [
        f'{path}: Invalid value: "": must specify one of: `podGroupName`'
    ]
    [fault] = faults_of(refusal(lambda: created(cluster, pod("a", schedulingGroup={"podGroupName": "A"}))))
    assert fault.startswith(f'{path}: Invalid value: "A": a lowercase RFC 1123 subdomain')
    stored = created(cluster, pod("a", schedulingGroup={"podGroupName": "train"}))
    moved = {**stored, "spec": {**stored["spec"], "schedulingGroup": {"podGroupName": "other"}}}
    [fault] = faults_of(refusal(lambda: cluster.update(PODS, stored, moved)))
    assert fault.startswith("spec: Forbidden: pod updates may not change fields other than")


def test_the_priority_of_a_group_comes_from_its_class(cluster: Cluster) -> None:
    cluster.create([priority_class("high", 100), priority_class("usual", 7, globalDefault=True)])
    found = created(cluster, group(priorityClassName="high"))["spec"]
    assert (found["priority"], found["disruptionMode"]) == (100, "Pod")
    cluster.objects[POD_GROUPS.id].clear()
    found = created(cluster, group())["spec"]
    assert (found["priorityClassName"], found["priority"]) == ("usual", 7)
    cluster.objects[POD_GROUPS.id].clear()
    for spec, detail in (
        ({"priorityClassName": "none"}, "no PriorityClass with name none was found"),
        (
            {"priorityClassName": "high", "priority": 5},
            (
                "the integer value of priority (5) must not be provided in pod group spec; priority "
                "admission controller computed 100 from the given PriorityClass name"
            ),
        ),
    ):
        error = refusal(lambda spec=spec: created(cluster, group(**spec)))
        assert str(error) == f'podgroups.scheduling.k8s.io "train" is forbidden: {detail}'


def test_the_workload_of_a_new_group_exists(cluster: Cluster) -> None:
    def refused(reference: Manifest) -> str:
        return str(refusal(lambda: created(cluster, group(podGroupTemplateRef=reference))))

    said = 'podgroups.scheduling.k8s.io "train" is forbidden: PodGroup rejected: '
    assert refused(reference()) == f'{said}Workload "training" not found'
    created(cluster, workload())
    assert refused(reference(template="drivers")) == (
        f'{said}PodGroupTemplate "drivers" not found in Workload "training"'
    )
    stored = cluster.objects[WORKLOADS.id]["default/training"]
    stored["metadata"]["deletionTimestamp"] = "2025-01-01T00:00:00Z"
    assert refused(reference()) == f'{said}Workload "training" is being deleted'
    assert cluster.create([group(podGroupTemplateRef=reference("gone"))])  # of a file


def test_a_group_is_kept_while_it_has_pods_that_are_not_over() -> None:
    member = pod("a", schedulingGroup={"podGroupName": "train"}, nodeName="n")
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    found = sandbox(GATES, node, group(), member)
    stored = found.get(POD_GROUPS.id, "default/train")
    assert stored
    assert stored["metadata"]["finalizers"] == [POD_GROUP_PROTECTION]
    found.delete(POD_GROUPS, "default/train")
    found.run(f"time {found.now() + 60 * SECOND}")
    kept = found.get(POD_GROUPS.id, "default/train")
    assert kept
    assert "deletionTimestamp" in kept["metadata"]
    found.delete(PODS, "default/a")
    found.run(f"time {found.now() + 60 * SECOND}")
    assert found.get(POD_GROUPS.id, "default/train") is None


def test_a_namespace_goes_with_the_groups_that_no_gate_serves_any_more() -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}}
    given = group()
    given["metadata"]["namespace"] = "ml"
    found = sandbox(GATES, namespace, given)
    found.set_gates(dict.fromkeys(GATES, False))
    found.delete(NAMESPACES, "ml")
    found.run(f"time {found.now() + 60 * SECOND}")
    assert (found.names(POD_GROUPS.id), found.get("namespaces", "ml")) == ([], None)
