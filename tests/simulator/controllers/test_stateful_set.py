"""StatefulSets: numbered pods, in order."""

import copy
from typing import Any

import pytest

from simulator import trace
from simulator.api import Manifest
from simulator.controllers import stateful_set
from simulator.kernel.moment_limit import RUNS_BY_ITSELF
from tests.simulator.controllers.storage import storage_class
from tests.simulator.controllers.workloads import names, new_leader, phase, pods, scaled, status, workload
from tests.simulator.lab import Lab, node, pod

SETS = "statefulsets.apps"
SLOW = {"schedviz/ready-after-seconds": "10", "schedviz/stop-seconds": "2"}


def running(replicas: int = 3, seconds: float = 60, **spec: Any) -> Lab:
    lab = Lab()
    lab.create(node("n1"), storage_class("fast", "Immediate"))
    lab.create(workload("StatefulSet", annotations=SLOW, replicas=replicas, **spec))
    return lab.run(seconds)


def image(version: str, partition: int = 0) -> Any:
    def changed(manifest: Manifest) -> Manifest:
        new = copy.deepcopy(manifest)
        new["spec"]["template"]["spec"]["containers"][0]["image"] = version
        new["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = partition
        return new

    return changed


def images(lab: Lab) -> dict[str, str]:
    return {p["metadata"]["name"]: p["spec"]["containers"][0]["image"][-1] for p in pods(lab)}


def test_each_pod_waits_until_the_one_before_it_is_ready() -> None:
    lab = running(seconds=5)
    assert names(lab) == ["web-0"]
    lab.run(11)
    assert names(lab) == ["web-0", "web-1"]
    lab.run(60)
    assert names(lab) == ["web-0", "web-1", "web-2"]
    assert status(lab, SETS)["readyReplicas"] == 3
    labels = lab.pod("web-1")["metadata"]["labels"]
    assert labels["statefulset.kubernetes.io/pod-name"] == "web-1"
    assert labels["apps.kubernetes.io/pod-index"] == "1"


def test_with_parallel_pod_management_no_pod_waits() -> None:
    assert names(running(seconds=0.5, podManagementPolicy="Parallel")) == ["web-0", "web-1", "web-2"]


def test_the_highest_ordinal_is_deleted_first_and_a_deleted_pod_is_recreated_with_its_name() -> None:
    lab = running()
    before = lab.pod("web-1")["metadata"]["uid"]
    lab.delete_pod("web-1")
    lab.run(60)
    assert lab.pod("web-1")["metadata"]["uid"] != before
    lab.update(SETS, "default/web", scaled(1))
    lab.trace.clear()
    lab.run(60)
    assert [event.pod for event in lab.of(trace.PodRemoved)] == ["default/web-2", "default/web-1"]
    assert names(lab, alive=False) == ["web-0"]


def test_an_update_goes_from_the_highest_down_to_the_partition() -> None:
    lab = running()
    lab.update(SETS, "default/web", image("app:2", partition=1))
    lab.run(10)
    assert images(lab)["web-1"] == "1", "web-2 is not ready yet"
    lab.run(60)
    assert images(lab) == {"web-0": "1", "web-1": "2", "web-2": "2"}
    lab.delete_pod("web-0")
    lab.run(60)
    assert images(lab)["web-0"] == "1", "below the partition the old template stays"
    lab.update(SETS, "default/web", image("app:2"))
    lab.run(60)
    assert set(images(lab).values()) == {"2"}
    assert status(lab, SETS)["currentRevision"] == status(lab, SETS)["updateRevision"]


def test_a_new_leader_continues_an_update_and_then_writes_nothing() -> None:
    lab = running()
    lab.update(SETS, "default/web", image("app:2"))
    for _ in range(30):
        lab = new_leader(lab.run(3))
    assert set(images(lab).values()) == {"2"}
    version = lab.api.version
    new_leader(lab).run(60)
    assert lab.api.version == version


def test_each_pod_gets_claims_of_its_own_which_are_kept_after_it() -> None:
    lab = running(1, volumeClaimTemplates=[CLAIM])
    assert list(lab.api.objects["persistentvolumeclaims"]) == ["default/data-web-0"]
    [volume] = lab.pod("web-0")["spec"]["volumes"]
    assert volume["persistentVolumeClaim"]["claimName"] == "data-web-0"
    lab.delete(SETS, "default/web")
    lab.run(60)
    assert names(lab, alive=False) == []
    assert list(lab.api.objects["persistentvolumeclaims"]) == ["default/data-web-0"]


CLAIM = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "fast",
    },
}


