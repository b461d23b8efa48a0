"""A bounded number of places: counted and taken in one step, and released when their time is over."""

import secrets
import time
from collections.abc import Iterator

import pytest

from schedviz.store import Store
from schedviz.store.places import Places
from tests.threads import THREADS, at_once


@pytest.fixture
def key(store: Store) -> Iterator[str]:
    key = f"test:places:{secrets.token_hex(4)}"
    yield key
    store.redis.delete(key)


def test_one_of_many_concurrent_requests_gets_the_last_place(store: Store, key: str) -> None:
    places = Places(store, key, 3)
    for turn in range(20):
        assert places.take("a", 60)
        assert places.take("b", 60)
        results = at_once(lambda number, turn=turn: places.take(f"{turn}-{number}", 60))  # type: ignore[misc] # a lambda's default
        assert results.count(True) == 1, results
        assert results.count(False) == THREADS - 1
        assert places.take("a", 60), "who has a place keeps it"
        store.redis.delete(key)


def test_a_place_is_free_again_after_its_time_or_when_it_is_released(store: Store, key: str) -> None:
    places = Places(store, key, 1)
    assert places.take("a", 0.001)
    while not places.take("b", 60):
        time.sleep(0)
    assert not places.take("a", 60)
    places.leave("b")
    assert places.take("a", 60)
