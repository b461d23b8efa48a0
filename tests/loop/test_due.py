"""Wakes: claimed by one worker, kept until a slice ends, and never lost during a slice."""

import threading
import uuid

import pytest

from schedviz.loop import due as module
from schedviz.loop.due import Due
from schedviz.store import Store
from tests.waiting import eventually


@pytest.fixture
def due(store: Store, monkeypatch: pytest.MonkeyPatch) -> Due:
    """Wakes in a set of the test, which the session's worker does not read."""
    name = f"test:due:{uuid.uuid4()}"
    monkeypatch.setattr(module, "KEY", name)
    monkeypatch.setattr(module, "ORDER_KEY", f"{name}:order")
    return Due(store.redis)


def names(due: Due) -> list[str]:
    return due.claim()


def pass_time(store: Store, seconds: float) -> None:
    """Move all wakes forward by this time, so that the test does not wait."""
    for name in store.redis.zrange(module.KEY, 0, -1):
        store.redis.zincrby(module.KEY, -seconds * 1_000_000, name)


@pytest.fixture
def retry(monkeypatch: pytest.MonkeyPatch) -> float:
    """Longer than any test, so that only :func:`pass_time` makes a wake due."""
    monkeypatch.setattr(module, "RETRY_SECONDS", 1000.0)
    return 1000.0


def test_a_wake_is_repeated_until_its_slice_has_ended(due: Due, store: Store, retry: float) -> None:
    due.mark("a")
    assert names(due) == []  # its message is on the way
    for _ in range(2):
        pass_time(store, retry)
        assert names(due) == ["a"]
        assert names(due) == []
    began = due.mark("a")
    assert due.settle("a", began, 500.0)
    assert names(due) == []
    pass_time(store, 500.0)
    assert names(due) == ["a"]
    began = due.mark("a")
    assert due.settle("a", began, None)
    due.mark("b")
    pass_time(store, retry)
    assert names(due) == ["b"]


def test_a_wake_during_a_slice_is_kept_after_its_end(due: Due, store: Store, retry: float) -> None:
    began = due.mark("a")
    eventually(lambda: due.mark("a").order > began.order)
    assert not due.settle("a", began, None)
    pass_time(store, retry)
    assert names(due) == ["a"]


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


def test_a_wake_just_after_the_start_of_a_slice_is_kept(due: Due) -> None:
    for _ in range(200):
        began = due.begin("a")
        assert due.mark("a").order > began.order
        assert not due.settle("a", began, None)


def test_after_the_clock_was_set_back_orders_still_grow_and_wakes_are_moved_forward(
    due: Due, store: Store
) -> None:
    hour = 3_600_000_000
    before = due.begin("a")
    store.redis.set(module.ORDER_KEY, before.order + hour)  # as the clock was an hour ahead
    store.redis.zadd(module.KEY, {"a": before.at + hour, "b": before.at + hour + 1})
    began = due.begin("c")
    assert began.order > before.order + hour
    assert began.at < before.at + hour
    assert due.mark("c").order > began.order
    assert names(due) == []
    due.bring_forward()
    assert sorted(names(due)) == ["a", "b", "c"]
