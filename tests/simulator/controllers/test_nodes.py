"""Nodes that fail, return, are tainted or have memory pressure; and their pods."""

from typing import Any

from simulator import trace
from simulator.api import Manifest
from tests.simulator.controllers.workloads import names, new_leader, pods, status, workload
from tests.simulator.lab import Lab, node, pod, priority_class

RUNS = {"schedviz/run-seconds": "30"}


def annotate(lab: Lab, name: str, **annotations: str | None) -> None:
    def annotated(manifest: Manifest) -> Manifest:
        old = manifest["metadata"].get("annotations", {})
        new = {**old, **{f"schedviz/{key}": value for key, value in annotations.items()}}
        kept = {key: value for key, value in new.items() if value is not None}
        return {**manifest, "metadata": {**manifest["metadata"], "annotations": kept}}

    lab.update("nodes", name, annotated)


def ready(lab: Lab, name: str) -> str:
    conditions = lab.api.objects["nodes"][name]["status"]["conditions"]
    return str(next(c["status"] for c in conditions if c["type"] == "Ready"))


def taints(lab: Lab, name: str) -> list[str]:
    found = lab.api.objects["nodes"][name]["spec"].get("taints", [])
    return [f"{taint['key'].removeprefix('node.kubernetes.io/')}:{taint['effect']}" for taint in found]


def set_spec(lab: Lab, name: str, **spec: Any) -> None:
    lab.update("nodes", name, lambda m: {**m, "spec": {**m["spec"], **spec}})


def where(lab: Lab) -> list[str]:
    return sorted(made["spec"].get("nodeName", "") for made in pods(lab))


