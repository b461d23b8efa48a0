"""The real processes, on loopback: Redis, server, workers, job runner; for the fuzz and the load program."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock

import psutil

from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS
from schedviz.loop.leadership import living_workers
from schedviz.store import Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from schedviz.up.programs import SERVER
from tests.processes import CELERY, Process
from tests.waiting import eventually

RECORD = re.compile(r"^(?=(?:\S+Z )?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b)", re.MULTILINE)
FAULT = re.compile(
    r"^(?:\S+Z )?(?:CRITICAL|ERROR asyncio)\b|^Traceback \(most recent|^Exception ignored", re.MULTILINE
)
READ_AT_MOST = 1_000_000
"""Characters of a log at once."""


class Log:
    """The output of a process, read as it grows."""

    def __init__(self, name: str, process: Process) -> None:
        self.name = name
        self.process = process
        self._read = 0

    def restart(self) -> None:
        """Read the output of the process that was started again, which is a new one."""
        self._read = 0

    def faults(self) -> list[str]:
        """The errors and tracebacks since the last call."""
        with self.process.log.open("rb") as file:
            file.seek(self._read)
            text = file.read(READ_AT_MOST)
        self._read += len(text)
        found = [record for record in RECORD.split(text.decode(errors="replace")) if FAULT.search(record)]
        if self.process.popen.poll() is not None:
            found.append(f"ERROR: the {self.name} ended with {self.process.popen.returncode}")
        return found

    def megabytes(self) -> float:
        """The memory of the process, 0 where it has ended."""
        if self.process.popen.poll() is not None:
            return 0.0
        return psutil.Process(self.process.popen.pid).memory_info().rss / 1e6


class Stack:
    """``logs``: of the processes of the server, then the workers, then the job runner."""

    def __init__(self, port: int, store: Store, logs: list[Log], redis: EmbeddedRedis | None = None) -> None:
        self.port = port
        self.store = store
        self.logs = logs
        self.redis = redis
        self._restarting = Lock()

    def restart(self) -> None:
        """Stop all processes, Redis last, and start them again, each at its address."""
        with self._restarting:
            for log in self.logs:
                log.process.stop()
            assert self.redis, "the stack has its own"
            self.redis.stop()
            self.redis.start_again()
            for log in self.logs:
                log.process = Process(log.process.arguments, log.process.log, log.process.environment)
                log.restart()
            self.wait()

    @contextmanager
    def unless_restarting(self) -> Iterator[bool]:
        """Context manager: yield whether no restart is under way; none begins before the block ends."""
        is_free = self._restarting.acquire(blocking=False)
        try:
            yield is_free
        finally:
            if is_free:
                self._restarting.release()

    def wait(self) -> None:
        """Wait until the server answers and the workers live."""
        servers = [log for log in self.logs if log.name.startswith("server")]
        workers = [log for log in self.logs if log.name.startswith("worker")]
        eventually(
            lambda: all(log.process.alive() and is_listening(log) for log in servers), "the server answers"
        )
        eventually(
            lambda: (
                all(log.process.alive() for log in self.logs)
                and len(living_workers(self.store)) >= len(workers)
            ),
            "the workers live",
        )


@contextmanager
def running(
    directory: Path,
    redis_port: int,
    password: str,
    *,
    workers: int = 1,
    web_processes: int = 1,
    redis_of_server: str = "",
) -> Iterator[Stack]:
    """The processes, with their data and logs in a directory; settings.REDIS_URL names the Redis already.
    ``redis_of_server``: the REDIS_URL of the server, where it is another than that of the other processes."""
    with ExitStack() as ends:
        held = ends.enter_context(lock(directory / "redis"))
        redis = EmbeddedRedis.start(directory / "redis", held, redis_port, password)
        ends.callback(redis.stop)
        store = Store(redis.url)
        ends.callback(store.close)
        port = free_port()
        servers = numbered("server", web_processes)
        commands = {name: ["-m", SERVER, f"--port={port}"] for name in servers}
        if web_processes > 1:
            for command in commands.values():
                command.append("--shares-port")
        for name in numbered("worker", workers):
            commands[name] = [*CELERY, *WORKER_ARGUMENTS, f"--hostname={name}"]
        commands["job-runner"] = [*CELERY, *JOB_RUNNER_ARGUMENTS, "--hostname=job-runner"]
        logs = []
        for name, command in commands.items():
            environment = {"SECRET_KEY": "the same of all servers, 32 characters"} if name in servers else {}
            if name in servers and redis_of_server:
                environment["REDIS_URL"] = redis_of_server
            log = Log(name, Process(command, directory / f"{name}.log", environment))
            ends.callback(lambda log=log: log.process.stop())
            logs.append(log)
        stack = Stack(port, store, logs, redis)
        stack.wait()
        yield stack


def numbered(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}-{number}" for number in range(1, count + 1)]


def is_listening(log: Log) -> bool:
    """Whether the process takes connections."""
    connections = psutil.Process(log.process.popen.pid).net_connections("tcp")
    return any(each.status == psutil.CONN_LISTEN for each in connections)
