"""A Redis Cluster on loopback, of the packaged server."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from redis import Redis

from schedviz.up.embedded_redis import Address, EmbeddedRedis, free_port, lock
from tests.waiting import eventually

PASSWORD: Final = "secret"
SLOTS: Final = 16384
NODE_TIMEOUT: Final = 1000
"""Milliseconds without an answer after which a node counts as failed."""


class Node(EmbeddedRedis):
    """A node. ``bus``: the port at which the nodes reach each other."""

    def __init__(self, directory: Path, lock_fd: int, address: Address, memory_mb: int) -> None:
        self.bus = free_port()
        lines = (
            "cluster-enabled yes",
            f"cluster-port {self.bus}",
            f"cluster-node-timeout {NODE_TIMEOUT}",
            "cluster-require-full-coverage no",
            f"primaryauth {PASSWORD}",
            # A replica may begin with what it has.
            "repl-diskless-sync-delay 0",
        )
        super().__init__(directory, lock_fd, address._replace(conf=(*address.conf, *lines)), memory_mb)
        self.redis = Redis.from_url(self.url)

    def cluster(self, *words: object) -> Any:
        return self.redis.execute_command("CLUSTER", *words)

    def info(self) -> Any:
        return self.redis.cluster("info")


class RedisCluster:
    """Three masters; with ``replicas`` a replica of each. ``masters`` and ``replicas`` are in the same
    order."""

    def __init__(self, directory: Path, ends: ExitStack, *, replicas: bool = False) -> None:
        self.masters = [start(directory / f"master-{number}", ends) for number in range(3)]
        self.replicas = [start(directory / f"replica-{number}", ends) for number in range(3 * replicas)]
        nodes = [*self.masters, *self.replicas]
        for number, node in enumerate(nodes):
            node.cluster("SET-CONFIG-EPOCH", number + 1)
        for number, master in enumerate(self.masters):
            master.cluster("ADDSLOTSRANGE", number * SLOTS // 3, (number + 1) * SLOTS // 3 - 1)
        first, *others = nodes
        for node in others:
            first.cluster("MEET", "127.0.0.1", node.redis.connection_pool.connection_kwargs["port"], node.bus)
        wait(nodes, "all know each other", lambda info: int(info["cluster_known_nodes"]) == len(nodes))
        for master, replica in zip(self.masters, self.replicas, strict=False):
            replica.cluster("REPLICATE", master.cluster("MYID"))
        wait(nodes, "the cluster is there", lambda info: info["cluster_state"] == "ok")
        eventually(
            lambda: all(
                node.redis.info("replication").get("master_link_status") == "up" for node in self.replicas
            ),
            "the replicas have what their masters have",
        )

    @property
    def urls(self) -> list[str]:
        return [node.url for node in self.masters]


def start(directory: Path, ends: ExitStack) -> Node:
    directory.mkdir()
    held = ends.enter_context(lock(directory))
    node = Node.start(directory, held, free_port(), PASSWORD, 64)
    ends.callback(node.stop)
    assert isinstance(node, Node)
    return node


def wait(nodes: list[Node], words: str, is_so: Callable[[Any], bool]) -> None:
    eventually(lambda: all(is_so(node.info()) for node in nodes), words)