def plain_node(name: str, **status: Any) -> Manifest:
    """As a client of the API creates a node for which no kubelet runs."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def test_a_node_of_the_api_becomes_ready_when_time_runs() -> None:
    lab = Lab()
    lab.create(plain_node("a", allocatable={"cpu": "4", "memory": "8Gi"}), entry="api")
    assert "conditions" not in lab.api.objects["nodes"]["a"]["status"]
    lab.create(pod("web", cpu="1"))
    lab.run(5)
    joined = lab.api.objects["nodes"]["a"]
    assert ready(lab, "a") == "True"
    assert joined["metadata"]["labels"]["kubernetes.io/hostname"] == "a"
    assert joined["status"]["capacity"] == {"cpu": "4", "memory": "8Gi", "pods": "110"}
    info = joined["status"]["nodeInfo"]
    assert (info["kubeletVersion"], info["operatingSystem"]) == ("v1.34.0", "linux")
    assert where(lab) == ["a"]


def test_a_node_with_a_ready_condition_and_an_address_is_left_alone() -> None:
    lab = Lab()
    condition = {"type": "Ready", "status": "True", "reason": "Ok", "message": ""}
    addresses = [{"type": "InternalIP", "address": "192.168.0.7"}]
    status = {"capacity": {"cpu": "4"}, "conditions": [condition], "addresses": addresses}
    lab.create(plain_node("a", **status), entry="api")
    created = lab.api.objects["nodes"]["a"]
    lab.run(5)
    assert lab.api.objects["nodes"]["a"] == created


def test_a_failed_node_is_noticed_and_its_pods_move_after_five_minutes() -> None:
    lab = Lab()
    lab.create(node("a"), node("b", cpu="0"), workload("ReplicaSet", replicas=2))
    lab.run(10)
    annotate(lab, "a", failed="true")
    lab.run(49)
    assert (ready(lab, "a"), taints(lab, "a")) == ("True", [])
    lab.run(2)
    assert ready(lab, "a") == "Unknown"
    assert taints(lab, "a") == ["unreachable:NoSchedule", "unreachable:NoExecute"]
    assert "readyReplicas" not in status(lab, "replicasets.apps")
    lab.create(node("c"))
    lab.run(298)
    assert where(lab) == ["a", "a"]
    lab.run(10)
    assert where(lab) == ["c", "c"]
    assert [e.reason for e in lab.of(trace.PodEvicted)] == [
        "taint node.kubernetes.io/unreachable:NoExecute"
    ] * 2
    lab.run(3600)
    assert len(names(lab, alive=False)) == 4, "no kubelet ends the old ones"
    annotate(lab, "a", failed=None)
    lab.run(1)
    assert (ready(lab, "a"), taints(lab, "a")) == ("True", [])
    assert len(names(lab, alive=False)) == 2
    assert "schedviz/failed-since" not in lab.api.objects["nodes"]["a"]["metadata"]["annotations"]


def test_pods_of_a_node_that_returns_before_the_deadline_keep_running() -> None:
    lab = Lab()
    lab.create(node("a"), pod("stays"), pod("ends", annotations=RUNS))
    lab.run(10)
    annotate(lab, "a", failed="true")
    lab.run(100)
    assert lab.pod("ends")["status"]["phase"] == "Running", "no kubelet reports another phase"
    assert lab.condition("stays", "Ready")["reason"] == "NodeNotReady"
    annotate(lab, "a", failed="false")
    lab.run(1)
    assert lab.condition("stays", "Ready")["status"] == "True"
    assert lab.pod("ends")["status"]["phase"] == "Succeeded"


def test_pods_tolerate_a_no_execute_taint_for_their_toleration_seconds() -> None:
    lab = Lab()
    always = {"key": "repair", "operator": "Exists", "effect": "NoExecute"}
    lab.create(node("a"))
    lab.create(pod("none", cpu="0"), pod("while", cpu="0", tolerations=[{**always, "tolerationSeconds": 60}]))
    lab.create(pod("always", cpu="0", tolerations=[always]))
    lab.run(10)
    set_spec(lab, "a", taints=[{"key": "repair", "effect": "NoExecute"}])
    lab.run(20)
    lab = new_leader(lab)
    lab.run(200)
    assert names(lab, alive=False) == ["always"]
    gone = {event.pod: lab.seconds(event) for event in lab.of(trace.PodRemoved)}
    assert gone == {"default/none": 40, "default/while": 100}, "30 s of grace each"


def test_a_cordon_and_conditions_add_taints_and_remove_them() -> None:
    lab = Lab()
    mine = {"key": "mine", "effect": "NoSchedule"}
    lab.create(node("a", unschedulable=True, taints=[mine]))
    lab.run(1)
    assert taints(lab, "a") == ["mine:NoSchedule", "unschedulable:NoSchedule"]
    set_spec(lab, "a", unschedulable=False)

    def not_ready(manifest: Manifest) -> Manifest:
        made = {"type": "Ready", "status": "False", "reason": "KubeletNotReady"}
        return {**manifest, "status": {**manifest["status"], "conditions": [made]}}

    lab.update("nodes", "a", not_ready)
    lab.run(1)
    assert taints(lab, "a") == ["mine:NoSchedule", "not-ready:NoSchedule", "not-ready:NoExecute"]


def test_a_node_with_memory_pressure_evicts_pods_of_the_lowest_priority_first() -> None:
    lab = Lab()
    lab.create(priority_class("high", 1000), priority_class("low", -5), node("a"))
    asks = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"memory": "1Gi"}}}]}
    for name, priority, spec in (("vip", "high", asks), ("bulk", "low", asks), ("careless", "high", {})):
        made = pod(name, cpu="0", priorityClassName=priority)
        made["spec"].update(spec)
        lab.create(made)
    lab.run(10)
    annotate(lab, "a", pressure="memory")
    lab.run(1)
    assert taints(lab, "a") == ["memory-pressure:NoSchedule"]
    lab.run(10)
    lab = new_leader(lab)
    lab.run(10)
    annotate(lab, "a", pressure=None)
    lab.run(60)
    assert names(lab) == ["vip"]
    assert [e.pod for e in lab.of(trace.PodEvicted)] == ["default/bulk"]
    assert lab.pod("careless")["status"]["reason"] == "Evicted"
    assert lab.pod("careless")["status"]["message"].startswith("The node was low on resource: memory")
    assert taints(lab, "a") == []
    assert lab.condition("bulk", "DisruptionTarget")["reason"] == "TerminationByKubelet"


def test_a_daemon_stays_on_a_node_that_has_failed() -> None:
    lab = Lab()
    lab.create(node("a"), workload("DaemonSet"))
    lab.run(10)
    annotate(lab, "a", failed="true")
    lab.run(3600)
    assert where(lab) == ["a"]
