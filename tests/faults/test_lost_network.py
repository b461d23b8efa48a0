"""A network to Redis in which packets vanish and nothing is closed: a machine that is lost, an address that
moves. Meanwhile clients send requests."""

import time
import urllib.error
from collections.abc import Iterator
from contextlib import suppress
from itertools import count

import pytest

from schedviz.store import Sandbox
from schedviz.up.embedded_redis import lock
from tests.faults.conftest import FaultArena, note
from tests.faults.invariants import CHECKED, assert_invariants
from tests.faults.proxy import Proxy
from tests.faults.test_viewers import Web
from tests.loop.conftest import node
from tests.waiting import eventually

HOLES = (10, 14, 18)
"""Seconds without the network. After 8 to 18 of them processes stayed dead."""


@pytest.fixture
def web(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[Web]:
    """A server and two workers, all behind one proxy."""
    directory = tmp_path_factory.mktemp("lost")
    with lock(directory) as held:
        arena = FaultArena(directory, held)
        proxy = Proxy(arena.redis.url)
        arena.ends.callback(proxy.close)
        for _ in range(2):
            arena.start_worker(url=proxy.url)
        web = Web(arena, directory, proxy)
        yield web
        web.process.kill()
        arena.close()


@pytest.fixture
def sandbox(web: Web, sandbox_name: str) -> Sandbox:
    sandbox = web.fault_arena.make(sandbox_name, [node("n", cpu="64", pods="1000")])
    eventually(sandbox.lease, "the sandbox has a leader")
    return sandbox


@pytest.mark.long
@pytest.mark.parametrize("seconds", HOLES)
def test_a_silent_loss_of_the_network_heals(web: Web, sandbox: Sandbox, seconds: int) -> None:
    numbers = count()
    web.create(sandbox, "before")
    assert web.proxy
    with web.proxy.swallowing():
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with suppress(urllib.error.HTTPError):  # 503
                web.create(sandbox, f"during-{next(numbers)}")
    began = time.monotonic()

    def creates() -> bool:
        try:
            web.create(sandbox, f"after-{next(numbers)}")
        except urllib.error.HTTPError as error:
            if error.code != 503:  # a write is answered, or refused as one that may not have been stored
                raise
            return False
        return True

    eventually(creates, "a pod is created")
    last = web.fault_arena.acknowledged[sandbox.name][-1]["metadata"]["name"]
    web.fault_arena.until_bound(sandbox, last)
    took = time.monotonic() - began
    web.fault_arena.rest(sandbox)
    assert_invariants(web.fault_arena.store, sandbox, web.fault_arena.acknowledged[sandbox.name])
    note(f"network to Redis lost for {seconds} s", took, ", ".join(CHECKED))
