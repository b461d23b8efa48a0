"""Injected faults at each extension point: the scheduler unwinds the cycle, and continues."""

import pytest

from simulator import trace
from simulator.api import Manifest
from simulator.objects.pod import FAIL_AT
from tests.simulator.lab import Lab, node, pod, priority_class


def failing(name: str, point: str, **spec: object) -> Manifest:
    return pod(name, "4", annotations={FAIL_AT: point}, **spec)


@pytest.mark.parametrize(
    "point", ["PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind"]
)
def test_a_fault_at_any_point_unwinds_and_the_pod_is_tried_again(point: str) -> None:
    lab = Lab()
    lab.create(node("n1"), node("n2"), failing("web", point))
    lab.run(0.5)
    scheduled = lab.condition("web", "PodScheduled")
    assert scheduled["reason"] == "SchedulerError"
    assert scheduled["message"] == f'running {point} plugin "{FAIL_AT}": fault made on purpose'
    assert lab.lane("web") == "backoffQ"
    lab.create(*(pod(name, "4") for name in ("one", "two")))
    lab.run(0.2)
    assert {lab.node_of("one"), lab.node_of("two")} == {"n1", "n2"}, "nothing is left reserved"
    lab.delete_pod("one")
    lab.run(60)
    assert lab.node_of("web"), "it was injected once"
    assert len(lab.of(trace.BindFailed)) == (point in ("PreBind", "Bind"))


def test_a_fault_in_post_filter_leaves_the_pod_unschedulable() -> None:
    lab = Lab()
    lab.create(node("n1"), priority_class("high", 1000), pod("low", "4"))
    lab.run(1)
    lab.create(failing("urgent", "PostFilter", priorityClassName="high"))
    lab.run(0.5)
    assert lab.lane("urgent") == "unschedulable"
    assert lab.condition("urgent", "PodScheduled")["message"] == (
        "0/1 nodes are available: 1 Insufficient cpu. "
        f'running PostFilter plugin "{FAIL_AT}": fault made on purpose'
    )
    assert lab.exists("low")
    assert lab.of(trace.Nominated) == []


def test_another_value_asks_for_another_fault() -> None:
    lab = Lab()
    lab.create(node("n1"), failing("web", "Bind"))
    lab.run(0.5)

    def aim(point: str) -> None:
        def annotated(manifest: Manifest) -> Manifest:
            metadata = {**manifest["metadata"], "annotations": {FAIL_AT: point}}
            return {**manifest, "metadata": metadata}

        lab.update("pods", "default/web", annotated)

    aim("Reserve")
    lab.run(2)
    assert "running Reserve" in lab.condition("web", "PodScheduled")["message"]
    aim("")
    aim("Reserve")
    lab.run(60)
    assert [event.message for event in lab.of(trace.SchedulerError)] == [
        f'running Reserve plugin "{FAIL_AT}": fault made on purpose'
    ] * 2
    assert lab.node_of("web") == "n1"
