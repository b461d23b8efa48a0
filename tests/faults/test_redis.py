"""A Redis that is killed, loses its last writes, has no memory or no disk; and connections that are cut.
Meanwhile clients create pods, and record the acknowledged writes."""

import resource
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis.exceptions import RedisError

from schedviz.loop.due import KEY
from schedviz.loop.presence import ALIVE, GAP_SECONDS
from schedviz.processes.heartbeats import heartbeats_key
from schedviz.store import Sandbox, codec
from schedviz.store.keys import Keys
from schedviz.up import embedded_redis
from simulator.api import SECOND
from tests.amounts import long_but_first
from tests.faults.conftest import FaultArena
from tests.loop.conftest import node, pod
from tests.waiting import eventually

NUMBERS = count()
"""The numbers of the pods."""


@pytest.fixture
def workers(fault_arena: FaultArena) -> FaultArena:
    """With two workers."""
    while len(fault_arena.workers) < 2:
        fault_arena.start_worker()
    return fault_arena


@contextmanager
def clients_at_work(fault_arena: FaultArena, sandbox: Sandbox) -> Iterator[None]:
    """In this context a client creates pods. It continues with the next pod when Redis does not respond."""
    stop = threading.Event()

    def create() -> None:
        while not stop.wait(0.01):
            with suppress(RedisError):
                fault_arena.create(sandbox, pod(f"p{next(NUMBERS)}", cpu="1m"))

    client = threading.Thread(target=create)
    client.start()
    try:
        yield
    finally:
        stop.set()
        client.join()


def wait_until_acknowledged(fault_arena: FaultArena, sandbox: Sandbox, more: int) -> None:
    """Wait until so many more pods were acknowledged."""
    expected = len(fault_arena.acknowledged[sandbox.name]) + more
    eventually(lambda: len(fault_arena.acknowledged[sandbox.name]) >= expected, "pods are created")


@pytest.fixture
def sandbox(workers: FaultArena, sandbox_name: str) -> Sandbox:
    sandbox = workers.make(sandbox_name, [node("n", cpu="64", pods="1000")])
    eventually(sandbox.lease, "the sandbox has a leader")
    return sandbox


@pytest.mark.parametrize("how", long_but_first(["killed", "restarted", "killed again"]))
def test_redis_ends_and_loses_nothing_that_was_acknowledged(
    workers: FaultArena, sandbox: Sandbox, how: str
) -> None:
    """Redis hands each write to the system before it replies, so only a power cut can lose any."""
    with clients_at_work(workers, sandbox):
        wait_until_acknowledged(workers, sandbox, 20)
        began = time.monotonic()
        if how == "restarted":
            workers.redis.stop()
        else:
            workers.redis.process.kill()
            workers.redis.process.wait()
        workers.start_redis()
        wait_until_acknowledged(workers, sandbox, 20)
    workers.recover(f"Redis {how}", sandbox, began)


@pytest.mark.long
def test_all_processes_read_again_after_redis_lost_its_last_writes(
    workers: FaultArena, sandbox: Sandbox, file: Path
) -> None:
    """As after a power cut, the end of Redis's file is missing."""
    with clients_at_work(workers, sandbox):
        wait_until_acknowledged(workers, sandbox, 20)
    kept = [*workers.acknowledged[sandbox.name]]
    size = file.stat().st_size
    with clients_at_work(workers, sandbox):
        wait_until_acknowledged(workers, sandbox, 20)
        began = time.monotonic()
        workers.redis.process.kill()
        workers.redis.process.wait()
    lost = len(workers.acknowledged[sandbox.name]) - len(kept)
    workers.acknowledged[sandbox.name] = kept
    with file.open("rb+") as written:
        written.truncate(size)
    workers.start_redis()
    workers.recover("Redis lost its last writes", sandbox, began, f"{lost} creations after them are lost")


@pytest.fixture
def file(workers: FaultArena) -> Path:
    """The file to which Redis appends its writes."""
    (file,) = Path(workers.store.redis.config_get("dir")["dir"]).glob("appendonlydir/*.incr.aof")
    return file


