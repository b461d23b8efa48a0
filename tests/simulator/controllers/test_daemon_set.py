"""DaemonSets: a pod on every eligible node."""

import copy
from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.status import Invalid
from tests.simulator.controllers.workloads import names, new_leader, pods, status, workload
from tests.simulator.lab import Lab, node, pod, priority_class

SETS = "daemonsets.apps"


def where(lab: Lab) -> list[str]:
    return sorted(made["spec"].get("nodeName", "") for made in pods(lab))


def changed(**fields: Any) -> Any:
    """In the container of its template."""

    def edit(manifest: Manifest) -> Manifest:
        new = copy.deepcopy(manifest)
        new["spec"]["template"]["spec"]["containers"][0].update(fields)
        return new

    return edit


def test_every_node_gets_a_pod_through_the_scheduler_also_if_it_is_added_later() -> None:
    lab = Lab()
    lab.create(node("a"), node("b"), workload("DaemonSet"))
    lab.run(5)
    assert where(lab) == ["a", "b"]
    assert [decision.selected for decision in lab.decisions] == ["a", "b"]
    lab.create(node("c"))
    lab.run(5)
    assert where(lab) == ["a", "b", "c"]
    found = status(lab, SETS)
    assert (found["desiredNumberScheduled"], found["numberReady"], found["numberMisscheduled"]) == (3, 3, 0)


def test_taints_and_selectors_choose_the_nodes_and_a_cordon_has_no_effect() -> None:
    lab = Lab()
    taint = {"key": "team", "value": "b", "effect": "NoSchedule"}
    arm = node("arm")
    arm["metadata"]["labels"] = {"arch": "arm"}
    lab.create(node("plain"), node("tainted", taints=[taint]), node("closed", unschedulable=True), arm)
    lab.create(workload("DaemonSet"), workload("DaemonSet", "arm", pod={"nodeSelector": {"arch": "arm"}}))
    lab.run(5)
    assert where(lab) == ["arm", "arm", "closed", "plain"]
    evicting = {"key": "x", "effect": "NoExecute"}
    lab.update("nodes", "plain", lambda m: {**m, "spec": {**m["spec"], "taints": [evicting]}})
    lab.run(60)
    assert where(lab) == ["arm", "arm", "closed"]


def test_a_daemon_pod_without_resources_waits_for_its_own_node_and_may_preempt_there() -> None:
    lab = Lab()
    lab.create(priority_class("high", 1000), node("a", cpu="1"), node("b", cpu="4"))
    lab.create(pod("big", cpu="1", nodeName="a", terminationGracePeriodSeconds=1))
    lab.run(2)
    lab.create(workload("DaemonSet", pod={"priorityClassName": "high"}))
    lab.run(20)
    assert where(lab) == ["a", "b"]
    assert not lab.exists("big")


def test_an_update_replaces_one_pod_at_a_time() -> None:
    lab = Lab()
    lab.create(*(node(name) for name in "abc"), workload("DaemonSet"))
    lab.run(5)
    lab.update(SETS, "default/web", changed(image="app:2"))
    for _ in range(200):
        lab.run(1)
        assert len(where(lab)) >= 2
    assert {made["spec"]["containers"][0]["image"] for made in pods(lab)} == {"app:2"}
    assert where(lab) == ["a", "b", "c"]
    assert len(lab.api.objects["controllerrevisions.apps"]) == 2


def test_a_surge_puts_the_new_pod_beside_the_old_one_until_it_is_available() -> None:
    lab = Lab()
    surge = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    slow = {"schedviz/ready-after-seconds": "5", "schedviz/stop-seconds": "1"}
    lab.create(*(node(name) for name in "abc"))
    lab.create(workload("DaemonSet", updateStrategy=surge, annotations=slow))
    lab.run(20)
    lab.update(SETS, "default/web", changed(image="app:2"))
    most = 0
    for _ in range(200):
        lab.run(0.5)
        ready = [p for p in pods(lab) if p["status"]["conditions"][-1]["status"] == "True"]
        assert {p["spec"]["nodeName"] for p in ready} == {"a", "b", "c"}, "no node is ever without the pod"
        most = max(most, len(where(lab)))
    assert most == 4
    assert {made["spec"]["containers"][0]["image"] for made in pods(lab)} == {"app:2"}
    assert where(lab) == ["a", "b", "c"]


def test_max_surge_and_max_unavailable_exclude_each_other() -> None:
    both = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
    with pytest.raises(Invalid, match=r"maxSurge: .* may not be set when maxUnavailable is non-zero"):
        Lab().create(workload("DaemonSet", updateStrategy=both))


def test_a_daemon_that_fails_is_replaced_and_nothing_is_left_of_a_deleted_set() -> None:
    lab = Lab()
    lab.create(node("a"), workload("DaemonSet"))
    lab.run(5)
    [first] = names(lab)

    def failed(manifest: Manifest) -> Manifest:
        return {**manifest, "status": {**manifest["status"], "phase": "Failed"}}

    lab.update("pods", f"default/{first}", failed)
    lab.run(5)
    [second] = names(lab, alive=False)
    assert second != first
    lab.delete(SETS, "default/web")
    lab.run(60)
    assert names(lab, alive=False) == []
    assert not lab.api.objects["controllerrevisions.apps"]


def test_a_new_leader_writes_nothing_when_everything_is_in_order() -> None:
    lab = Lab()
    lab.create(node("a"), node("b"), workload("DaemonSet"))
    lab.run(5)
    version = lab.api.version
    new_leader(lab).run(60)
    assert lab.api.version == version


def test_a_daemon_set_whose_template_names_a_node_runs_there_only() -> None:
    lab = Lab()
    lab.create(node("a"), node("b"), workload("DaemonSet", pod={"nodeName": "b"}))
    lab.run(5)
    assert where(lab) == ["b"]
    assert lab.decisions == [], "nothing is left to schedule"
    assert status(lab, SETS)["desiredNumberScheduled"] == 1
    lab.create(node("c"))
    lab.run(5)
    assert where(lab) == ["b"]
