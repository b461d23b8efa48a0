"""ReplicaSets keep the number of their pods."""

from functools import partial
from random import Random

import pytest

from simulator import trace
from simulator.api import Manifest
from simulator.controllers import controller
from simulator.controllers.ownership import OwnershipIndex
from simulator.controllers.pod_tally import PodFacts, PodTally
from simulator.controllers.replica_set import ReplicaSetController
from simulator.controllers.workload_controller import WorkloadController
from simulator.kernel.parts import in_parts
from simulator.objects.metadata import uid_of
from simulator.objects.status import with_status
from tests.simulator.controllers.workloads import names, new_leader, pods, scaled, status, template, workload
from tests.simulator.lab import Lab, node, pod

SETS = "replicasets.apps"


def running(replicas: int) -> Lab:
    lab = Lab()
    lab.create(node("n1"), node("n2"), workload("ReplicaSet", replicas=replicas))
    return lab.run(5)


def test_pods_are_created_scheduled_counted_and_replaced_when_deleted() -> None:
    lab = running(3)
    assert status(lab, SETS) == {
        "replicas": 3,
        "fullyLabeledReplicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
        "observedGeneration": 1,
    }
    assert all(name.startswith("web-") for name in names(lab))
    lab.delete_pod(names(lab)[0])
    lab.run(5)
    assert len(names(lab)) == 3
    assert len(names(lab, alive=False)) == 4, "the deleted one has its grace period"
    lab.run(60)
    assert len(names(lab, alive=False)) == 3


def test_scaling_down_deletes_pods_in_the_order_of_upstream() -> None:
    lab = running(3)
    lab.create(node("n3", cpu="0"))
    kept = names(lab)
    lab.update(SETS, "default/web", scaled(4))
    lab.run(0)
    lab.update(SETS, "default/web", scaled(3))
    lab.run(60)
    assert names(lab, alive=False) == kept, "the one that did not run yet"
    lab.update(SETS, "default/web", scaled(0))
    lab.run(60)
    assert names(lab, alive=False) == []


def test_an_orphan_with_matching_labels_is_adopted_and_a_pod_that_loses_them_released() -> None:
    lab = Lab()
    lone = pod("lone")
    lone["metadata"]["labels"] = {"app": "web"}
    lab.create(node("n1"), lone, workload("ReplicaSet", replicas=2))
    lab.run(5)
    assert "lone" in names(lab)
    assert len(names(lab)) == 2
    lab.update("pods", "default/lone", lambda m: {**m, "metadata": {**m["metadata"], "labels": {}}})
    lab.run(5)
    assert len(names(lab)) == 3
    assert lab.pod("lone")["metadata"]["ownerReferences"] == []


def test_a_creation_that_admission_refuses_is_reported_once_and_repeated() -> None:
    lab = Lab()
    lab.create(node("n1"), workload("ReplicaSet", replicas=1, pod={"priorityClassName": "vip"}))
    lab.run(20)
    [failed] = lab.of(trace.ControllerFailed)
    assert failed.controller == "ReplicaSet default/web"
    assert "no PriorityClass with name vip was found" in failed.message
    lab.create(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "vip"},
            "value": 9,
        }
    )
    lab.run(60)
    assert [made["spec"]["priority"] for made in pods(lab)] == [9]


def test_a_new_leader_writes_nothing_when_everything_is_in_order() -> None:
    lab = running(3)
    version = lab.api.version
    new_leader(lab).run(60)
    assert lab.api.version == version


def test_large_pods_are_created_and_deleted_in_parts_of_a_bounded_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        controller, "in_parts", lambda items, size, at_most=0: in_parts(items, size, at_most=50_000)
    )
    lab = Lab()
    large = workload("ReplicaSet", replicas=12)
    large["spec"]["template"]["metadata"]["annotations"] = {"text": "x" * 10_000}
    lab.create(node("n1"), large)
    lab.run(60)
    assert len(names(lab)) == 12
    lab.update(SETS, "default/web", scaled(0))
    lab.run(60)
    assert names(lab, alive=False) == []
    created = [len(event.keys) for event in lab.of(trace.ObjectsCreated) if event.resource == "pods"]
    deleted = [len(event.keys) for event in lab.of(trace.ObjectsDeleted) if event.resource == "pods"]
    assert sum(created) == sum(deleted) == 12
    assert max(created + deleted) <= 4


def random_history(seed: int) -> Lab:
    """Random writes about workloads and their pods. One of two ReplicaSets counts its pods as available after
    a while."""
    random = Random(seed)
    lab = Lab()
    sets = workload("ReplicaSet", replicas=2), workload("ReplicaSet", "slow", replicas=2, minReadySeconds=3)
    lab.create(node("n1"), node("n2"), *sets, workload("DaemonSet", "all"))
    lab.create(workload("StatefulSet", "db", replicas=2, serviceName="db"))
    work = template("work", restartPolicy="Never", annotations={"schedviz/run-seconds": "30"})
    spec = {"template": work, "completions": 6, "parallelism": 2}
    lab.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "work"}, "spec": spec})
    for number in range(12):
        lab.run(random.choice((0, 1, 2, 40)))
        some = random.choice(names(lab) or [""])
        labels = random.choice(({}, {"app": "web"}, {"app": "slow"}, {"app": "web", "tier": "a"}))
        match random.choice(("scale", "delete", "label", "create", "fail")):
            case "scale":
                lab.update(SETS, random.choice(("default/web", "default/slow")), scaled(random.randrange(5)))
            case "delete" if some:
                lab.delete_pod(some)
            case "label" if some:
                lab.update("pods", f"default/{some}", partial(with_labels, labels))
            case "create":
                lab.create(with_labels(labels, pod(f"lone-{number}")))
            case "fail" if some:
                lab.update("pods", f"default/{some}", lambda m: with_status(m, phase="Failed"))
    return lab.run(60)


def with_labels(labels: dict[str, str], manifest: Manifest) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}


def tallied_anew(index: OwnershipIndex, owner: str) -> PodTally:
    """The pods of a controller, as a tally that is made now."""
    tally = PodTally()
    for number, item in enumerate(index.controlled(owner, "pods")):
        facts = index._entries[item].facts
        assert facts is not None
        tally.add(item.key, PodFacts.of(facts.manifest, number))
    return tally


def claimed_one_by_one(controller: WorkloadController, owner: Manifest) -> PodTally | None:
    return None if controller.claim(owner) is None else controller._ownership.pods_of(uid_of(owner))


@pytest.mark.parametrize("seed", range(2))
def test_pods_are_counted_by_their_facts_as_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tallied = random_history(seed)
    monkeypatch.setattr(OwnershipIndex, "pods_of", tallied_anew)
    monkeypatch.setattr(WorkloadController, "claim_pods", claimed_one_by_one)
    again = random_history(seed)
    assert again.api.objects == tallied.api.objects
    assert again.trace == tallied.trace


def test_a_sync_looks_at_no_pod_while_all_of_them_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = running(3)
    monkeypatch.setattr(ReplicaSetController, "claim", None)
    lab.update(SETS, "default/web", scaled(5))
    lab.run(5)
    assert status(lab, SETS)["availableReplicas"] == 5
