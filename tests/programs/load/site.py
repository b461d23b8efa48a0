"""The server under load, and what clients send to it over HTTP."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final, Literal, NamedTuple, TypeVar

import aiohttp
from yarl import URL

from schedviz.api import write
from schedviz.store import Meta, Sandbox, Store
from simulator.scenario import DEFAULT_PACE

PATIENCE: Final = 90.0
"""Seconds for an answer, and for a pod to be shown."""

KEPT_ALIVE_SECONDS: Final = 4.0
"""How long a connection is kept without a request: the server closes it after five."""

NODE_CPU, NODE_PODS = "64", "1000"
POD_CPU = "10m"
LONG_SECONDS: Final = 100_000.0
"""Simulated seconds, more than a measurement lasts."""

WorkloadKind = Literal["Deployment", "Job", "StatefulSet", "DaemonSet"]


class Answer(NamedTuple):
    """``location``: where a redirect leads to. Both are empty where the request failed."""

    body: bytes = b""
    location: str = ""


class Site:
    """``errors``: the errors of all requests and websockets."""

    def __init__(self, port: int, store: Store, session: aiohttp.ClientSession) -> None:
        self.origin = f"http://127.0.0.1:{port}"
        self.socket_origin = f"ws://127.0.0.1:{port}"
        self.store = store
        self.session = session
        self.errors: list[str] = []

    async def get(self, path: str, headers: dict[str, str] | None = None) -> bytes:
        """The body of the answer."""
        return (await self.send("GET", path, headers=headers)).body

    async def create_pod(self, sandbox: str, name: str, lives: float = 0.0) -> None:
        """As ``kubectl create`` does. lives: see :func:`pod`."""
        await self.send("POST", f"/s/{sandbox}/api/v1/namespaces/default/pods", json=pod(name, lives))

    @property
    def cookie_header(self) -> dict[str, str]:
        """The header with which a websocket is opened; {} = there are no cookies."""
        kept = self.session.cookie_jar.filter_cookies(URL(self.origin))
        return {"Cookie": "; ".join(f"{name}={each.value}" for name, each in kept.items())} if kept else {}

    async def send(self, method: str, path: str, **options: Any) -> Answer:
        try:
            async with self.session.request(method, self.origin + path, **options) as response:
                body = await response.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            self.errors.append(f"{method} {path}: {type(error).__name__}: {error}")
            return Answer()
        if response.status >= 400:
            self.errors.append(f"{method} {path}: {response.status} {body[:200]!r}")
        return Answer(body, response.headers.get("Location", ""))


SomeSite = TypeVar("SomeSite", bound=Site)


@asynccontextmanager
async def opened(
    port: int, store: Store, connections: int = 0, kind: type[SomeSite] = Site
) -> AsyncIterator[SomeSite]:
    """``connections``: how many there are at most at one time; 0 for as many as are needed. Cookies are kept
    until it is closed."""
    connector = aiohttp.TCPConnector(limit=connections, keepalive_timeout=KEPT_ALIVE_SECONDS)
    patience = aiohttp.ClientTimeout(total=None, sock_read=PATIENCE)
    cookies = aiohttp.CookieJar(unsafe=True)  # also of an address without a name
    async with aiohttp.ClientSession(connector=connector, timeout=patience, cookie_jar=cookies) as session:
        yield kind(port, store, session)


def create_sandbox(store: Store, name: str, nodes: int) -> Sandbox:
    """A sandbox as the home page makes an empty one, with nodes that have room for all pods."""
    meta = Meta(name=name, created=store.wall(), seed=1, pace=DEFAULT_PACE)
    return write.create_sandbox(store, meta, [node(f"node-{number}") for number in range(nodes)])


def create_sandboxes(store: Store, names: Iterable[str], nodes: int) -> list[Sandbox]:
    return [create_sandbox(store, name, nodes) for name in names]


def node(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": {"cpu": NODE_CPU, "memory": "256Gi", "pods": NODE_PODS}},
    }


def pod(name: str, lives: float = 0.0) -> dict[str, Any]:
    """lives: the simulated seconds that it runs before it is deleted; 0 = without an end."""
    ends = {"schedviz/run-seconds": f"{lives:g}", "schedviz/ttl-seconds-after-finished": "1"}
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": POD_CPU}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "annotations": ends if lives else {}},
        "spec": {"containers": [container]},
    }


def workload(kind: WorkloadKind, pods: int) -> dict[str, Any]:
    """A workload that has so many pods at once. Those of a Job run for LONG_SECONDS: by themselves they end
    before the last ones are bound, and no page shows a pod that has ended on its node."""
    labels, like = {"app": "web"}, pod("web", LONG_SECONDS if kind == "Job" else 0.0)
    spec = like["spec"]
    template = {"metadata": {"labels": labels, "annotations": like["metadata"]["annotations"]}, "spec": spec}
    if kind == "Job":
        spec["restartPolicy"] = "Never"
        counts: dict[str, Any] = {"completions": pods, "parallelism": pods}
    elif kind == "DaemonSet":
        counts = {"selector": {"matchLabels": labels}}
    else:
        counts = {"selector": {"matchLabels": labels}, "replicas": pods}
    if kind == "StatefulSet":
        counts |= {"podManagementPolicy": "Parallel", "serviceName": "web"}
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {**counts, "template": template},
    }