def test_redis_has_no_memory(workers: FaultArena, sandbox: Sandbox) -> None:
    with clients_at_work(workers, sandbox):
        wait_until_acknowledged(workers, sandbox, 20)
        workers.store.redis.config_set("maxmemory", 1)
        eventually(lambda: refuses(workers), "it refuses writes")
        began = time.monotonic()
        workers.store.redis.config_set("maxmemory", 0)
        wait_until_acknowledged(workers, sandbox, 20)
    workers.recover("Redis without memory, from when it has some again", sandbox, began)


@pytest.mark.long
def test_redis_has_no_disk(
    workers: FaultArena, sandbox: Sandbox, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size of its file is limited. Redis is started so that the system does not end it at that limit."""
    workers.redis.stop()
    with monkeypatch.context() as patch:
        patch.setattr(embedded_redis.subprocess, "Popen", partial(subprocess.Popen, restore_signals=False))
        workers.start_redis()
    pid, hard = workers.redis.process.pid, resource.RLIM_INFINITY
    with clients_at_work(workers, sandbox):
        wait_until_acknowledged(workers, sandbox, 20)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (file.stat().st_size + 10_000, hard))
        eventually(lambda: refuses(workers), "it refuses writes")
        began = time.monotonic()
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
        wait_until_acknowledged(workers, sandbox, 20)
    workers.recover("Redis without disk, from when it has some again", sandbox, began)


def refuses(fault_arena: FaultArena) -> bool:
    return fault_arena.store.probe()[1] is not None


def test_connections_are_cut(workers: FaultArena, sandbox: Sandbox) -> None:
    with clients_at_work(workers, sandbox):
        wait_until_acknowledged(workers, sandbox, 10)
        began = time.monotonic()
        for _ in range(3):
            workers.store.redis.execute_command("CLIENT", "KILL", "TYPE", "normal")
            workers.store.redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
            wait_until_acknowledged(workers, sandbox, 5)
    workers.recover("all connections to Redis cut, three times", sandbox, began)


# KEYS: ALIVE, the heartbeats, what is due, the sandbox's state. ARGV: seconds, the clock before and after.
SET_BACK = """
if redis.call('HGET', KEYS[4], 'clock') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[4], 'clock', ARGV[3])
redis.call('HINCRBY', KEYS[4], 'revision', 1)
local function moved(time) return string.format('%.6f', time + ARGV[1]) end
redis.call('SET', KEYS[1], moved(redis.call('GET', KEYS[1])))
for _, worker in ipairs(redis.call('HKEYS', KEYS[2])) do
  redis.call('HSET', KEYS[2], worker, moved(redis.call('HGET', KEYS[2], worker)))
end
for _, name in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  redis.call('ZINCRBY', KEYS[3], ARGV[1] * 1000000, name)
end
return 1
"""


def set_back(fault_arena: FaultArena, sandbox: Sandbox, seconds: int) -> bool:
    """Make all stored times later, as if the clock of Redis had been set back."""
    keys = [ALIVE, heartbeats_key("worker"), KEY, Keys.of(sandbox.name).state]
    before = sandbox.clock()
    after = replace(before, wall=before.wall + seconds)
    arguments = [seconds, codec.encode(before), codec.encode(after)]
    return bool(fault_arena.store.redis.eval(SET_BACK, len(keys), *keys, *arguments))


@pytest.mark.parametrize("seconds", long_but_first([60, 3600]))
def test_the_clock_of_redis_is_set_back(workers: FaultArena, sandbox: Sandbox, seconds: int) -> None:
    """Simulated time continues without a jump. A clock that is set forward cannot be simulated from outside,
    as the workers know when they sent their last heartbeat: tests/loop/test_presence.py. Workers whose own
    clocks differ: tests/loop/test_wall.py."""
    redis = workers.store.redis
    eventually(lambda: redis.zscore(KEY, sandbox.name) is None, "no slice runs that began before")
    sim, began = sandbox.now(), time.monotonic()
    eventually(lambda: set_back(workers, sandbox, seconds))
    eventually(lambda: float(redis.get(ALIVE) or 0) < workers.store.wall() + 1, "a worker has noticed it")
    with clients_at_work(workers, sandbox):
        wait_until_acknowledged(workers, sandbox, 10)
        workers.bind(sandbox, "set-back")
        passed = sandbox.now() - sim
    assert 0 <= passed <= (time.monotonic() - began + GAP_SECONDS) * SECOND
    workers.recover(f"clock of Redis set back by {seconds} s", sandbox, began, "simulated time continues")
