"""The server under load, and what clients send to it over HTTP."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final

import aiohttp

from schedviz.api import write
from schedviz.store import Meta, Sandbox, Store
from simulator.scenario import DEFAULT_PACE

PATIENCE: Final = 90.0
"""Seconds for an answer, and for a pod to be shown."""

KEPT_ALIVE_SECONDS: Final = 4.0
"""How long a connection is kept without a request: the server closes it after five."""

NODE_CPU, NODE_PODS = "64", "1000"
POD_CPU = "10m"


class Site:
    """``errors``: what went wrong in any request or websocket."""

    def __init__(self, port: int, store: Store, session: aiohttp.ClientSession) -> None:
        self.origin = f"http://127.0.0.1:{port}"
        self.socket_origin = f"ws://127.0.0.1:{port}"
        self.store = store
        self.session = session
        self.errors: list[str] = []

    async def get(self, path: str, headers: dict[str, str] | None = None) -> bytes:
        """The body of the answer."""
        return await self._send("GET", path, headers=headers)

    async def create_pod(self, sandbox: str, name: str) -> None:
        """As ``kubectl create`` does."""
        await self._send("POST", f"/s/{sandbox}/api/v1/namespaces/default/pods", json=pod(name))

    async def _send(self, method: str, path: str, **options: Any) -> bytes:
        try:
            async with self.session.request(method, self.origin + path, **options) as response:
                body = await response.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            self.errors.append(f"{method} {path}: {type(error).__name__}: {error}")
            return b""
        if response.status >= 400:
            self.errors.append(f"{method} {path}: {response.status} {body[:200]!r}")
        return body


@asynccontextmanager
async def opened(port: int, store: Store, connections: int = 0) -> AsyncIterator[Site]:
    """``connections``: how many there are at most at one time; 0 for as many as are needed."""
    connector = aiohttp.TCPConnector(limit=connections, keepalive_timeout=KEPT_ALIVE_SECONDS)
    patience = aiohttp.ClientTimeout(total=None, sock_read=PATIENCE)
    async with aiohttp.ClientSession(connector=connector, timeout=patience) as session:
        yield Site(port, store, session)


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


def pod(name: str) -> dict[str, Any]:
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": POD_CPU}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container]},
    }
