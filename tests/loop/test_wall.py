"""Workers on machines whose wall clocks differ."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schedviz.api.write import create
from schedviz.up.embedded_redis import lock
from tests.loop.conftest import Arena, node, pod, until_bound
from tests.waiting import eventually

SANDBOXES = 4


@pytest.fixture
def lonely_arena(tmp_path: Path, redis_url: str) -> Iterator[Arena]:
    with lock(tmp_path) as held:
        arena = Arena(tmp_path, held)
        yield arena
        arena.close()


@pytest.mark.long
def test_workers_whose_clocks_differ_by_a_minute_run_all_sandboxes_at_one_time(lonely_arena: Arena) -> None:
    arena = lonely_arena
    ahead, behind = arena.start_worker(ahead_seconds=60), arena.start_worker(ahead_seconds=-60)
    sandboxes = [arena.make(f"skewed-{i}", [node("n"), pod("first")]) for i in range(SANDBOXES)]
    clocks = [sandbox.clock() for sandbox in sandboxes]
    for sandbox in sandboxes:
        eventually(until_bound(sandbox, 1), f"{sandbox.name} runs")
        assert arena.leader(sandbox) in (ahead, behind)
    ahead.kill()
    for sandbox in sandboxes:
        create(sandbox, [pod("second")])
        arena.wake(sandbox.name)
    for sandbox in sandboxes:
        eventually(until_bound(sandbox, 2), f"{sandbox.name} goes on")
        assert arena.leader(sandbox) is behind
    assert [sandbox.clock() for sandbox in sandboxes] == clocks, "no clock was moved"
    for sandbox in sandboxes:
        _, now, _ = sandbox.progress()
        assert now <= sandbox.now()
