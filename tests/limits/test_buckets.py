"""Token buckets."""

import pytest

from schedviz.limits import buckets
from schedviz.limits.buckets import Buckets
from schedviz.limits.shared_buckets import SharedBuckets
from schedviz.store import Store


def test_a_bucket_allows_its_burst_and_then_its_rate() -> None:
    now = 0.0
    found = Buckets(clock=lambda: now)
    assert [found.take("a", 2, 5) for _ in range(7)] == [0] * 5 + [1, 1]
    assert found.take("b", 2, 5) == 0, "each key has its own"
    now = 0.5
    assert [found.take("a", 2, 5) for _ in range(2)] == [0, 1]
    now = 1000.0
    assert [found.take("a", 2, 5) for _ in range(6)] == [0] * 5 + [1], "it holds no more than the burst"


def test_a_bucket_says_when_the_next_token_is_available() -> None:
    now = 0.0
    found = Buckets(clock=lambda: now)
    rate = 1 / 60
    assert found.take("a", rate, 1) == 0
    assert found.take("a", rate, 1) == 60
    now = 20.0
    assert found.take("a", rate, 1) == 40
    now = 60.0
    assert found.take("a", rate, 1) == 0


def test_the_least_recently_used_bucket_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "KEPT_AT_MOST", 2)
    found = Buckets(clock=lambda: 0.0)
    for key in ("a", "b", "a", "c"):
        found.take(key, 1, 2)
    assert [found.take("a", 1, 2), found.take("c", 1, 2), found.take("b", 1, 2)] == [1, 0, 0]
    assert len(found._buckets) == 2


def test_buckets_in_redis_are_those_of_all_processes(store: Store) -> None:
    """With an hour for each token, so that none comes meanwhile."""
    first, second = SharedBuckets("MAX_ROOMS"), SharedBuckets("MAX_ROOMS")
    hour, key = 1 / 3600, "a test's own"
    assert first.take(key, hour, 2, 0) == 0, "to look takes none"
    assert [each.take(key, hour, 2) for each in (first, second)] == [0, 0]
    assert 3500 < first.take(key, hour, 2, 0) <= 3600
    assert 3500 < second.take(key, hour, 2) <= 3600
    assert second.take("another", hour, 1) == SharedBuckets("MAX_IMPORTS").take(key, hour, 1) == 0
    keys = store.redis.keys("schedviz:bucket:MAX_[RI]*")
    assert sorted(round(store.redis.ttl(each) / 3600) for each in keys) == [1, 1, 2]
    store.redis.delete(*keys)
