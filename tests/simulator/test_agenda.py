"""Things to come, in their order."""

import pytest

from simulator.world.agenda import SLACK, Agenda, Turn


def test_things_happen_by_time_then_by_turn_then_as_they_were_entered() -> None:
    agenda, done = Agenda(), list[str]()
    agenda.add(2, Turn.TIMETABLE, lambda: done.append("later"))
    agenda.add(1, Turn.BINDING, lambda: done.append("second"))
    agenda.add(1, Turn.BINDING, lambda: done.append("third"))
    agenda.add(1, Turn.KUBELET, lambda: done.append("first"))
    cancelled = agenda.add(1, Turn.TIMETABLE, lambda: done.append("never"))
    agenda.cancel(cancelled)
    while agenda.due() is not None:
        agenda.run_first()
    assert done == ["first", "second", "third", "later"]
    with pytest.raises(KeyError):
        agenda.run_first()


def test_cancelled_things_do_not_pile_up() -> None:
    agenda = Agenda()
    agenda.add(5, Turn.KUBELET, lambda: None)
    for time in range(10, 1_000):
        agenda.cancel(agenda.add(time, Turn.KUBELET, lambda: None))
    assert len(agenda._heap) <= 3 + SLACK
    assert agenda.due() == 5
