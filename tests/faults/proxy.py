"""A TCP proxy in front of Redis that reads the commands, and acts at one of them as a test says: for example,
it kills the process that sent it, and ends the connection."""

import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from redis.connection import parse_url

Command = list[bytes]
Act = Literal["pass", "before", "after"]
"""What the proxy does with a command: it passes it to Redis, or it ends the connection ``before`` Redis gets
the command, or ``after`` Redis has run it and before the reply is passed on."""

READ_AT_ONCE = 1 << 16


class Proxy:
    """``watch`` is called with each command, in the order in which Redis gets them, and returns what the
    proxy does with it. ``before_cut`` is called before the proxy ends a connection."""

    def __init__(self, redis_url: str) -> None:
        self._redis = parse_url(redis_url)
        self.watch: Callable[[Command], Act] = lambda command: "pass"
        self.before_cut: Callable[[], object] = lambda: None
        self._listener = socket.create_server(("127.0.0.1", 0))
        password = self._redis.get("password", "")
        self.url = f"redis://:{password}@127.0.0.1:{self._listener.getsockname()[1]}/0"
        self._watching = threading.Lock()
        self._swallows = False
        self._epoch = 0
        """Counts the beginnings and ends of :meth:`swallowing`; a connection of an earlier epoch is lost."""
        self._open: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @contextmanager
    def swallowing(self) -> Iterator[None]:
        """Within, packets vanish: new connections get no reply. Those that were open before get none
        afterwards either, as behind an address that has moved, and nothing closes them."""
        self._epoch += 1
        self._swallows = True
        try:
            yield
        finally:
            self._swallows = False
            self._epoch += 1

    def cut(self) -> int:
        """Reset all connections. Returns their number."""
        there = [*self._open]
        for client in there:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        return len(there)

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                thread = threading.Thread(target=self._pass_on, args=(client,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _pass_on(self, client: socket.socket) -> None:
        with suppress(OSError), client, self._connect() as redis:
            self._open.add(client)
            try:
                self._copy(client, redis)
            finally:
                self._open.discard(client)

    def _connect(self) -> socket.socket:
        if "port" in self._redis:
            return socket.create_connection((self._redis["host"], self._redis["port"]))
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._redis["path"])
        return connection

    def _copy(self, client: socket.socket, redis: socket.socket) -> None:
        asked, epoch = b"", self._epoch
        while True:
            for source in select.select([client, redis], [], [])[0]:
                data = source.recv(READ_AT_ONCE)
                if not data:
                    return
                if self._swallows or epoch != self._epoch:
                    continue
                if source is redis:
                    client.sendall(data)
                    continue
                asked += data
                while (end := end_of_command(asked)) is not None:
                    command, asked = asked[:end], asked[end:]
                    with self._watching:
                        act = self.watch(words(command))
                    if act != "before":
                        redis.sendall(command)
                    if act == "after":
                        redis.recv(READ_AT_ONCE)  # Redis has done it
                    if act != "pass":
                        self.before_cut()
                        return


def end_of_command(data: bytes) -> int | None:
    """The end of the first command of the data; None = the command is not complete."""
    if not data.startswith(b"*") or (end := data.find(b"\r\n")) < 0:
        return None
    count, at = int(data[1:end]), end + 2
    for _ in range(count):
        end = data.find(b"\r\n", at)
        if end < 0:
            return None
        at = end + 2 + int(data[at + 1 : end]) + 2
    return at if at <= len(data) else None


def words(command: bytes) -> Command:
    """The words of a command in Redis's protocol."""
    found, at = [], command.index(b"\r\n") + 2
    while at < len(command):
        end = command.index(b"\r\n", at)
        length = int(command[at + 1 : end])
        found.append(command[end + 2 : end + 2 + length])
        at = end + 2 + length + 2
    return found
