"""A cluster that is connected as from the page: from the kubeconfig to its page, and what is left of the
credentials."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

import pytest
from redis import Redis

from schedviz.loop.mirror_silence import ENDED
from schedviz.store import NoSandbox, Store
from schedviz.store.connected_mirrors import ConnectedMirrors
from schedviz.up.mirror_keeper import MirrorKeeper
from schedviz.up.supervisor import Supervisor
from tests.access.conftest import new_client
from tests.kubectl_plugin.api_server import write_kubeconfig
from tests.loop.conftest import node, pod
from tests.loop.world import World
from tests.mirror.proxy import Proxy
from tests.stored_json import stored_json
from tests.waiting import PATIENCE

TOKEN, PASSWORD = "t0ken-of-jane", "passw0rd-of-jane"


def all_stored(redis: Redis) -> str:
    """All that Redis holds, as it is stored."""
    readers: dict[bytes, Callable[[bytes], object]] = {
        b"string": redis.get,
        b"hash": redis.hgetall,
        b"list": lambda key: redis.lrange(key, 0, -1),
        b"set": redis.smembers,
        b"zset": lambda key: redis.zrange(key, 0, -1),
        b"stream": redis.xrange,
    }
    found = ((key, redis.type(key)) for key in redis.scan_iter())
    return repr([(key, readers[kind](key)) for key, kind in found if kind in readers])


@pytest.fixture
def kubeconfig(
    world: World, proxy: Proxy, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one of the user, with credentials for the cluster of ``world``."""
    world.create(node("n0"), pod("a"))
    world.slice()
    address = proxy.address.replace("://", f"://jane:{PASSWORD}@")
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "kubeconfig", address, token=TOKEN)))
    monkeypatch.setenv("REDIS_URL", store.redis_url)


@pytest.mark.long
async def test_a_connected_cluster_leads_to_its_page_and_its_credentials_stay_in_the_process(
    kubeconfig: None, store: Store, mirrors: ConnectedMirrors, sandbox_name: str
) -> None:
    client = new_client()
    lines: list[str] = []
    pages = ""

    async def eventually(look: Callable[[], object]) -> None:
        while not await asyncio.to_thread(look):
            assert not keeper.done(), keeper
            await asyncio.sleep(0.02)

    def get(path: str) -> bool:
        nonlocal pages
        answer = client.get(path)
        pages += answer.content.decode()
        return answer.status_code == HTTPStatus.FOUND

    keeper = asyncio.create_task(MirrorKeeper(store, ["prod"]).run(Supervisor((), lines.append)._run_once))
    try:
        async with asyncio.timeout(PATIENCE):
            await eventually(mirrors.offered)
            await asyncio.to_thread(client.post, "/connect/", {"context": "prod", "name": sandbox_name})
            await eventually(lambda: get(f"/connect/{sandbox_name}/"))
            for path in ("/connect/", f"/s/{sandbox_name}/", f"/s/{sandbox_name}/download/objects/"):
                await asyncio.to_thread(get, path)
            assert "Mirror of the cluster <b>prod</b>" in pages
            assert store.handle(sandbox_name).get("pods", "default/a")
            stored = all_stored(store.redis) + stored_json(store).decode()
            assert sandbox_name in stored
            for secret in (TOKEN, PASSWORD):
                assert secret not in stored
                assert secret not in pages
                assert secret not in "\n".join(lines)
            await asyncio.to_thread(client.post, f"/connect/{sandbox_name}/disconnect/")
            await eventually(
                lambda: (failure := store.handle(sandbox_name).failure()) and failure.message == ENDED
            )
    finally:
        keeper.cancel()
        with suppress(asyncio.CancelledError):
            await keeper
        with suppress(NoSandbox):
            store.delete(sandbox_name)
