"""A sandbox of the test's own, behind a web server that can go away and come back."""

from collections.abc import Iterator
from pathlib import Path

import kr8s
import pytest
from kr8s._async_utils import as_sync_func

from schedviz.store import Clock, Meta, Sandbox, Store
from schedviz.up.embedded_redis import free_port
from schedviz.up.programs import SERVER
from schedviz.web.share.kubeconfig import kubeconfig as kubeconfig_text
from simulator.api import SECOND
from simulator.apiserver.new_cluster import new_cluster
from tests.processes import Process, answers
from tests.waiting import eventually

CREATED = 1_700_000_000


class Server:
    """A web server that stops and starts at the same address."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._port = free_port()
        self._process: Process | None = None
        self.url = f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        process = self._process = Process(
            ["-m", SERVER, f"--port={self._port}"], self._directory / "server.log"
        )
        eventually(lambda: process.alive() and answers(f"{self.url}/healthz"), "the server answers")

    def kill(self) -> None:
        assert self._process
        self._process.kill()


def write_kubeconfig(directory: Path, address: str) -> Path:
    """The file that the page of a sandbox offers."""
    path = directory / "kubeconfig"
    path.write_text(kubeconfig_text("sandbox", address, token=""))
    return path


@pytest.fixture
def own_server(redis_url: str, tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def cluster(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    """A sandbox with what every cluster has. Its time stands still: only the test and its client act."""
    meta = Meta(name=sandbox_name, created=CREATED)
    clock = Clock(sim=CREATED * SECOND, wall=CREATED, paused=True)
    yield store.create(meta, new_cluster([], clock.sim), clock)
    store.delete(sandbox_name)


@pytest.fixture
def kubeconfig(server: str, cluster: Sandbox, tmp_path: Path) -> Path:
    return write_kubeconfig(tmp_path, f"{server}/s/{cluster.name}")


@pytest.fixture
def api(kubeconfig: Path) -> Iterator[kr8s.Api]:
    """The API of kr8s for the sandbox."""
    found = kr8s.api(kubeconfig=str(kubeconfig))
    yield found
    if found._session:  # kr8s has no other way to close its connections
        as_sync_func(found._session.aclose)()
