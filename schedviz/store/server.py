"""One Redis server, and which server has a sandbox.

The sandboxes may be on the masters of a Redis Cluster. Everything else (the names of all sandboxes, rooms,
heartbeats, the broker) is on the main server.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Final

from redis import Redis
from redis.backoff import NoBackoff
from redis.connection import Connection
from redis.retry import Retry

from schedviz.redis_url import socket_options
from schedviz.store.keys import PROBE
from schedviz.store.scripts import Scripts
from schedviz.store.trouble import Trouble, trouble_of
from schedviz.store.wall import seconds_of

MAIN: Final = ""
"""The label of the main server."""


class Server:
    """One Redis server. It is connected when that is needed, also after it was restarted."""

    def __init__(
        self, label: str, url: str, client: type[Redis] = Redis, probe_key: Callable[[], str] = lambda: PROBE
    ) -> None:
        """label: how messages name it. probe_key: returns a key that it stores."""
        self.label = label
        self._probe_key = probe_key
        # No retries: a commit whose reply was lost may have been stored, and must not be stored twice. (A
        # pooled connection that was closed meanwhile is noticed before it is used.)
        self.redis: Redis = client.from_url(
            url,
            retry=Retry(NoBackoff(), 0),
            redis_connect_func=self._connected,
            **socket_options(url),
        )
        self.scripts = Scripts(self.redis)
        self.starts = 0
        """Number of starts of the server that this process has seen. At each of them it may have lost its
        last second of writes."""
        self.run = b""
        """The name that the server gave its present run."""
        self._lock = Lock()

    def probe(self) -> tuple[float, Trouble | None]:
        """Try a small write. Returns the wall time, and the reason if the server refuses writes."""
        key = self._probe_key()
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.time()
            pipe.set(key, b"")
            pipe.delete(key)
            now, refusal, _ = pipe.execute(raise_on_error=False)
        return seconds_of(now), trouble_of(refusal) if isinstance(refusal, Exception) else None

    def _connected(self, connection: Connection) -> None:
        """Set up a new connection as redis-py does, and note whether the server was restarted."""
        connection.on_connect()  # type: ignore[no-untyped-call] # redis-py's
        connection.send_command("INFO", "server")  # type: ignore[no-untyped-call] # as well
        (run,) = re.findall(rb"run_id:(\w+)", connection.read_response())
        with self._lock:
            if run != self.run:
                self.run = run
                self.starts += 1


class Servers:
    """The servers that have the sandboxes: the main one alone. A :class:`schedviz.store.cluster.Cluster` is
    the other kind."""

    def __init__(self, main: Server) -> None:
        self._main = main

    def connect(self) -> None:
        """Connect to a cluster. Raises WrongServers where it is none, and what redis-py raises."""

    @property
    def all(self) -> Sequence[Server]:
        """All of them that take writes. Raises what redis-py raises."""
        return [self._main]

    def of(self, name: str) -> Server:
        """Return the server of the sandbox of this name."""
        return self._main

    def starts(self, name: str) -> int:
        """Return a number that is another one when the sandbox may have lost its last writes: its server was
        restarted, or is another one by now."""
        return self._main.starts

    def group(self, names: Iterable[str]) -> Mapping[Server, list[str]]:
        """Group the sandboxes by server: each server that has some of them -> their names, in the same
        order."""
        found: dict[Server, list[str]] = {}
        for name in names:
            found.setdefault(self.of(name), []).append(name)
        return found

    def close(self) -> None:
        self._main.redis.close()
