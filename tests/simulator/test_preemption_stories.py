"""Preemptions after which something unexpected happens."""

from typing import Any

from simulator import trace
from simulator.api import Manifest
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import PermitPlugin
from simulator.framework.status import Status
from simulator.objects.events import EVENTS
from simulator.objects.pod import Pod
from simulator.plugins.registry import in_tree
from simulator.simulation import Options
from tests.simulator.lab import Lab, node, pod, priority_class

GRACE = 20


def high(name: str, cpu: str, priority: str = "high", **spec: Any) -> Manifest:
    return pod(name, cpu, priorityClassName=priority, **spec)


def room() -> Lab:
    """Two nodes, each filled by one pod. The pod urgent has preempted the pod of low priority on n1."""
    lab = Lab()
    lab.create(node("n1"), priority_class("high", 1000), priority_class("highest", 2000))
    lab.create(pod("victim", "4", terminationGracePeriodSeconds=GRACE))
    lab.run(2)
    lab.create(node("n2"), pod("tenant", "4", terminationGracePeriodSeconds=GRACE, priorityClassName="high"))
    lab.run(2)
    lab.create(high("urgent", "4"))
    lab.run(1)
    assert nominations(lab) == [("urgent", "n1", ["victim"])]
    assert lab.pod("urgent")["status"]["nominatedNodeName"] == "n1"
    return lab


def nominations(lab: Lab) -> list[tuple[str, str, list[str]]]:
    def bare(key: str) -> str:
        return key.removeprefix("default/")

    return [(bare(e.pod), e.node, [bare(v) for v in e.victims]) for e in lab.of(trace.Nominated)]


def nominated_node(lab: Lab, name: str) -> str:
    found: str = lab.pod(name)["status"].get("nominatedNodeName", "")
    return found


def events(lab: Lab, name: str) -> list[str]:
    """Reasons of the events of a pod, in order."""
    of = [e for e in lab.api.objects[EVENTS].values() if e["involvedObject"]["name"] == name]
    return [e["reason"] for e in sorted(of, key=lambda e: e["eventTime"])]


def test_the_preemptor_is_bound_to_another_node_that_has_free_resources_first() -> None:
    lab = room()
    lab.delete("pods", "default/tenant")
    lab.run(3)
    assert lab.node_of("urgent") == "n2"
    assert lab.exists("victim"), "its grace period lasts, though its deletion has become unnecessary"
    assert lab.pod("victim")["metadata"].get("deletionTimestamp")
    lab.run(GRACE)
    assert not lab.exists("victim")
    lab.create(pod("successor", "4"))
    lab.run(2)
    assert lab.node_of("successor") == "n1", "no pod is nominated to the node any more"


def test_a_pod_of_higher_priority_takes_the_resources_and_the_preemptor_loses_its_nomination() -> None:
    lab = room()
    lab.run(5)
    lab.create(high("boss", "4", "highest"))
    lab.run(2)
    assert nominations(lab)[1:] == [("boss", "n1", ["victim"])], "the resources that are being freed suffice"
    assert [event.pod for event in lab.of(trace.VictimDeleted)] == ["default/victim"], (
        "the victim is deleted once"
    )
    assert events(lab, "victim") == ["Scheduled", "Preempted"]
    lab.run(GRACE)
    assert lab.node_of("boss") == "n1"
    assert lab.lane("urgent") == "unschedulable"
    assert nominated_node(lab, "urgent") == ""
    lab.delete_pod("boss")
    lab.run(60)
    assert lab.node_of("urgent") == "n1"
    assert len(nominations(lab)) == 2, "it never had to preempt again"


def test_the_nominated_node_is_deleted_and_the_preemptor_preempts_on_another() -> None:
    lab = room()
    lab.create(node("n3"), pod("lowly", "4", terminationGracePeriodSeconds=GRACE))
    lab.run(1)
    assert lab.node_of("lowly") == "n3"
    lab.delete("nodes", "n1")
    lab.run(GRACE)
    assert nominations(lab)[1:] == [("urgent", "n3", ["lowly"])]
    assert nominated_node(lab, "urgent") == "n3"
    lab.run(GRACE)
    assert lab.node_of("urgent") == "n3"


