"""A bounded number of places: counted and taken in one step, and released when their time is over."""

import secrets
import time
from collections.abc import Iterator

import pytest

from schedviz.store import Store
from schedviz.store.exceeded import LimitExceeded
from schedviz.store.places import Places, Share
from tests.threads import THREADS, at_once


@pytest.fixture
def key(store: Store) -> Iterator[str]:
    key = f"test:places:{secrets.token_hex(4)}"
    yield key
    store.redis.delete(key)


def test_one_of_many_concurrent_requests_gets_the_last_place(store: Store, key: str) -> None:
    places = Places(store, key)

    def take(holder: str) -> bool:
        return can_take(places, holder, 60, Share("MAX_ROOMS", 3))

    for turn in range(20):
        assert take("a")
        assert take("b")
        results = at_once(lambda number, turn=turn: take(f"{turn}-{number}"))  # type: ignore[misc] # a lambda's default
        assert results.count(True) == 1, results
        assert results.count(False) == THREADS - 1
        assert take("a"), "who has a place keeps it"
        store.redis.delete(key, f"{key}:groups")


def test_a_place_is_free_again_after_its_time_or_when_it_is_released(store: Store, key: str) -> None:
    places, one = Places(store, key), Share("MAX_ROOMS", 1)
    assert can_take(places, "a", 0.001, one)
    while not can_take(places, "b", 60, one):
        time.sleep(0)
    assert not can_take(places, "a", 60, one)
    places.leave("b")
    assert can_take(places, "a", 60, one)


def test_a_group_has_a_share_and_a_refusal_says_when_its_first_place_is_free(store: Store, key: str) -> None:
    places, all_places = Places(store, key), Share("MAX_ROOMS", 4)
    ada, bo = (Share("MAX_ROOMS_PER_OWNER", 2, owner) for owner in ("ada", "bo"))
    for holder, seconds in (("1", 500), ("2", 100)):
        places.take(holder, seconds, [all_places, ada])
    with pytest.raises(LimitExceeded) as refused:
        places.take("3", 60, [all_places, ada])
    assert refused.value.limit == "MAX_ROOMS_PER_OWNER"
    assert 60 < refused.value.retry_after_seconds <= 100
    places.take("1", 50)
    with pytest.raises(LimitExceeded) as refused:
        places.take("3", 60, [all_places, ada])
    assert refused.value.retry_after_seconds <= 50, "the first place to expire is another one now"
    places.take("3", 300, [all_places, bo])
    places.take("4", 300, [all_places, bo])
    with pytest.raises(LimitExceeded) as refused:
        places.take("5", 60, [all_places, Share("MAX_ROOMS_PER_OWNER", 2, "cy")])
    assert refused.value.limit == "MAX_ROOMS"
    assert store.redis.hlen(f"{key}:groups") == store.redis.zcard(key) == 4


def test_a_place_in_the_last_part_of_its_time_is_taken_from_the_same_owner_first(
    store: Store, key: str
) -> None:
    """Then from those of whoever has most. A place before that part is taken from nobody."""
    places, all_places = Places(store, key), Share("MAX_ROOMS", 4)

    def take(holder: str, seconds: float, owner: str) -> list[str]:
        shares = [all_places, Share("MAX_ROOMS_PER_OWNER", 2, owner)]
        return places.take(holder, seconds, shares, replaceable_seconds=100)

    for holder, seconds, owner in (("b1", 40, "bo"), ("a1", 60, "ada"), ("a2", 50, "ada"), ("c1", 200, "cy")):
        assert take(holder, seconds, owner) == []
    assert take("a3", 300, "ada") == ["a2"], "not that of Bo, which ends first"
    assert take("d1", 300, "dan") == ["a1"], "Ada has most"
    assert take("c2", 300, "cy") == ["b1"]
    with pytest.raises(LimitExceeded) as refused:
        take("c3", 300, "cy")
    assert refused.value.limit == "MAX_ROOMS"
    assert 90 < refused.value.retry_after_seconds <= 100, "then a place can be taken"
    assert take("c2", 300, "cy") == [], "who has a place keeps it"
    assert store.redis.hlen(f"{key}:groups") == store.redis.zcard(key) == 4


def can_take(places: Places, holder: str, seconds: float, share: Share) -> bool:
    try:
        places.take(holder, seconds, [share])
    except LimitExceeded:
        return False
    return True