def claims(lab: Lab) -> list[str]:
    return [key.rpartition("/")[2] for key in lab.api.objects["persistentvolumeclaims"]]


def test_claims_are_deleted_on_scaling_down_if_the_policy_says_so() -> None:
    policy = {"whenScaled": "Delete"}
    lab = running(3, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy)
    lab.update(SETS, "default/web", scaled(1))
    lab.run(60)
    assert claims(lab) == ["data-web-0"]
    lab.delete_pod("web-0")
    lab.run(60)
    assert claims(lab) == ["data-web-0"], "it was not scaled away"
    lab.delete(SETS, "default/web")
    lab.run(60)
    assert claims(lab) == ["data-web-0"]


def test_a_recreated_pod_waits_until_its_old_claim_is_deleted() -> None:
    policy = {"whenScaled": "Delete"}
    lab = running(2, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy)
    before = lab.api.objects["persistentvolumeclaims"]["default/data-web-1"]["metadata"]["uid"]
    lab.update(SETS, "default/web", scaled(1))
    lab.run(1)
    assert lab.pod("web-1")["metadata"]["deletionTimestamp"], "its claim is its own by now"
    lab.update(SETS, "default/web", scaled(2))
    lab.run(60)
    assert names(lab) == ["web-0", "web-1"]
    assert claims(lab) == ["data-web-0", "data-web-1"]
    after = lab.api.objects["persistentvolumeclaims"]["default/data-web-1"]["metadata"]["uid"]
    assert after != before
    assert phase(lab.pod("web-1")) == "Running"


def test_claims_are_deleted_with_the_set_if_the_policy_says_so() -> None:
    policy = {"whenDeleted": "Delete", "whenScaled": "Retain"}
    lab = running(2, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy)
    lab.update(SETS, "default/web", scaled(1))
    lab.run(60)
    assert claims(lab) == ["data-web-0", "data-web-1"]
    lab.delete(SETS, "default/web")
    lab.run(60)
    assert claims(lab) == []


def test_orphaned_pods_and_revisions_are_adopted_by_name_and_number() -> None:
    lab = running(2)
    before = {name: lab.pod(name)["metadata"]["uid"] for name in names(lab)}

    def orphaned(manifest: Manifest) -> Manifest:
        return {**manifest, "metadata": {**manifest["metadata"], "ownerReferences": []}}

    [revision] = lab.api.objects["controllerrevisions.apps"]
    lab.update("controllerrevisions.apps", revision, orphaned)
    for name in before:
        lab.update("pods", f"default/{name}", orphaned)
    lab.delete(SETS, "default/web")
    lab.run(60)
    assert names(lab) == ["web-0", "web-1"]
    lab.create(workload("StatefulSet", annotations=SLOW, replicas=2))
    stranger = pod("stranger")
    stranger["metadata"]["labels"] = {"app": "web"}
    lab.create(stranger)
    lab.run(60)
    assert {name: lab.pod(name)["metadata"]["uid"] for name in before} == before
    owned = {name: bool(lab.pod(name)["metadata"].get("ownerReferences")) for name in names(lab)}
    assert owned == {"web-0": True, "web-1": True, "stranger": False}


def test_pods_of_a_large_set_are_created_in_small_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stateful_set, "MAX_WRITTEN", 3)
    lab = Lab()
    endless = workload("StatefulSet", replicas=(1 << 31) - 1, podManagementPolicy="Parallel")
    lab.create(node("n1", cpu="64"), endless)
    lab.run(0)
    created = [event for event in lab.of(trace.ObjectsCreated) if event.resource == "pods"]
    assert 3 <= len(created) <= 3 * RUNS_BY_ITSELF
    lab.create(pod("other", cpu="10m"))
    lab.run(1)
    assert lab.node_of("other") == "n1"
