"""The masters of a Redis Cluster as the servers of the sandboxes.

All keys of a sandbox have one hash tag, and so one slot, which one master has. redis-py's cluster client asks
the nodes which of them has which slots. The commands go to the master by a client of its own, for three
reasons: the pipelines of the cluster client send each command again whose answer was lost, its transactions
do not find a slot that has moved, and none of its pipelines can read the time.

No command is sent twice. A slot moves when a replica takes over from its master, or when an operator moves
it. The old server then refuses the command (:class:`Moved`), or does not answer; both make the process ask
for the slots again. What reads by the name of a sandbox then reads at the new server (:func:`following`). A
handle of a sandbox does not: the new server may lack the last writes, on which its caller relies. The caller
fails as if Redis was away, and begins again with another handle.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from redis import Redis
from redis.client import Pipeline
from redis.cluster import ClusterNode, RedisCluster
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    AuthenticationError,
    ClusterDownError,
    MovedError,
    RedisClusterException,
    RedisError,
    SlotNotCoveredError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from schedviz.redis_url import socket_options, with_address
from schedviz.store.errors import WrongServers
from schedviz.store.keys import PROBE
from schedviz.store.server import Server, Servers

REFRESH_SECONDS: Final = 0.1
"""The shortest time between two readings of the slots while a server does not answer: one takes 3 ms."""

PROBED: Final = 10_000
"""Hash tags among which one is looked for that is of a node: one of the first few."""

MOVES: Final = 5
"""Times that a read is repeated because its slot has moved."""

REFUSED: Final = (AskError, ClusterDownError, TryAgainError)
"""The replies to a command that was not carried out. A MovedError is an AskError; the others come while a
slot is moved, or has no master."""

Result = TypeVar("Result")


class Moved(RedisConnectionError):
    """The error of a command at a server that does not have the slot any more."""


def following(read: Callable[[], Result]) -> Result:
    """Return the result of ``read``, which is called again if a slot has moved."""
    for _ in range(MOVES):
        with suppress(Moved):
            return read()
    return read()


class Cluster(Servers):
    """The masters of a Redis Cluster. It is connected when that is needed."""

    def __init__(self, urls: Sequence[str]) -> None:
        """urls: of some nodes, by which the others are found. They differ only in the address."""
        self._urls = urls
        self._client: RedisCluster | None = None
        self._servers: dict[str, Server] = {}
        """Address -> each node that was used."""
        self._places: dict[int, tuple[tuple[str, bytes], int]] = {}
        """Slot -> the address and the run of its server, and how often they have changed."""
        self._lock = Lock()
        self._refreshed = 0.0

    def connect(self) -> None:
        self._nodes()

    @property
    def all(self) -> Sequence[Server]:
        masters = self._nodes().get_primaries()  # type: ignore[no-untyped-call] # redis-py's
        return [self._server(node) for node in masters]

    def of(self, name: str) -> Server:
        try:
            node = self._nodes().get_node_from_key(f"{{{name}}}")  # type: ignore[no-untyped-call] # redis-py's
        except SlotNotCoveredError:
            self.refresh()
            raise RedisConnectionError(f"no node of the cluster has the slot of sandbox {name}") from None
        return self._server(node)

    def starts(self, name: str) -> int:
        server, slot = self.of(name), key_slot(f"{{{name}}}".encode())
        place = server.label, server.run
        with self._lock:
            before, changes = self._places.get(slot, (place, 0))
            changes += before != place
            self._places[slot] = place, changes
        return changes

    def refresh(self, failed: str | None = None, *, soon: bool = False) -> None:
        """Read which node has which slots. failed: the address of a node that does not answer. soon: not
        twice within REFRESH_SECONDS."""
        client = self._client
        if client is None or (soon and time.monotonic() - self._refreshed < REFRESH_SECONDS):
            return
        try:
            client.nodes_manager.initialize(last_failed_node_name=failed)
        except (RedisClusterException, RedisError, OSError):
            self._client = None  # all known addresses may be old: begin again with those of the setting
        self._refreshed = time.monotonic()
        known = {node.name for node in client.get_nodes()}  # type: ignore[no-untyped-call] # redis-py's
        with self._lock:
            self._servers = {label: server for label, server in self._servers.items() if label in known}

    def is_replaced(self, label: str) -> bool:
        """Whether the node of this address is known not to be a master any more."""
        client = self._client
        masters = client.get_primaries() if client else []  # type: ignore[no-untyped-call] # redis-py's
        return bool(masters) and all(node.name != label for node in masters)

    def close(self) -> None:
        for server in self._servers.values():
            server.redis.close()
        if self._client:
            self._client.close()

    def _nodes(self) -> RedisCluster:
        client = self._client
        if client is None:
            parts = [urlsplit(url) for url in self._urls]
            nodes = [ClusterNode(each.hostname, each.port or 6379) for each in parts]  # type: ignore[no-untyped-call] # redis-py's
            try:
                client = self._client = RedisCluster(
                    url=self._urls[0],
                    startup_nodes=nodes,
                    # The sandboxes of the other masters go on where one has no replica.
                    require_full_coverage=False,
                    **socket_options(self._urls[0]),
                )
            except RedisClusterException as error:
                if isinstance(error.__cause__, AuthenticationError | RedisClusterException):
                    raise WrongServers(f"REDIS_CLUSTER_URLS: {error.__cause__}") from None
                raise RedisConnectionError(str(error)) from None
        return client

    def _server(self, node: ClusterNode) -> Server:
        with self._lock:
            server = self._servers.get(node.name)
            if server is None:
                server = self._servers[node.name] = Server(
                    node.name,
                    with_address(self._urls[0], node.host, node.port),
                    _client_of(self, node.name),
                    lambda: self._probe_key(node.name),
                )
        return server

    def _probe_key(self, label: str) -> str:
        """Return a key of one of the node's slots; of a node that has none any more, a key that it
        refuses."""
        tags = (str(number) for number in range(PROBED))
        return next((f"{PROBE}:{{{tag}}}" for tag in tags if self.of(tag).label == label), PROBE)


def _client_of(cluster: Cluster, label: str) -> type[Redis]:
    """Return the class of the client of a node: redis-py's, which has the slots read again where the node
    does not have one any more, or does not answer."""

    @contextmanager
    def noticing() -> Iterator[None]:
        try:
            yield
        except REFUSED as error:
            has_moved = isinstance(error, MovedError)
            cluster.refresh(soon=not has_moved)
            kind = Moved if has_moved else RedisConnectionError
            raise kind(f"{label}: {type(error).__name__} {error}") from None
        except (RedisConnectionError, RedisTimeoutError) as error:
            cluster.refresh(label, soon=True)
            if cluster.is_replaced(label):
                raise Moved(str(error)) from error
            raise

    class NodePipeline(Pipeline):
        def execute(self, raise_on_error: bool = True) -> list[Any]:
            with noticing():
                replies = super().execute(raise_on_error)
                for reply in replies:
                    if isinstance(reply, REFUSED):
                        raise reply
            return replies

    class NodeRedis(Redis):
        def execute_command(self, *args: Any, **options: Any) -> Any:
            with noticing():
                return super().execute_command(*args, **options)  # type: ignore[no-untyped-call] # redis-py's

        def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> Pipeline:
            return NodePipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)

    return NodeRedis
