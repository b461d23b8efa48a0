"""Wakes: claimed by one, kept until a slice ends, never lost when they come in between."""

import threading
import uuid

import pytest

from schedviz.loop import due as module
from schedviz.loop.due import Due
from schedviz.store import Store
from tests.waiting import eventually


@pytest.fixture
def due(store: Store, monkeypatch: pytest.MonkeyPatch) -> Due:
    """Wakes in a set of the test's own: the session's worker does not take them."""
    monkeypatch.setattr(module, "KEY", f"test:due:{uuid.uuid4()}")
    return Due(store.redis)


def names(due: Due) -> list[str]:
    return due.claim()[1]


def test_a_wake_comes_again_until_its_slice_has_ended(due: Due, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.05)
    due.mark("a")
    assert names(due) == []  # its message is on the way
    assert eventually(lambda: names(due)) == ["a"]
    assert eventually(lambda: names(due)) == ["a"]
    began = due.mark("a")
    assert due.settle("a", began, 0.1)
    assert names(due) == []
    assert eventually(lambda: names(due)) == ["a"]
    began = due.mark("a")
    assert due.settle("a", began, None)
    due.mark("b")
    assert eventually(lambda: names(due)) == ["b"]


def test_a_wake_that_comes_while_a_slice_runs_outlives_its_end(
    due: Due, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.05)
    began = due.mark("a")
    eventually(lambda: due.mark("a") > began)
    assert not due.settle("a", began, None)
    assert eventually(lambda: names(due)) == ["a"]


def test_each_wake_is_claimed_by_one_only_and_the_oldest_first(due: Due) -> None:
    everyone = {f"s{number}" for number in range(400)}
    for name in sorted(everyone):
        assert due.settle(name, due.mark(name), 0.0)
    claimed: list[str] = []

    def claim() -> None:
        while batch := names(due):
            claimed.extend(batch)

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claimed) == len(everyone)
    assert set(claimed) == everyone


def test_what_is_asked_for_just_after_a_slice_began_is_not_taken_for_seen(due: Due) -> None:
    for _ in range(200):
        began = due.begin("a")
        assert due.mark("a") > began
        assert not due.settle("a", began, None)
