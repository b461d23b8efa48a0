"""The hub on a real Redis: whole first, then what changed, in numbered frames; and what becomes of the slow
and of those who meet no Redis."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from schedviz.embedded_redis import EmbeddedRedis, free_port, lock
from schedviz.live import hub as module
from schedviz.live.hub import Hub, Viewer
from schedviz.live.slot import Frame
from schedviz.loop.doorbell import ring
from schedviz.store import Meta, Sandbox, Store
from simulator.api import Change
from tests.web.samples import node, pod

PATIENCE = 10.0


class Watcher:
    """A viewer that plays the page: it keeps the latest of each part and checks the frames' numbers."""

    def __init__(self) -> None:
        self.closed: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.viewer = Viewer("en", self._close)
        self.page: dict[str, str] = {}
        self.frames: list[Frame] = []

    async def _close(self, code: int) -> None:
        self.closed.set_result(code)

    async def frame(self) -> Frame:
        async with asyncio.timeout(PATIENCE):
            frame = await self.viewer.slot.take()
        assert frame.after == 0 or frame.after == self.frames[-1].seq
        self.frames.append(frame)
        self.page.update(frame.parts)
        return frame

    async def until(self, text: str) -> None:
        """Take frames until the page says so."""
        while not any(text in html for html in self.page.values()):
            await self.frame()

    async def code(self) -> int:
        async with asyncio.timeout(PATIENCE):
            return await self.closed


def nodes(*names: str) -> list[Change]:
    return [Change("nodes", name, node(name), 0) for name in names]


def pods(*names: str) -> list[Change]:
    return [Change("pods", f"default/{name}", pod(name), 0) for name in names]


@pytest.fixture
async def hub(store: Store, sandbox: Sandbox) -> AsyncIterator[Hub]:
    hub = Hub(store, sandbox.name)
    yield hub
    await hub.stop()


async def commit(sandbox: Sandbox, changes: list[Change]) -> None:
    await asyncio.to_thread(sandbox.commit, changes)


async def test_a_viewer_gets_the_whole_page_and_then_what_changed(hub: Hub, sandbox: Sandbox) -> None:
    await commit(sandbox, nodes("first"))
    watcher = Watcher()
    hub.join(watcher.viewer)
    whole = await watcher.frame()
    assert whole.after == 0
    assert {"lead", "transport", "lane-activeQ", "nodes", "cycle", "timeline", "log"} <= whole.parts.keys()
    assert ">first</a>" in whole.parts["nodes"]
    await commit(sandbox, pods("web"))
    await watcher.until(">web<")
    assert all("nodes" not in frame.parts for frame in watcher.frames[1:])


async def test_a_second_viewer_is_whole_without_disturbing_the_first(hub: Hub, sandbox: Sandbox) -> None:
    first, second = Watcher(), Watcher()
    hub.join(first.viewer)
    await first.frame()
    await commit(sandbox, pods("web"))
    await first.until(">web<")
    hub.join(second.viewer)
    assert (await second.frame()).after == 0
    assert ">web<" in second.page["lane-arriving"]
    await commit(sandbox, pods("next"))
    await first.until(">next<")
    await second.until(">next<")
    assert all(frame.after for frame in first.frames[1:])


async def test_a_burst_of_writes_is_a_few_frames(hub: Hub, sandbox: Sandbox) -> None:
    watcher = Watcher()
    hub.join(watcher.viewer)
    await watcher.frame()
    began = time.monotonic()
    for number in range(200):
        await commit(sandbox, pods(f"p{number}"))
    await commit(sandbox, nodes("the-last"))
    await watcher.until(">the-last</a>")
    most = (time.monotonic() - began) / module.FRAME_SECONDS + 2
    assert len(watcher.frames) <= min(most, 200)
    assert ">201 pending<" not in watcher.page["pending"]
    assert ">200 pending<" in watcher.page["pending"]


async def test_a_viewer_that_does_not_take_its_frames_gets_them_as_one(hub: Hub, sandbox: Sandbox) -> None:
    quick, slow = Watcher(), Watcher()
    for watcher in (quick, slow):
        hub.join(watcher.viewer)
        await watcher.frame()
    for name in ("a", "b", "c"):
        await commit(sandbox, pods(name))
        await quick.until(f">{name}<")
    frame = await slow.frame()
    assert (frame.after, frame.seq) == (slow.frames[0].seq, quick.frames[-1].seq)
    assert {name: slow.page[name] for name in quick.page} == quick.page


async def test_a_viewer_that_lags_for_long_is_asked_to_come_back(
    hub: Hub, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LAG_SECONDS", 0.1)
    watcher = Watcher()
    hub.join(watcher.viewer)
    assert await watcher.code() == 1013


async def test_what_no_stream_carries_comes_with_the_bell(
    hub: Hub, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", 1000.0)
    watcher = Watcher()
    hub.join(watcher.viewer)
    await watcher.frame()
    clock = await asyncio.to_thread(sandbox.clock)
    await asyncio.to_thread(sandbox.set_clock, clock.rebased(time.time(), paused=True))
    ringing = asyncio.create_task(keep_ringing(sandbox.name))
    await watcher.until("Resume")
    ringing.cancel()


async def keep_ringing(name: str) -> None:
    """The hub joins the bell's group when it is ready to; who rings before is not heard."""
    while True:
        ring(name)
        await asyncio.sleep(0.05)


async def test_a_lost_bell_is_made_up_for(
    hub: Hub, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Watcher()
    hub.join(watcher.viewer)
    await watcher.frame()
    clock = await asyncio.to_thread(sandbox.clock)
    await asyncio.to_thread(sandbox.set_clock, clock.rebased(time.time(), paused=True))
    await watcher.until("Resume")


async def test_a_viewer_that_left_while_its_page_was_drawn_is_forgotten(hub: Hub, sandbox: Sandbox) -> None:
    first, hasty = Watcher(), Watcher()
    hub.join(first.viewer)
    await first.frame()
    hub.join(hasty.viewer)
    await asyncio.sleep(0)  # the hub begins to draw for it
    hub.leave(hasty.viewer)
    await commit(sandbox, pods("web"))
    await first.until(">web<")
    assert hub.viewers == 1


async def test_viewers_of_a_deleted_sandbox_are_sent_away_for_good(
    hub: Hub, sandbox: Sandbox, store: Store
) -> None:
    watcher = Watcher()
    hub.join(watcher.viewer)
    await watcher.frame()
    await asyncio.to_thread(store.delete, sandbox.name)
    assert await watcher.code() == 4404


async def test_a_page_outlives_a_restart_of_redis(tmp_path: Path) -> None:
    port = free_port()
    with lock(tmp_path) as held:
        server = EmbeddedRedis.start(tmp_path, held, port, "secret")
        store = Store(server.url)
        sandbox = store.create(Meta(name="a"), nodes("first"))
        hub, watcher = Hub(store, "a"), Watcher()
        hub.join(watcher.viewer)
        await watcher.frame()
        server.stop()
        await watcher.until("Redis does not answer")
        server = EmbeddedRedis.start(tmp_path, held, port, "secret")
        while (await watcher.frame()).after:
            pass
        assert "Redis does not answer" not in watcher.page["trouble"]
        await commit(sandbox, nodes("second"))
        await watcher.until(">second</a>")
        await hub.stop()
        store.close()
        server.stop()
