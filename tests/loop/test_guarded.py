"""Real workers and thinkers: one that takes no messages any more ends itself, and what dead ones left is
removed."""

import signal
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest
from kombu import Connection

from schedviz.celery import (
    KEY_PREFIX,
    THINKER_ARGUMENTS,
    WORKER_ARGUMENTS,
    app,
    own_queue,
)
from schedviz.embedded_redis import EmbeddedRedis, lock
from schedviz.loop.wakes import TASK as SLICE
from schedviz.processes.guarded import QUEUES, UNACKED
from schedviz.processes.heartbeats import Heartbeats, Kind
from schedviz.questions.question import TASK as ANSWER
from schedviz.store import Store
from tests.processes import Process
from tests.stalling import Proxy
from tests.waiting import eventually

KINDS: list[Kind] = ["workers", "thinkers"]
ARGUMENTS = {"workers": WORKER_ARGUMENTS, "thinkers": THINKER_ARGUMENTS}
MESSAGES = {"workers": (SLICE, ("nobody", 0)), "thinkers": (ANSWER, ("what-if", "nobody", "default/p", "1"))}
"""That change nothing."""


class Bench:
    def __init__(self, directory: Path, redis: EmbeddedRedis) -> None:
        self._directory = directory
        self.url = redis.url
        self.store = Store(redis.url)
        self.processes: list[Process] = []

    def start(self, kind: Kind, url: str = "") -> Process:
        log = self._directory / f"{kind}-{len(self.processes)}"
        command = ["-m", "celery", "--app=schedviz", "--quiet", *ARGUMENTS[kind]]
        process = Process(command, log, {"REDIS_URL": url or self.url})
        self.processes.append(process)
        eventually(lambda: process.alive() and self.name_of(kind, process), "it is alive", 60)
        return process

    def name_of(self, kind: Kind, process: Process) -> str:
        living = Heartbeats(self.store.redis, kind).living()
        return next((name for name in living if f"-{process.popen.pid}-" in name), "")

    def send(self, kind: Kind, queue: str) -> None:
        task, arguments = MESSAGES[kind]
        options = {"global_keyprefix": KEY_PREFIX}
        with Connection(self.url, transport_options=options) as connection:
            app.send_task(task, arguments, queue=queue, connection=connection)

    def waiting(self, queue: str) -> int:
        return self.store.redis.llen(f"{KEY_PREFIX}{queue}")

    def close(self) -> None:
        for process in self.processes:
            process.kill()
        self.store.close()


@pytest.fixture
def bench(tmp_path: Path, redis_url: str) -> Iterator[Bench]:
    with lock(tmp_path) as held:
        redis = EmbeddedRedis.start(tmp_path, held)
        bench = Bench(tmp_path, redis)
        yield bench
        bench.close()
        redis.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_whose_consumer_hangs_ends_itself(bench: Bench, kind: Kind) -> None:
    address = urlsplit(bench.url)
    assert address.port
    proxy = Proxy(address.port, b"BRPOP")
    process = bench.start(kind, bench.url.replace(f":{address.port}/", f":{proxy.port}/"))
    bench.send(kind, QUEUES[kind])
    eventually(lambda: bench.waiting(QUEUES[kind]) == 0, "it takes messages")
    proxy.lose()
    # What is under way may still be taken by the connection that is lost.
    for _ in range(3):
        bench.send(kind, QUEUES[kind])
    assert process.wait(60) == 1
    assert "messages wait, and this process does not take them" in process.output
    assert bench.waiting(QUEUES[kind]) > 0
    proxy.close()


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_killed_process_left_in_redis_is_removed(bench: Bench, kind: Kind) -> None:
    redis = bench.store.redis
    process = bench.start(kind)
    name = bench.name_of(kind, process)
    queue = own_queue(QUEUES[kind], name).name
    process.send(signal.SIGSTOP)
    for _ in range(3):
        bench.send(kind, queue)
    assert bench.waiting(queue) > 0, "one is under way to it at most"
    of_own, of_others = uuid.uuid4().hex, uuid.uuid4().hex
    hash_key, index_key = UNACKED
    for tag, routing_key in ((of_own, queue), (of_others, QUEUES[kind])):
        redis.hset(hash_key, tag, msgspec.json.encode([{"body": ""}, "", routing_key]))
        redis.zadd(index_key, {tag: bench.store.wall()})
    process.kill()
    heir = bench.start(kind)

    def gone() -> bool:
        assert heir.alive()
        return not redis.exists(f"{KEY_PREFIX}{queue}") and name not in Heartbeats(redis, kind).dead()

    eventually(gone, "its queue and its heartbeat are removed", 60)
    assert redis.hkeys(hash_key) == [of_others.encode()]
    assert redis.zrange(index_key, 0, -1) == [of_others.encode()]
    heirs_name = bench.name_of(kind, heir)
    heir.send(signal.SIGTERM)
    assert heir.wait(30) == 0
    assert Heartbeats(redis, kind).dead() == [heirs_name], "dead at once; the next removes its queue"
