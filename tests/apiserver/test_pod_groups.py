"""PodGroups and Workloads are kinds of clusters whose gate GenericWorkload is on."""

import pytest

from simulator.api import Manifest
from simulator.apiserver.status import StatusError
from simulator.memory_sandbox import MemorySandbox, SandboxOptions
from simulator.objects.pod_group import POD_GROUPS, PodGroup
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import V1_36
from tests.apiserver.cluster import pod

GATES = {"GenericWorkload": True, "GangScheduling": True}
GROUP: Manifest = {
    "apiVersion": "scheduling.k8s.io/v1alpha2",
    "kind": "PodGroup",
    "metadata": {"name": "train", "namespace": "default"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
}


def sandbox(gates: dict[str, bool], *manifests: Manifest) -> MemorySandbox:
    return MemorySandbox(SandboxOptions("groups", manifests, features=Features(V1_36, gates)))


def test_a_cluster_with_the_gate_has_groups_and_pods_of_them() -> None:
    found = sandbox(GATES, GROUP, pod("a", schedulingGroup={"podGroupName": "train"}))
    stored = found.get(POD_GROUPS, "default/train")
    assert stored
    assert PodGroup(stored).min_count == 2
    member = found.get("pods", "default/a")
    assert member
    assert member["spec"]["schedulingGroup"] == {"podGroupName": "train"}


def test_a_cluster_without_the_gate_has_neither() -> None:
    with pytest.raises(StatusError, match="PodGroup"):
        sandbox({}, GROUP)
    member = sandbox({}, pod("a", schedulingGroup={"podGroupName": "train"})).get("pods", "default/a")
    assert member
    assert "schedulingGroup" not in member["spec"]
