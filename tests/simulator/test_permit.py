"""Waiting on Permit: a complete gang, an incomplete gang, and manual approval and rejection."""

import pytest

from simulator import trace
from simulator.api import SECOND, Manifest
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import PermitPlugin
from simulator.framework.status import Status
from simulator.objects.pod import Pod
from simulator.plugins.gang import GROUP, SIZE
from simulator.plugins.registry import in_tree
from simulator.scheduler.pod_annotations import ANNOTATION, annotation_value
from simulator.simulation import Options
from tests.simulator.lab import Lab, node, pod, priority_class

CONFIG: Manifest = {"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Gang"}]}}}]}


def member(name: str, size: int, cpu: str = "1") -> Manifest:
    made = pod(name, cpu)
    made["metadata"] |= {"labels": {GROUP: "train"}, "annotations": {SIZE: str(size)}}
    return made


def bound(lab: Lab) -> set[str]:
    return {event.pod for event in lab.trace if isinstance(event, trace.Bound)}


def lanes(lab: Lab) -> dict[str, str]:
    return {key: entry.lane for key, entry in lab.lanes.items()}


def test_a_gang_is_bound_when_its_last_pod_has_a_node() -> None:
    lab = Lab(Options(config=CONFIG))
    lab.create(node("n"), member("a", 3), member("b", 3), pod("alone", "1"))
    lab.run(2)
    assert bound(lab) == {"default/alone"}
    assert lanes(lab) == {"default/a": "waiting", "default/b": "waiting"}
    assert lab.lanes["default/a"].plugins == ["Gang"]
    lab.create(member("c", 3))
    lab.run(2)
    assert bound(lab) == {"default/alone", "default/a", "default/b", "default/c"}


def test_all_pods_of_an_incomplete_gang_time_out_together() -> None:
    lab = Lab(Options(config=CONFIG))
    lab.create(node("n"), member("a", 3))
    lab.run(2)
    lab.create(member("b", 3))
    until = lab.lanes["default/a"].wait_until
    assert until is not None
    lab.run((until - lab.now) / SECOND)
    rejections = [event for event in lab.trace if isinstance(event, trace.Unschedulable)]
    assert {event.pod for event in rejections[:2]} == {"default/a", "default/b"}
    assert "timeout after waiting 1m0s at plugin Gang" in rejections[0].message
    assert "lost its node" in rejections[1].message


def test_a_manual_approval_or_rejection_counts_only_for_its_attempt() -> None:
    lab = Lab(Options(config=CONFIG))
    lab.create(node("n"), member("a", 3), member("b", 4))
    lab.run(1)

    def say(name: str, text: str) -> None:
        def annotated(manifest: Manifest) -> Manifest:
            metadata = manifest["metadata"]
            return {
                **manifest,
                "metadata": {**metadata, "annotations": {**metadata["annotations"], ANNOTATION: text}},
            }

        lab.update("pods", f"default/{name}", annotated)
        lab.run(0.1)

    say("a", annotation_value("approve", 7))
    assert lanes(lab)["default/a"] == "waiting"
    say("a", annotation_value("approve", 1))
    assert bound(lab) == {"default/a"}
    say("b", annotation_value("reject", 1))
    rejections = [event for event in lab.trace if isinstance(event, trace.Unschedulable)]
    assert [event.message for event in rejections] == ["0/1 nodes are available: 1 rejected by hand."]
    lab.run(20)
    assert (lab.lanes["default/b"].lane, lab.lanes["default/b"].attempts) == ("waiting", 2)


def test_a_rejected_gang_is_tried_again_when_another_of_its_pods_gets_a_node() -> None:
    lab = Lab(Options(config=CONFIG))
    lab.create(node("n"), member("a", 3), member("b", 3))
    lab.run(90)
    assert lanes(lab) == {"default/a": "unschedulable", "default/b": "unschedulable"}
    lab.create(pod("alone"))
    lab.run(60)
    assert bound(lab) == {"default/alone"}, "a pod outside of the gang moves no pod"
    lab.create(member("c", 3))
    lab.run(2)
    assert bound(lab) == {"default/alone", "default/a", "default/b", "default/c"}
    assert ("unschedulable", "activeQ", "ForceActivate") in lab.moves("a")


def test_a_bound_pod_that_joins_the_gang_makes_the_others_be_tried_again() -> None:
    lab = Lab(Options(config=CONFIG))
    lab.create(node("n"), member("a", 2), pod("b"))
    lab.run(90)
    assert lanes(lab) == {"default/a": "unschedulable"}
    joined = {"labels": {GROUP: "train"}}
    lab.update("pods", "default/b", lambda m: {**m, "metadata": {**m["metadata"], **joined}})
    lab.run(2)
    assert "default/a" in bound(lab)
    causes = {cause for source, _, cause in lab.moves("a") if source == "unschedulable"}
    assert causes == {"AssignedPodUpdatePodLabel"}


class Patient(PermitPlugin):
    """Waits for two seconds at most."""

    name = "Patient"
    seconds = 2

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, int]:
        return Status("Wait"), self.seconds * SECOND


class VeryPatient(Patient):
    name = "VeryPatient"
    seconds = 5


PATIENT = {"plugins": {"multiPoint": {"enabled": [{"name": "Patient"}, {"name": "VeryPatient"}]}}}


@pytest.mark.parametrize(("allowed", "plugin", "seconds"), [(False, "Patient", 2), (True, "VeryPatient", 5)])
def test_a_plugin_that_has_allowed_the_pod_does_not_time_out(
    allowed: bool, plugin: str, seconds: int
) -> None:
    """Allow stops the plugin's timer (waiting_pods_map.go)."""
    plugins = {**in_tree(), "Patient": Patient, "VeryPatient": VeryPatient}
    lab = Lab(Options(config={"profiles": [PATIENT]}), plugins=plugins)
    lab.create(node("n"), pod("p"))
    lab.run(1)
    [waiting] = lab.simulation._scheduler.frameworks["default-scheduler"].waiting_pods
    if allowed:
        waiting.allow("Patient")
    lab.run(seconds - 1.001)
    assert lab.lane("p") == "waiting"
    lab.run(0.001)
    [rejected] = lab.of(trace.Unschedulable)
    assert rejected.message.endswith(f"timeout after waiting {seconds}s at plugin {plugin}.")


@pytest.mark.parametrize(("version", "lane"), [("v1.35", "unschedulable"), ("v1.36", "backoffQ")])
def test_a_victim_that_waits_on_permit_loses_its_node(version: str, lane: str) -> None:
    lab = Lab(Options(config=CONFIG, kubernetes=version))
    lab.create(priority_class("high", 1000), node("n", cpu="2"), member("a", 2, "2"))
    lab.run(1)
    assert (lanes(lab)["default/a"], lab.pod("a")["status"].get("nominatedNodeName")) == ("waiting", "n")
    lab.create(pod("urgent", "2", priorityClassName="high"))
    lab.run(0.5)
    assert lanes(lab)["default/a"] == lane
    assert "nominatedNodeName" not in lab.pod("a")["status"]
    message = lab.pod("a")["status"]["conditions"][0]["message"]
    assert (
        message
        == {
            "unschedulable": "0/1 nodes are available: 1 preempted.",
            "backoffQ": "waiting on permit for pod: preempted",
        }[lane]
    )
