"""Token buckets."""

import pytest

from schedviz.limits import buckets
from schedviz.limits.buckets import Buckets


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
