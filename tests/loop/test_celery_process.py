"""Real workers and job runners: one that takes no messages any more shuts down, one that waits for Redis ends
at a signal, and what dead ones left is removed."""

import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from kombu import Connection

from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS, app
from schedviz.jobs.question import QUESTIONS
from schedviz.loop.slice_message import TASK as SLICE
from schedviz.processes.celery_process import UNACKED
from schedviz.processes.heartbeats import Heartbeats
from schedviz.processes.message_queues import KEY_PREFIX, QUEUES, own_queue
from schedviz.processes.role import ROLES, Role
from schedviz.redis_url import for_kombu
from schedviz.store import Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from tests.amounts import long_but_first
from tests.processes import CELERY, Process
from tests.stalling import Proxy
from tests.waiting import eventually

ARGUMENTS: dict[Role, list[str]] = {"worker": WORKER_ARGUMENTS, "job-runner": JOB_RUNNER_ARGUMENTS}
MESSAGES: dict[Role, tuple[str, tuple[object, ...]]] = {
    "worker": (SLICE, ("nobody", 0)),
    "job-runner": (QUESTIONS.task, ("what-if:nobody:default/p:u:0", "1")),
}
"""The options of processes that change nothing."""


class Bench:
    def __init__(self, directory: Path, redis: EmbeddedRedis) -> None:
        self._directory = directory
        self.url = redis.url
        self.store = Store(redis.url)
        self.processes: list[Process] = []

    def start(self, role: Role, url: str = "") -> Process:
        log = self._directory / f"{role}-{len(self.processes)}"
        command = [*CELERY, *ARGUMENTS[role]]
        process = Process(command, log, {"REDIS_URL": url or self.url})
        self.processes.append(process)
        eventually(lambda: process.alive() and self.name_of(role, process), "it is alive")
        return process

    def name_of(self, role: Role, process: Process) -> str:
        living = Heartbeats(self.store.redis, role).living()
        return next((name for name in living if f"-{process.popen.pid}-" in name), "")

    def send(self, role: Role, queue: str) -> None:
        task, arguments = MESSAGES[role]
        options = {"global_keyprefix": KEY_PREFIX}
        with Connection(for_kombu(self.url), transport_options=options) as connection:
            app.send_task(task, arguments, queue=queue, connection=connection)

    def waiting(self, queue: str) -> int:
        return self.store.redis.llen(f"{KEY_PREFIX}{queue}")

    def close(self) -> None:
        for process in self.processes:
            process.kill()
        self.store.close()


@pytest.fixture
def bench(tmp_path: Path, own_redis: EmbeddedRedis) -> Iterator[Bench]:
    bench = Bench(tmp_path, own_redis)
    yield bench
    bench.close()


@pytest.fixture
def bench_on_loopback(tmp_path: Path) -> Iterator[tuple[Bench, int]]:
    """Its Redis listens on a port."""
    with lock(tmp_path) as held:
        redis = EmbeddedRedis.start(tmp_path, held, port := free_port())
        bench = Bench(tmp_path, redis)
        yield bench, port
        bench.close()
        redis.stop()


@pytest.mark.parametrize("role", long_but_first(ROLES))
def test_a_process_that_receives_no_messages_shuts_down(
    bench_on_loopback: tuple[Bench, int], role: Role
) -> None:
    bench, port = bench_on_loopback
    proxy = Proxy(port, b"BRPOP")
    process = bench.start(role, bench.url.replace(f":{port}/", f":{proxy.port}/"))
    bench.send(role, QUEUES[role])
    eventually(lambda: bench.waiting(QUEUES[role]) == 0, "it takes messages")
    proxy.lose()
    # A message on its way may still be received by the lost connection.
    for _ in range(3):
        bench.send(role, QUEUES[role])
    # 0 after a warm shutdown, 1 where Celery waits for the lost connection in it.
    assert process.wait() in (0, 1)
    assert "messages wait, and this process does not take them" in process.output
    assert bench.waiting(QUEUES[role]) > 0
    proxy.close()


@pytest.mark.long
@pytest.mark.parametrize("role", long_but_first(ROLES))
def test_the_data_of_a_killed_process_in_redis_is_removed(bench: Bench, role: Role) -> None:
    redis = bench.store.redis
    process = bench.start(role)
    name = bench.name_of(role, process)
    queue = own_queue(QUEUES[role], name).name
    process.send(signal.SIGSTOP)
    for _ in range(3):
        bench.send(role, queue)
    assert bench.waiting(queue) > 0, "one is under way to it at most"
    of_own, of_others = uuid.uuid4().hex, uuid.uuid4().hex
    hash_key, index_key = UNACKED
    for tag, routing_key in ((of_own, queue), (of_others, QUEUES[role])):
        redis.hset(hash_key, tag, msgspec.json.encode([{"body": ""}, "", routing_key]))
        redis.zadd(index_key, {tag: bench.store.wall()})
    process.kill()
    successor = bench.start(role)

    def gone() -> bool:
        assert successor.alive()
        return not redis.exists(f"{KEY_PREFIX}{queue}") and name not in Heartbeats(redis, role).dead()

    eventually(gone, "its queue and its heartbeat are removed")
    assert redis.hkeys(hash_key) == [of_others.encode()]
    assert redis.zrange(index_key, 0, -1) == [of_others.encode()]
    successors_name = bench.name_of(role, successor)
    successor.send(signal.SIGTERM)
    assert successor.wait() == 0
    assert Heartbeats(redis, role).dead() == [successors_name], "dead at once; the next removes its queue"


@pytest.mark.parametrize(("role", "number"), [*zip(ROLES, (signal.SIGTERM, signal.SIGINT), strict=True)])
def test_a_process_that_waits_for_redis_ends_at_a_signal(
    tmp_path: Path, role: Role, number: signal.Signals
) -> None:
    command = [*CELERY, *ARGUMENTS[role]]
    process = Process(command, tmp_path / role, {"REDIS_URL": f"redis://127.0.0.1:{free_port()}/0"})
    eventually(lambda: process.alive() and "waiting for Redis" in process.output, "it waits")
    process.send(number)
    assert process.wait() == (0 if number == signal.SIGTERM else 1)
    assert "Traceback" not in process.output
