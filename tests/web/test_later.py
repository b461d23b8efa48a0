"""The later outcome of a preemption in the panel of its cycle."""

from msgspec.structs import replace

from schedviz.web.cycle.later import later_turn
from simulator.trace import Bound, Event, Nominated, OutsideBound, PodRemoved
from tests.web.samples import SCHEDULED, candidate, preempting

POD = "default/web"
PREEMPTING = preempting(0, "n1", candidate("n1", 100))
OWN = Nominated(t=7, cycle=7, pod=POD, node="n1", victims=["default/low"], rule=0, candidates=1)


def later(*events: Event) -> str:
    return later_turn(PREEMPTING, [Bound(t=1, cycle=1, pod=POD, node="n2"), *events], {9: SCHEDULED}.get)


def test_a_preemptor_that_runs_on_another_node_is_reported_with_the_reason() -> None:
    assert later(OWN) == ""
    assert later(OWN, Bound(t=9, cycle=9, pod=POD, node="n1")) == "web was bound to n1 in cycle 9."
    text = later(OWN, Bound(t=9, cycle=9, pod=POD, node="n3"))
    assert text.startswith(
        "web preempted pods on n1, then was bound to n3 (cycle 9), because: n3 is ahead by 321."
    )
    gone = replace(SCHEDULED, nodes=["n0", "n2", "n3"])
    text = later_turn(PREEMPTING, [OWN, Bound(t=9, cycle=9, pod=POD, node="n3")], {9: gone}.get)
    assert text.endswith("because: n1 no longer existed.")


def test_without_the_decision_or_of_an_outside_scheduler_no_reason_is_given() -> None:
    text = later(OWN, Bound(t=8, cycle=8, pod=POD, node="n3"))
    assert text == "web preempted pods on n1, then was bound to n3 (cycle 8)."
    outside = OutsideBound(t=8, pod=POD, node="n3", scheduler="other", waited=1, waited_wall=None)
    assert later(OWN, outside, PodRemoved(t=9, pod=POD, node="n3")) == (
        "web preempted pods on n1, then an outside scheduler bound it to n3."
    )


def test_a_preemptor_that_preempts_again_or_is_deleted_is_reported() -> None:
    again = replace(OWN, cycle=8, node="n2")
    assert later(OWN, again) == "web preempted pods on n1, then again on n2 (cycle 8)."
    assert later(OWN, PodRemoved(t=8, pod=POD, node="")) == "web was deleted before it was bound."


def test_a_cycle_without_preemption_has_no_later_outcome() -> None:
    assert later_turn(SCHEDULED, [OWN], {}.get) == ""
