"""One Redis server, and how a sandbox is assigned to one of several.

The sandboxes may be spread over several servers by their names. Everything else (the names of all sandboxes,
rooms, heartbeats, the broker) is on the main server.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Final, Protocol, TypeVar

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

    def __init__(self, label: str, url: str) -> None:
        """label: by which sandboxes are assigned to it. It stays when the server gets another address."""
        self.label = label
        self.url = url
        # No retries: a commit whose reply was lost may have been stored, and must not be stored twice. (A
        # pooled connection that was closed meanwhile is noticed before it is used.)
        self.redis: Redis = Redis.from_url(
            url,
            retry=Retry(NoBackoff(), 0),
            redis_connect_func=self._connected,
            **socket_options(url),
        )
        self.scripts = Scripts(self.redis)
        self.starts = 0
        """Number of starts of the server that this process has seen. At each of them it may have lost its
        last second of writes."""
        self._run = b""
        self._lock = Lock()

    def probe(self) -> tuple[float, Trouble | None]:
        """Try a small write. Returns the wall time, and the reason if the server refuses writes."""
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.time()
            pipe.set(PROBE, b"")
            pipe.delete(PROBE)
            now, refusal, _ = pipe.execute(raise_on_error=False)
        return seconds_of(now), trouble_of(refusal) if isinstance(refusal, Exception) else None

    def _connected(self, connection: Connection) -> None:
        """Set up a new connection as redis-py does, and note whether the server was restarted."""
        connection.on_connect()  # type: ignore[no-untyped-call] # redis-py's
        connection.send_command("INFO", "server")  # type: ignore[no-untyped-call] # as well
        (run,) = re.findall(rb"run_id:(\w+)", connection.read_response())
        with self._lock:
            if run != self._run:
                self._run = run
                self.starts += 1


class Labelled(Protocol):
    @property
    def label(self) -> str: ...


AnyServer = TypeVar("AnyServer", bound=Labelled)


def assign(name: str, servers: Iterable[AnyServer]) -> AnyServer:
    """Return the server of the sandbox of this name, by rendezvous hashing: the one whose label and the name
    have the greatest hash. A further server takes its share from all others equally, and no sandbox moves
    between those."""
    return max(servers, key=lambda server: hashlib.sha256(f"{server.label}/{name}".encode()).digest())


class Servers:
    """The servers on which sandboxes are."""

    def __init__(self, servers: Sequence[Server]) -> None:
        self.all = servers

    def of(self, name: str) -> Server:
        """Return the server of the sandbox of this name."""
        return self.all[0] if len(self.all) == 1 else assign(name, self.all)

    def group(self, names: Iterable[str]) -> Mapping[Server, list[str]]:
        """Group the sandboxes by server: each server that has some of them -> their names, in the same
        order."""
        found: dict[Server, list[str]] = {}
        for name in names:
            found.setdefault(self.of(name), []).append(name)
        return found
