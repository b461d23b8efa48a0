"""A web server and a worker whose sandboxes are on a Redis Cluster, a master of which is killed."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from schedviz.celery import WORKER_ARGUMENTS
from schedviz.loop.leadership import living_workers
from schedviz.store import Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port
from schedviz.up.programs import SERVER
from simulator.api import Manifest
from tests.faults.invariants import assert_no_pod_is_bound_twice, assert_nothing_is_lost
from tests.loop.test_recording import assert_replay_equals
from tests.processes import CELERY, Process, answers
from tests.programs.load.site import Site, create_sandboxes, opened
from tests.programs.load.viewer import Viewer
from tests.programs.load.watched import close_all, faults, open_all
from tests.redis_cluster import RedisCluster
from tests.waiting import PATIENCE, eventually

SANDBOXES = [f"cluster-{number}" for number in range(9)]


class Served:
    """The cluster, and the processes that use it."""

    def __init__(self, main: EmbeddedRedis, directory: Path, ends: ExitStack) -> None:
        self.cluster = RedisCluster(directory, ends, replicas=True)
        self.store = Store(main.url, self.cluster.urls)
        ends.callback(self.store.close)
        environment = {"REDIS_URL": main.url, "REDIS_CLUSTER_URLS": ",".join(self.cluster.urls)}
        self.port = free_port()
        for name, command in {
            "web": ["-m", SERVER, f"--port={self.port}"],
            "worker": [*CELERY, *WORKER_ARGUMENTS],
        }.items():
            ends.callback(Process(command, directory / f"{name}.log", environment).stop)
        eventually(lambda: answers(f"http://127.0.0.1:{self.port}/healthz"), "the server answers")
        eventually(lambda: living_workers(self.store), "the worker lives")


@pytest.fixture
def served(tmp_path: Path, own_redis: EmbeddedRedis) -> Iterator[Served]:
    with ExitStack() as ends:
        yield Served(own_redis, tmp_path, ends)


async def create_pods(site: Site, viewers: list[Viewer], pod: str) -> None:
    """Create a pod in the sandbox of each viewer, and wait until the page shows it bound."""
    for viewer in viewers:
        viewer.expect(pod)
        await site.create_pod(viewer.sandbox, pod)
    for viewer in viewers:
        await viewer.settled(time.monotonic() + PATIENCE)
    assert all(pod.bound for viewer in viewers for pod in viewer.pods)


async def until_served(site: Site, names: list[str]) -> None:
    """Wait until the server reads these sandboxes again, at another node perhaps."""
    deadline = time.monotonic() + PATIENCE
    for name in names:
        while b"NodeList" not in await site.get(f"/s/{name}/api/v1/nodes"):
            assert time.monotonic() < deadline, site.errors[-1]
            await asyncio.sleep(0.05)


def runs(pod: Manifest) -> bool:
    return bool(pod["status"].get("phase") == "Running")


@pytest.mark.long
async def test_the_loops_go_on_when_a_replica_takes_over_and_after_all_nodes_were_away(
    served: Served,
) -> None:
    store, cluster = served.store, served.cluster
    master, replica = cluster.masters[0], cluster.replicas[0]
    create_sandboxes(store, SANDBOXES, nodes=2)
    of_it = [name for name in SANDBOXES if store.servers.of(name).label in master.url]
    assert 0 < len(of_it) < len(SANDBOXES)
    async with opened(served.port, store) as site, opened(served.port, store) as asking:
        viewers = [Viewer(site, name) for name in SANDBOXES]
        others = [viewer for viewer in viewers if viewer.sandbox not in of_it]
        await open_all(viewers)
        await create_pods(site, viewers, "before")
        assert all(node.redis.wait(1, round(PATIENCE * 1000)) for node in cluster.masters), "replicas have it"

        master.process.kill()
        await create_pods(site, others, "while-the-master-is-away")
        assert store.names() == {*SANDBOXES}
        eventually(lambda: replica.redis.info("replication")["role"] == "master", "the replica takes over")
        await until_served(asking, of_it)
        await create_pods(site, viewers, "after")
        assert {store.servers.of(name).label in replica.url for name in of_it if store.exists(name)} == {True}

        replica.stop()
        await create_pods(site, others, "while-none-has-the-slots")
        replica.start_again()
        await until_served(asking, of_it)
        await create_pods(site, viewers, "again")
        assert faults(site, others) == []

        nodes = [*cluster.masters[1:], *cluster.replicas]
        for node in nodes:
            node.stop()
        with pytest.raises(RedisConnectionError):
            store.exists(SANDBOXES[0])
        for node in nodes:
            node.start_again()
        await until_served(asking, SANDBOXES)
        await create_pods(site, viewers, "end")
        await close_all(viewers)
    for name in SANDBOXES:
        sandbox = store.sandbox(name)
        assert sandbox.count("pods") == (4 if name in of_it else 6)
        eventually(lambda sandbox=sandbox: all(map(runs, sandbox.list("pods").items)), "nothing is due")
        assert_no_pod_is_bound_twice(sandbox)
        assert_nothing_is_lost(sandbox, [])
        assert_replay_equals(store, sandbox)
