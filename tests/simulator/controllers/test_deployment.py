"""Deployments: rollouts from one revision to the next, and which pods are kept meanwhile."""

import copy
from typing import Any

import pytest

from simulator import trace
from simulator.api import Manifest
from tests.simulator.controllers.workloads import names, new_leader, pods, scaled, status, workload
from tests.simulator.lab import Lab, node

DEPLOYMENTS, SETS = "deployments.apps", "replicasets.apps"


def running(replicas: int = 3, **spec: Any) -> Lab:
    lab = Lab()
    lab.create(node("n1"), node("n2"), workload("Deployment", replicas=replicas, **spec))
    return lab.run(10)


def image(version: str) -> Any:
    def changed(manifest: Manifest) -> Manifest:
        new = copy.deepcopy(manifest)
        new["spec"]["template"]["spec"]["containers"][0]["image"] = version
        return new

    return changed


def too_big(manifest: Manifest) -> Manifest:
    """The next version, whose pods are unschedulable."""
    new: Manifest = image("app:2")(manifest)
    new["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "64"
    return new


def image_of(replica_set: Manifest) -> str:
    found: str = replica_set["spec"]["template"]["spec"]["containers"][0]["image"]
    return found


def sets(lab: Lab) -> dict[str, int]:
    """Image -> replicas, oldest first."""
    return {image_of(s): s["spec"]["replicas"] for s in lab.api.objects[SETS].values()}


def ready(lab: Lab) -> int:
    return sum(
        any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", ()))
        for pod in pods(lab)
    )


def test_a_deployment_has_a_replica_set_named_and_labelled_by_its_templates_hash() -> None:
    lab = running()
    [replica_set] = lab.api.objects[SETS].values()
    digest = replica_set["metadata"]["labels"]["pod-template-hash"]
    assert replica_set["metadata"]["name"] == f"web-{digest}"
    assert replica_set["spec"]["selector"]["matchLabels"] == {"app": "web", "pod-template-hash": digest}
    assert all(pod["metadata"]["labels"]["pod-template-hash"] == digest for pod in pods(lab))
    found = status(lab, DEPLOYMENTS)
    assert (found["replicas"], found["updatedReplicas"], found["availableReplicas"]) == (3, 3, 3)
    reasons = {c["type"]: c["reason"] for c in found["conditions"]}
    assert reasons == {"Available": "MinimumReplicasAvailable", "Progressing": "NewReplicaSetAvailable"}
    messages = [c["message"] for c in found["conditions"]]
    assert messages == [
        "Deployment has minimum availability.",
        f'ReplicaSet "web-{digest}" has successfully progressed.',
    ]
    [deployment] = lab.api.objects[DEPLOYMENTS].values()
    assert deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"


@pytest.mark.parametrize(
    ("surge", "unavailable", "most", "least"), [(1, 0, 5, 4), (0, 1, 4, 3), ("50%", "25%", 6, 3)]
)
def test_a_rollout_keeps_within_its_surge_and_its_unavailable(
    surge: int | str, unavailable: int | str, most: int, least: int
) -> None:
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    lab = running(4, strategy={"type": "RollingUpdate", "rollingUpdate": rolling})
    lab.update(DEPLOYMENTS, "default/web", image("app:2"))
    seen: set[int] = set()
    for _ in range(400):
        lab.run(0.1)
        total = sum(sets(lab).values())
        assert total <= most
        assert least <= ready(lab) <= most
        seen.add(total)
    assert sets(lab) == {"app:1": 0, "app:2": 4}
    assert max(seen) == most
    assert {pod["spec"]["containers"][0]["image"] for pod in pods(lab)} == {"app:2"}


def test_recreate_ends_the_old_pods_before_it_makes_new_ones() -> None:
    lab = running(2, strategy={"type": "Recreate"}, pod={"terminationGracePeriodSeconds": 7})
    lab.update(DEPLOYMENTS, "default/web", image("app:2"))
    lab.run(6)
    assert names(lab) == []
    assert sets(lab) == {"app:1": 0}
    lab.run(10)
    assert sets(lab) == {"app:1": 0, "app:2": 2}
    assert ready(lab) == 2


def test_an_earlier_template_reuses_its_replica_set_with_a_new_revision() -> None:
    lab = running()
    for version in ("app:2", "app:1"):
        lab.update(DEPLOYMENTS, "default/web", image(version))
        lab.run(60)
    assert sets(lab) == {"app:1": 3, "app:2": 0}
    revisions = [
        s["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
        for s in lab.api.objects[SETS].values()
    ]
    assert revisions == ["3", "2"]


def test_only_so_many_old_revisions_are_kept() -> None:
    lab = running(1, revisionHistoryLimit=1)
    for version in ("app:2", "app:3", "app:4"):
        lab.update(DEPLOYMENTS, "default/web", image(version))
        lab.run(60)
    assert sets(lab) == {"app:3": 0, "app:4": 1}


def test_a_rollout_without_progress_is_reported_after_its_deadline_and_keeps_old_pods() -> None:
    lab = running(4, progressDeadlineSeconds=60)
    lab.update(DEPLOYMENTS, "default/web", too_big)
    lab.run(50)
    progressing = status(lab, DEPLOYMENTS)["conditions"][1]
    assert (progressing["status"], progressing["reason"]) == ("True", "ReplicaSetUpdated")
    lab.run(30)
    progressing = status(lab, DEPLOYMENTS)["conditions"][1]
    assert (progressing["status"], progressing["reason"]) == ("False", "ProgressDeadlineExceeded")
    assert ready(lab) == 3


def test_a_paused_deployment_is_scaled_but_not_rolled_out() -> None:
    lab = running(2)
    paused = workload("Deployment")["spec"] | {"paused": True}
    lab.update(DEPLOYMENTS, "default/web", lambda m: {**m, "spec": {**m["spec"], "paused": paused["paused"]}})
    lab.update(DEPLOYMENTS, "default/web", image("app:2"))
    lab.update(DEPLOYMENTS, "default/web", scaled(3))
    lab.run(60)
    assert sets(lab) == {"app:1": 3}


@pytest.mark.parametrize(
    ("replicas", "shares"),
    [(15, {"app:1": 11, "app:2": 7}), (6, {"app:1": 6, "app:2": 3}), (0, {"app:1": 0, "app:2": 0})],
)
def test_scaling_during_a_rollout_scales_the_revisions_in_proportion(
    replicas: int, shares: dict[str, int]
) -> None:
    """The first is the example of Kubernetes' own documentation."""
    rolling = {"maxSurge": 3, "maxUnavailable": 2}
    lab = running(10, strategy={"type": "RollingUpdate", "rollingUpdate": rolling})
    lab.update(DEPLOYMENTS, "default/web", too_big)
    lab.run(10)
    assert sets(lab) == {"app:1": 8, "app:2": 5}
    lab.update(DEPLOYMENTS, "default/web", scaled(replicas))
    lab.trace.clear()
    lab.run(0)
    assert {e.replica_set[-10:]: e.after for e in lab.of(trace.ReplicaSetScaled)[:2]} == {
        s["metadata"]["name"][-10:]: shares[image_of(s)] for s in lab.api.objects[SETS].values()
    }
    lab.run(60)
    assert sum(sets(lab).values()) == (replicas + 3 if replicas else 0)


def test_the_dependents_of_a_deleted_deployment_are_deleted() -> None:
    lab = running()
    lab.delete(DEPLOYMENTS, "default/web")
    lab.run(60)
    assert not lab.api.objects[SETS]
    assert names(lab, alive=False) == []
    assert lab.of(trace.ObjectsDeleted)[0].reason == "Deployment web is gone"


def test_a_new_leader_continues_a_rollout() -> None:
    alone, handed_over = running(), running()
    for lab in (alone, handed_over):
        lab.update(DEPLOYMENTS, "default/web", image("app:2"))
        lab.run(1.5)
    second = new_leader(handed_over)
    for _ in range(20):
        alone.run(2)
        second = new_leader(second.run(2))
    assert sets(alone) == sets(second) == {"app:1": 0, "app:2": 3}
    assert len(names(second, alive=False)) == 3
    version = second.api.version
    second.run(60)
    assert second.api.version == version


def test_the_same_operations_give_the_same_trace() -> None:
    assert running(5).trace == running(5).trace
