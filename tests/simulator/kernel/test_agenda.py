"""The order of entries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.kernel.agenda import SLACK, Agenda
from simulator.kernel.clock import END


def emptied(agenda: Agenda[str]) -> list[str]:
    taken = []
    while agenda.first() is not None:
        taken.append(agenda.take())
    return taken


def test_entries_are_taken_by_time_then_turn_then_number() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.add(2, 0, "later")
    agenda.add(1, 3, "second")
    agenda.add(1, 3, "third")
    agenda.add(1, 1, "first")
    agenda.cancel(agenda.add(1, 0, "cancelled"))
    assert emptied(agenda) == ["first", "second", "third", "later"]
    with pytest.raises(KeyError):
        agenda.take()
    with pytest.raises(KeyError):
        agenda.postpone(5, "nothing")


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.booleans())))
def test_the_order_is_that_of_a_sorted_list(entries: list[tuple[int, int, bool]]) -> None:
    agenda: Agenda[str] = Agenda()
    numbers = [agenda.add(time, turn, str(i)) for i, (time, turn, _) in enumerate(entries)]
    for number, (_, _, cancelled) in zip(numbers, entries, strict=True):
        if cancelled:
            agenda.cancel(number)
    kept = [(time, turn, i) for i, (time, turn, cancelled) in enumerate(entries) if not cancelled]
    assert emptied(agenda) == [str(i) for _, _, i in sorted(kept)]


def test_a_postponed_entry_keeps_its_number() -> None:
    agenda: Agenda[str] = Agenda()
    number = agenda.add(1, 0, "first")
    agenda.add(2, 0, "second")
    agenda.postpone(3, "postponed")
    agenda.cancel(number)
    assert emptied(agenda) == ["second"]


def test_cancelled_entries_are_removed() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.add(5, 1, "live")
    for time in range(10, 1_000):
        agenda.cancel(agenda.add(time, 1, "cancelled"))
    assert len(agenda._heap) <= 3 + SLACK
    assert agenda.due() == 5


def test_an_entry_after_the_end_of_time_is_never_due() -> None:
    agenda: Agenda[str] = Agenda()
    late = agenda.add(END + 1, 1, "late")
    assert agenda.due() is None
    agenda.cancel(late)
    agenda.add(END, 1, "last")
    assert agenda.due() == END
