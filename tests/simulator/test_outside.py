"""Outside schedulers: pods of no profile, and what the writes of outside schedulers show."""

from typing import Any

import pytest

from simulator.api import SECOND, Change, Manifest
from simulator.objects.conditions import with_condition
from simulator.objects.status import with_status
from simulator.simulation import Options
from simulator.trace import (
    Bound,
    CycleStarted,
    OutsideBound,
    OutsideFailed,
    OutsideNominated,
    OutsidePreempted,
    PodStarted,
    QueuePlace,
)
from tests.simulator.lab import START, Lab, node, pod

ZERO = "0/1 nodes are available: 1 Insufficient cpu."


def a_lab(**options: Any) -> Lab:
    lab = Lab(Options(**options))
    lab.create(node("n1"))
    lab.run(seconds=1)
    return lab


def bind(lab: Lab, name: str, node: str) -> None:
    """As the API server does for a Binding."""

    def bound(old: Manifest) -> Manifest:
        spec = {**old["spec"], "nodeName": node}
        return with_condition({**old, "spec": spec}, lab.now, "PodScheduled", "True")

    lab.update("pods", f"default/{name}", bound)


def lanes(lab: Lab) -> dict[str, str]:
    return {entry.pod: entry.lane for entry in lab.lanes.values()}


def an_event(reason: str, name: str, note: str, **fields: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{len(note)}", "namespace": "default"},
        "reason": reason,
        "message": note,
        "type": "Normal",
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": name},
        "reportingComponent": "other",
        **fields,
    }


def test_a_pod_of_no_profile_waits_outside_the_queue_until_it_is_bound() -> None:
    lab = a_lab()
    lab.create(pod("mine"), pod("theirs", schedulerName="other"))
    lab.run(seconds=2)
    assert lanes(lab) == {"default/theirs": "outside"}
    entry: QueuePlace = lab.lanes["default/theirs"]
    assert entry.scheduler == "other"
    assert entry.since == START + SECOND
    assert [each.pod for each in lab.of(Bound)] == ["default/mine"]

    bind(lab, "theirs", "n1")
    lab.run(seconds=2)
    (bound,) = lab.of(OutsideBound)
    assert (bound.pod, bound.node, bound.scheduler) == ("default/theirs", "n1", "other")
    assert bound.waited == 2 * SECOND
    assert bound.waited_wall is None  # the lab has no wall time
    assert lanes(lab) == {}
    # The kubelet goes on.
    assert "default/theirs" in [each.pod for each in lab.of(PodStarted)]


def test_a_scheduler_that_stands_down_leaves_all_pods() -> None:
    lab = a_lab(stands_down=True)
    lab.create(pod("first"), pod("second", schedulerName="other"))
    lab.run(seconds=2)
    assert lanes(lab) == {"default/first": "outside", "default/second": "outside"}
    assert lab.lanes["default/first"].scheduler == "default-scheduler"
    assert not lab.of(CycleStarted)
    bind(lab, "first", "n1")
    lab.run(seconds=2)
    assert [(each.pod, each.scheduler) for each in lab.of(OutsideBound)] == [
        ("default/first", "default-scheduler")
    ]
    assert [each.pod for each in lab.of(PodStarted)] == ["default/first"]

    # Its successor does not stand down: it takes the pods that wait at once.
    lab.create(pod("third"))
    lab.run(seconds=5)
    after = Lab(Options(), lab.api, lab.now)
    after.run(seconds=0)
    assert [(each.pod, each.t) for each in after.of(Bound)] == [("default/third", lab.now)]


def test_a_gated_pod_waits_from_the_removal_of_its_gate() -> None:
    lab = a_lab()
    lab.create(pod("gated", schedulerName="other", schedulingGates=[{"name": "example.com/g"}]))
    lab.run(seconds=3)
    assert (lanes(lab), lab.lanes["default/gated"].gate) == ({"default/gated": "gated"}, "SchedulingGates")

    def ungated(old: Manifest) -> Manifest:
        return {**old, "spec": {k: v for k, v in old["spec"].items() if k != "schedulingGates"}}

    lab.update("pods", "default/gated", ungated)
    lab.run(seconds=1)
    assert lanes(lab) == {"default/gated": "outside"}
    bind(lab, "gated", "n1")
    lab.run(seconds=0)
    assert [each.waited for each in lab.of(OutsideBound)] == [SECOND]
    assert not lab.of(OutsideFailed)  # SchedulingGated is not its scheduler's message