def test_the_preemptor_is_deleted_while_its_victims_terminate() -> None:
    lab = room()
    lab.create(pod("waiting", "3"))
    lab.run(1)
    lab.delete_pod("urgent")
    lab.run(1)
    assert lab.exists("victim"), "a victim that was deleted terminates"
    assert lab.lane("waiting") in ("unschedulable", "backoffQ")
    lab.run(GRACE)
    assert not lab.exists("victim")
    assert lab.node_of("waiting") == "n1"
    assert "default/urgent" not in lab.lanes
    assert nominations(lab) == [("urgent", "n1", ["victim"])]


def test_the_preemptor_does_not_preempt_again_while_its_victim_terminates() -> None:
    lab = Lab()
    lab.create(node("n1"), priority_class("high", 1000))
    lab.create(pod("slow", "4", terminationGracePeriodSeconds=600))
    lab.run(2)
    lab.create(node("n2", unschedulable=True), high("urgent", "4"))
    lab.run(2)
    assert nominations(lab) == [("urgent", "n1", ["slow"])]
    lab.create(node("n3", "2"), pod("lowly", "2"))
    lab.run(400)  # long enough for the flush of what waited for five minutes
    attempts = [d for d in lab.decisions if d.pod == "default/urgent"]
    assert len(attempts) > 1, "it is tried again"
    assert len(nominations(lab)) == 1
    message = lab.condition("urgent", "PodScheduled")["message"]
    assert "preemption: not eligible due to a terminating pod on the nominated node." in message
    assert nominated_node(lab, "urgent") == "n1"
    lab.run(210)
    assert lab.node_of("urgent") == "n1"
    assert events(lab, "slow") == ["Scheduled", "Preempted"]


class Hold(PermitPlugin):
    """Lets pods labelled so wait for two minutes."""

    name = "Hold"

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, int]:
        return (Status("Wait"), 120_000_000) if pod.name.startswith("held") else (None, 0)


HOLDING = Options(config={"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Hold"}]}}}]})


def test_a_victim_that_waits_on_permit_is_sent_back_and_not_deleted() -> None:
    lab = Lab(HOLDING, plugins={**in_tree(), "Hold": Hold})
    lab.create(node("n1"), priority_class("high", 1000), pod("held", "4"))
    lab.run(5)
    assert lab.lane("held") == "waiting"
    lab.create(high("urgent", "4"))
    lab.run(10)
    assert nominations(lab) == [("urgent", "n1", ["held"])]
    assert lab.node_of("urgent") == "n1"
    assert not lab.pod("held")["metadata"].get("deletionTimestamp")
    assert not lab.of(trace.VictimDeleted)
    assert lab.lane("held") == "unschedulable"
    assert "Preempted" in events(lab, "held")


def test_nominations_of_pods_of_lower_priority_to_the_node_are_cleared() -> None:
    lab = Lab()
    lab.create(node("n1"), priority_class("middle", 500), priority_class("high", 1000))
    lab.create(*(pod(f"low-{i}", "2", terminationGracePeriodSeconds=GRACE) for i in range(2)))
    lab.run(2)
    lab.create(high("middling", "2", "middle"))
    lab.run(2)
    assert nominated_node(lab, "middling") == "n1"
    lab.create(high("urgent", "4"))
    lab.run(2)
    assert nominated_node(lab, "urgent") == "n1"
    assert nominated_node(lab, "middling") == ""
    assert lab.lanes["default/middling"].nominated_node == ""
    lab.create(node("n2", "2"))
    lab.run(5)
    assert lab.node_of("middling") == "n2"
    lab.run(GRACE)
    assert lab.node_of("urgent") == "n1"
