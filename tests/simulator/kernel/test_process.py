"""Processes: points, waits, writes, and what they raise."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.kernel.environment import Timer, Turn
from simulator.kernel.requests import Due, Point, Refused, Signal, Steps, Wait, Write, Written
from tests.simulator.kernel.laboratory import ACTOR, Laboratory


def test_a_process_waits_until_a_time_and_stops_at_its_points() -> None:
    lab, seen = Laboratory(), list[Any]()

    def steps() -> Steps[None]:
        seen.append((yield Wait(until=5)))
        yield Point("PreBind", 1, "default/p")
        seen.append("PreBind")
        yield Point("Bind", 1, "default/p")
        seen.append("Bind")

    lab.begin(steps())
    assert seen == [], "it has begun, and waits"
    standing = lab.step()
    assert (lab.now, seen) == (5, [Due(5)])
    assert standing is not None
    assert standing.point == Point("PreBind", 1, "default/p")
    standing = standing.resume()
    assert seen[1:] == ["PreBind"]
    assert standing is not None
    assert standing.resume() is None
    assert seen[1:] == ["PreBind", "Bind"]
    assert lab.agenda.due() is None


def test_a_process_that_is_started_within_a_step_has_no_point_before_its_first_wait() -> None:
    def steps() -> Steps[None]:
        yield Point("Bind", 1, "default/p")

    with pytest.raises(AssertionError):
        Laboratory().begin(steps())


@pytest.mark.parametrize("until", [None, 50])
def test_a_signal_wakes_a_process_before_its_time_and_once(until: int | None) -> None:
    lab, seen, signal = Laboratory(), list[Any](), Signal()

    def steps() -> Steps[None]:
        seen.append((yield Wait(until, signal)))

    lab.begin(steps())
    lab.plan(10, Turn.KUBELET, ACTOR, lambda: signal.fire("allowed"))
    lab.plan(20, Turn.KUBELET, ACTOR, lambda: signal.fire("again"))
    lab.run()
    assert seen == ["allowed"]
    assert lab.now == 20, "the entry at 50 was cancelled"


def test_a_signal_after_the_time_of_a_wait_has_no_effect() -> None:
    lab, seen, signal = Laboratory(), list[Any](), Signal()

    def steps() -> Steps[None]:
        seen.append((yield Wait(5, signal)))
        seen.append((yield Wait(30)))
        seen.append((yield Wait(40, signal)))

    lab.begin(steps())
    lab.plan(10, Turn.KUBELET, ACTOR, lambda: signal.fire("late"))
    lab.run()
    assert seen == [Due(5), Due(30), "late"]
    assert lab.now == 30, "a signal that was fired before the wait ends it at once"


def test_a_woken_process_continues_after_earlier_entries() -> None:
    lab, seen, signal = Laboratory(), list[str](), Signal()

    def steps() -> Steps[None]:
        yield Wait(signal=signal)
        seen.append("woken")

    lab.begin(steps())
    lab.plan(10, Turn.BINDING, ACTOR, signal.fire)
    lab.plan(10, Turn.KUBELET, ACTOR, lambda: seen.append("kubelet"))
    lab.plan(10, Turn.BINDING, ACTOR, lambda: seen.append("binding"))
    lab.run()
    assert seen == ["kubelet", "binding", "woken"]


def test_a_write_that_is_answered_at_once_takes_no_step() -> None:
    lab, seen = Laboratory([Written(), Refused("Conflict", "no")]), list[Any]()

    def steps() -> Steps[None]:
        seen.append((yield Write("one")))
        seen.append((yield Write("two")))

    lab.begin(steps())
    assert seen == [Written(), Refused("Conflict", "no")]
    assert lab.written == ["one", "two"]


def test_a_process_continues_in_a_new_entry_after_a_write_that_is_answered_later() -> None:
    lab, seen = Laboratory([None]), list[Any]()

    def steps() -> Steps[None]:
        seen.append((yield Write("one")))
        yield Point("PostBind", 1, "default/p")

    lab.begin(steps())
    lab.now = 7
    [finish] = lab.finish
    finish(Refused("NotFound", "gone"))
    assert seen == []
    assert (lab.agenda.due(), lab.step() is None) == (7, False)
    assert seen == [Refused("NotFound", "gone")]


def test_an_exception_of_a_write_is_raised_in_the_process() -> None:
    lab, seen = Laboratory([ValueError("bad")]), list[str]()

    def steps() -> Steps[None]:
        try:
            yield Write("one")
        except ValueError as fault:
            seen.append(str(fault))
        yield Wait(3)
        seen.append("on")

    lab.begin(steps())
    lab.run()
    assert seen == ["bad", "on"]
    assert lab.reported == []


def test_a_process_that_raises_is_reported_and_others_go_on() -> None:
    lab, seen = Laboratory(), list[str]()

    def fails() -> Steps[None]:
        yield Wait(3)
        raise ValueError("no")

    def steps() -> Steps[None]:
        yield Wait(3)
        seen.append("on")

    lab.begin(fails())
    lab.begin(steps())
    lab.run()
    assert lab.reported == ["Scheduler default/p: no"]
    assert seen == ["on"]
    assert lab.agenda.due() is None


def test_a_timer_is_due_at_the_time_that_was_set_last() -> None:
    lab, fired = Laboratory(), list[int]()
    timer = Timer(lab, Turn.BACKOFF_FLUSH, ACTOR, lambda: fired.append(lab.now))
    timer.set(5)
    timer.set(9)
    lab.plan(9, Turn.EVICTION, ACTOR, lambda: fired.append(-1))
    lab.run()
    assert fired == [-1, 9]
    assert timer.time is None
    timer.set(20)
    timer.set(None)
    timer.set(30)
    timer.set(30)
    lab.run()
    assert fired == [-1, 9, 30]


def test_a_timer_that_raises_is_reported_and_can_be_set_again() -> None:
    lab, fired = Laboratory(), list[int]()

    def action() -> None:
        fired.append(lab.now)
        raise ValueError("no")

    timer = Timer(lab, Turn.NEXT_POD, ACTOR, action)
    for time in (1, 2):
        timer.set(time)
        lab.run()
    assert fired == [1, 2]
    assert len(lab.reported) == 2


@given(
    st.lists(st.tuples(st.integers(0, 20), st.sampled_from(list(Turn))), max_size=20),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=20),
)
def test_an_entry_never_runs_before_its_time_and_a_process_has_the_time_of_its_delay(
    waits: list[tuple[int, Turn]], outside: list[tuple[int, int]]
) -> None:
    """``outside``: after so many steps a change from outside is seen, that much later."""
    lab, ran = Laboratory(), list[tuple[int, Turn, int]]()

    def steps(turn: Turn, time: int) -> Steps[None]:
        due = yield Wait(time)
        assert due == Due(time)
        ran.append((time, turn, lab.now))

    for time, turn in waits:
        lab.begin(steps(turn, time), turn)
    for step in range(len(waits)):
        for when, by in outside:
            if when == step:
                lab.now += by
        assert lab.step() is None
    assert lab.reported == []
    assert len(ran) == len(waits)
    assert all(time <= now for time, _, now in ran)
    assert [now for _, _, now in ran] == sorted(now for _, _, now in ran)
    assert [(time, turn) for time, turn, _ in ran] == sorted(waits), "by their own times, however late"