def test_wall_time_is_measured_between_what_was_observed() -> None:
    lab = a_lab()
    lab.wall = 5_000_000
    lab.create(pod("theirs", schedulerName="other"))
    lab.run(seconds=0)
    lab.wall = 5_400_000
    bind(lab, "theirs", "n1")
    lab.run(seconds=0)
    assert [each.waited_wall for each in lab.of(OutsideBound)] == [400_000]


@pytest.mark.parametrize("both", [False, True], ids=["condition", "condition and Event"])
def test_the_message_of_an_outside_scheduler_is_reported_once(both: bool) -> None:
    lab = a_lab()
    lab.create(pod("theirs", cpu="8", schedulerName="other"), pod("mine", cpu="8"))
    lab.run(seconds=0)

    def failed(old: Manifest) -> Manifest:
        return with_condition(old, lab.now, "PodScheduled", "False", reason="Unschedulable", message=ZERO)

    lab.update("pods", "default/theirs", failed)
    lab.run(seconds=0)
    if both:
        lab.create(an_event("FailedScheduling", "theirs", ZERO))
        lab.create(an_event("FailedScheduling", "mine", "not of an outside scheduler"))
        lab.run(seconds=0)
    (said,) = lab.of(OutsideFailed)
    assert (said.pod, said.scheduler, said.reason) == ("default/theirs", "other", "Unschedulable")
    assert said.message == ZERO == lab.lanes["default/theirs"].message

    lab.create(an_event("FailedScheduling", "theirs", "no quota is left"))
    lab.run(seconds=0)
    assert [each.message for each in lab.of(OutsideFailed)] == [ZERO, "no quota is left"]
    # An Event that repeats another keeps the note of the first, whatever has been said since.
    lab.create(an_event("FailedScheduling", "theirs", "an old note", series={"count": 2}))
    lab.run(seconds=1)
    assert len(lab.of(OutsideFailed)) == 2


def test_preemption_by_an_outside_scheduler() -> None:
    lab = a_lab()
    lab.create(pod("victim", cpu="3"), pod("high", cpu="3", schedulerName="other"))
    lab.run(seconds=5)
    lab.update("pods", "default/high", lambda old: with_status(old, nominatedNodeName="n1"))
    message = "other: preempting to accommodate a higher priority pod"

    def marked(old: Manifest) -> Manifest:
        return with_condition(
            old, lab.now, "DisruptionTarget", "True", reason="PreemptionByScheduler", message=message
        )

    lab.update("pods", "default/victim", marked)
    lab.run(seconds=0)
    assert not lab.of(OutsidePreempted)  # it is not deleted yet
    lab.delete_pod("victim")
    lab.create(
        an_event(
            "Preempted",
            "victim",
            "Preempted by pod",
            related={"kind": "Pod", "namespace": "default", "name": "high"},
        )
    )
    lab.run(seconds=60)
    (nominated,) = lab.of(OutsideNominated)
    assert (nominated.pod, nominated.node, nominated.scheduler) == ("default/high", "n1", "other")
    (preempted,) = lab.of(OutsidePreempted)
    assert (preempted.pod, preempted.node, preempted.scheduler, preempted.preemptor) == (
        "default/victim",
        "n1",
        "other",
        "default/high",
    )
    assert lab.lanes["default/high"].nominated_node == "n1"


def test_a_preemption_that_only_an_event_reports() -> None:
    lab = a_lab()
    lab.create(pod("victim"))
    lab.run(seconds=5)
    uid = lab.pod("victim")["metadata"]["uid"]
    lab.delete_pod("victim")
    about = {"kind": "Pod", "namespace": "default", "name": "victim", "uid": uid}
    related = {"kind": "Pod", "namespace": "default", "name": "high"}
    lab.create(an_event("Preempted", "victim", "by high", involvedObject=about, related=related))
    lab.run(seconds=0)
    (preempted,) = lab.of(OutsidePreempted)
    assert (preempted.preemptor, preempted.grace_seconds) == ("default/high", 30)


def test_a_deleted_pod_that_an_outside_scheduler_never_bound_leaves_its_lane() -> None:
    lab = a_lab()
    lab.create(pod("theirs", schedulerName="other"))
    lab.run(seconds=0)
    assert not lab.simulation.is_idle
    assert lab.simulation.nothing_pending
    lab.api.commit([Change("pods", "default/theirs", None)])
    lab.simulation.observe(lab.api.take_events())
    lab.run(seconds=0)
    assert lanes(lab) == {}
    assert lab.simulation.is_idle
