"""A sandbox that is mirrored into another one, by its own API."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schedviz.mirror.session import Cluster, Session
from schedviz.mirror.writer import Listener
from schedviz.real_cluster.kubeconfig import connect
from schedviz.real_cluster.reader import ClusterReader
from schedviz.store import Sandbox, Store
from simulator.api import Manifest
from simulator.versions.features import DEFAULT_FEATURES
from tests.kubectl_plugin.api_server import write_kubeconfig
from tests.loop.world import World
from tests.mirror.proxy import Proxy, before
from tests.waiting import eventually

TOKEN = "t0k-of-the-cluster"
SKIPPED = ("leases.coordination.k8s.io", "configmaps", "events")


class Mirror:
    """A mirroring process, as a thread of this one."""

    def __init__(self, store: Store, name: str, cluster: Cluster, listener: Listener | None = None) -> None:
        self.said: list[str] = []
        self.failure: Exception | None = None
        self.stopping = threading.Event()
        self._store = store
        self.name = name
        self.session = Session(store, name, cluster, self.said.append, listener=listener)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.session.run(self.stopping)
        except Exception as failure:  # the test asks for it
            self.failure = failure

    @property
    def sandbox(self) -> Sandbox:
        return self._store.handle(self.name)

    def follows(self) -> bool:
        assert self.failure is None, self.failure
        return bool(self.said)

    def stop(self) -> None:
        self.stopping.set()
        self._thread.join()


Start = Callable[..., Mirror]


@pytest.fixture
def world(store: Store) -> World:
    """The sandbox that is mirrored."""
    return World(store, seed=1)


@pytest.fixture
def proxy(server: str, world: World) -> Iterator[Proxy]:
    """The way to its API."""
    with before(f"{server}/s/{world.sandbox.name}") as proxy:
        yield proxy


@pytest.fixture
def cluster_at(tmp_path: Path) -> Callable[[str], Cluster]:
    """Return how to mirror the cluster at an address."""

    def cluster_at(address: str) -> Cluster:
        file = str(write_kubeconfig(tmp_path / "kubeconfig", address, token=TOKEN))
        return Cluster(
            lambda: ClusterReader(connect(file), 10), "prod", address, "v1.36.2", DEFAULT_FEATURES, None
        )

    return cluster_at


@pytest.fixture
def start(
    store: Store, proxy: Proxy, cluster_at: Callable[[str], Cluster], sandbox_name: str
) -> Iterator[Start]:
    """Start to mirror ``world`` into the sandbox of the test's name."""
    started: list[Mirror] = []

    def start(listener: Listener | None = None, *, waits: bool = True) -> Mirror:
        mirror = Mirror(store, sandbox_name, cluster_at(proxy.address), listener)
        started.append(mirror)
        if waits:
            eventually(mirror.follows, "the mirror follows")
        return mirror

    yield start
    for each in started:
        each.stop()


def stored(sandbox: Sandbox) -> dict[str, dict[str, Any]]:
    """Of all objects their identity and what the scheduler reads."""
    objects, _ = sandbox.list_all()
    return {
        resource: {key: identity(manifest) for key, manifest in collection.items()}
        for resource, collection in objects.items()
        if resource not in SKIPPED and collection
    }


def identity(manifest: Manifest) -> Any:
    metadata, spec = manifest["metadata"], manifest.get("spec") or {}
    status = manifest.get("status") or {}
    containers = [(each["name"], each.get("ready")) for each in status.get("containerStatuses") or ()]
    conditions = status.get("conditions") or () if manifest["kind"] == "Pod" else ()
    return (
        *(metadata.get(field) for field in ("uid", "labels", "deletionTimestamp", "ownerReferences")),
        *(spec.get(field) for field in ("nodeName", "containers", "unschedulable", "tolerations")),
        *(status.get(field) for field in ("phase", "allocatable", "nominatedNodeName")),
        [(each["type"], each["status"], each.get("message")) for each in conditions],
        containers,
    )
