"""The metrics of several processes in one Redis."""

from collections.abc import Iterator
from unittest.mock import patch

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge
from redis.exceptions import ConnectionError as RedisConnectionError

from schedviz.metrics import registry
from schedviz.metrics.registry import Series
from schedviz.processes import shared_metrics
from schedviz.processes.shared_metrics import COUNTERS, GAUGES, SharedMetrics
from schedviz.store import Store
from schedviz.up.embedded_redis import EmbeddedRedis


class Process:
    """Counts by itself, as a process does."""

    def __init__(self, redis_url: str, name: str) -> None:
        self.registry = CollectorRegistry()
        self.commits = Counter("commits_total", "", ["kind"], registry=self.registry)
        self.pages = Gauge("pages", "", registry=self.registry)
        self.store = Store(redis_url)
        self.shared = SharedMetrics(self.store.redis, "web", name)

    def write(self) -> None:
        with patch.object(registry, "REGISTRY", self.registry):
            self.shared.write()


@pytest.fixture
def two(own_redis: EmbeddedRedis) -> Iterator[tuple[Process, Process]]:
    processes = Process(own_redis.url, "one"), Process(own_redis.url, "two")
    yield processes
    for process in processes:
        process.store.close()


def commits(process: Process) -> float:
    return process.shared.read()[0].get(Series("commits_total", (("kind", "pods"),)), 0.0)


def test_counters_and_gauges_are_sums(two: tuple[Process, Process]) -> None:
    for process, count in zip(two, (2, 3), strict=True):
        process.commits.labels("pods").inc(count)
        process.pages.set(count)
        process.write()
        process.write()
    counted, measured = two[0].shared.read()
    assert counted == {Series("commits_total", (("kind", "pods"),)): 5.0}
    assert measured == {Series("pages", ()): 5.0}
    two[1].commits.labels("pods").inc()
    two[1].write()
    assert commits(two[0]) == 6.0


def test_the_counts_of_an_ended_process_are_kept_and_its_gauges_removed(
    two: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = two
    one.commits.labels("pods").inc(4)
    one.pages.set(7)
    one.write()
    monkeypatch.setattr(shared_metrics, "TTL_SECONDS", 0.0)
    assert other.shared.read()[1] == {}
    assert commits(other) == 4.0
    other.write()
    assert other.shared._redis.hkeys(GAUGES) == [b"two"]
    # It was only slow: what it had counted before is not counted again.
    one.commits.labels("pods").inc()
    one.write()
    assert commits(other) == 5.0


def test_ended_processes_do_not_count_for_the_bound(
    two: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_metrics, "PROCESSES_AT_MOST", 1)
    one, other = two
    one.write()
    monkeypatch.setattr(shared_metrics, "TTL_SECONDS", 0.0)
    other.commits.labels("pods").inc()
    other.write()
    assert commits(other) == 1.0


def test_counts_that_redis_did_not_store_are_added_later(two: tuple[Process, Process]) -> None:
    process = two[0]
    process.commits.labels("pods").inc()
    with patch.object(process.shared, "_script", side_effect=RedisConnectionError):
        process.write()
    process.commits.labels("pods").inc()
    process.write()
    assert commits(process) == 2.0


def test_a_write_whose_answer_was_lost_counts_once(two: tuple[Process, Process]) -> None:
    process = two[0]
    process.commits.labels("pods").inc()
    script = process.shared._script

    def stored_but_not_answered(*arguments: object) -> None:
        script(*arguments)  # type: ignore[arg-type]
        raise RedisConnectionError

    with patch.object(process.shared, "_script", stored_but_not_answered):
        process.write()
    process.commits.labels("pods").inc()
    process.write()
    assert commits(process) == 2.0


def test_the_number_of_series_is_bounded(
    two: tuple[Process, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_metrics, "SERIES_AT_MOST", 3)
    process = two[0]
    for number in range(5):
        process.commits.labels(f"kind-{number}").inc()
    process.write()
    process.commits.labels("kind-0").inc()
    process.write()
    assert process.shared._redis.hlen(COUNTERS) == 3
    assert process.shared.read()[0][Series("commits_total", (("kind", "kind-0"),))] == 2.0
