"""The hub on a real Redis: it sends the whole page, then the changes, in numbered frames; and slow viewers,
and viewers without Redis."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from schedviz.cache import follower
from schedviz.live import hub as module
from schedviz.live import lifecycle
from schedviz.live.hub import Hub
from schedviz.live.hubs import Hubs
from schedviz.live.probe import Probe
from schedviz.live.slot import Frame
from schedviz.live.viewer import Viewer
from schedviz.live.watched import WatchedSandbox
from schedviz.loop.doorbell import ring
from schedviz.store import Commit, Meta, Sandbox, Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from schedviz.web.page.screen import DEFAULT, Look, look
from schedviz.web.parts.parts import digests
from simulator.api import Change
from tests.round_trips import round_trips
from tests.waiting import PATIENCE
from tests.web.page_model import Page
from tests.web.samples import node, pod


class Watcher:
    """A viewer in the place of a page: it keeps the latest of each part, makes the swaps, and checks the
    frames' numbers."""

    def __init__(self, *, says_shown: bool = False) -> None:
        self.closed: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.viewer = Viewer("en", self._close, DEFAULT, says_shown=says_shown)
        self.page: dict[str, str] = {}
        self.frames: list[Frame] = []
        self.tree = Page("")

    async def _close(self, code: int) -> None:
        self.closed.set_result(code)

    async def frame(self) -> Frame:
        async with asyncio.timeout(PATIENCE):
            frame = await self.viewer.slot.take()
        assert frame.after == 0 or frame.after == self.frames[-1].seq
        self.frames.append(frame)
        self.page.update(frame.parts)
        if frame.after == 0:
            self.tree = Page("".join(frame.parts.values()))
        else:
            self.tree.take(frame.parts.values())
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


def new_hub(store: Store, name: str) -> Hub[Look]:
    return Hub(WatchedSandbox(store, name), Probe(store))


def join(hubs: Hubs, store: Store, name: str, watcher: Watcher) -> Hub[Look]:
    return hubs.join(store, name, watcher.viewer, lambda: WatchedSandbox(store, name))


@pytest.fixture
async def hub(store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hub[Look]]:
    # What a test writes before the first viewer joins takes as long as the machine lets it.
    monkeypatch.setattr(lifecycle, "LINGER_SECONDS", PATIENCE)
    hub = new_hub(store, sandbox.name)
    yield hub
    await hub.stop()


async def commit(sandbox: Sandbox, changes: list[Change]) -> None:
    """Write and ring the doorbell, as all writers do."""
    await asyncio.to_thread(sandbox.commit, Commit(changes))
    ring(sandbox.name)


async def test_a_viewer_gets_the_whole_page_and_then_what_changed(hub: Hub[Look], sandbox: Sandbox) -> None:
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


async def test_a_notice_that_comes_before_the_whole_page_is_in_it(
    store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sandbox may still be read for the first frame when the hub finds that no worker is alive."""
    monkeypatch.setattr(module, "CHECK_SECONDS", 0.01)
    checked = threading.Event()

    class Probing(Probe):
        asked = 0

        async def ask(self, *, anew: bool = False) -> None:
            await super().ask(anew=anew)
            self.asked += 1
            if self.asked == 2:  # so what the first answer said is shown
                checked.set()

    class ReadLate(WatchedSandbox):
        def refresh(self) -> None:
            assert checked.wait(PATIENCE)
            super().refresh()

    hub = Hub(ReadLate(store, sandbox.name), Probing(store))
    watcher = Watcher()
    hub.join(watcher.viewer)
    whole = await watcher.frame()
    assert "nodes" in whole.parts
    assert "No worker is running" in whole.parts["trouble"]
    await hub.stop()


async def test_the_first_frame_leaves_out_what_the_page_has(hub: Hub[Look], sandbox: Sandbox) -> None:
    await commit(sandbox, nodes("first"))
    first, second = Watcher(), Watcher()
    hub.join(first.viewer)
    second.viewer.held = digests((await first.frame()).parts)
    await commit(sandbox, nodes("second"))
    hub.join(second.viewer)
    frame = await second.frame()
    assert frame.after == 0
    assert ">second</a>" in frame.parts["nodes"]
    assert not {"lane-activeQ", "cycle", "log"} & frame.parts.keys()


async def test_a_second_viewer_is_whole_without_disturbing_the_first(
    hub: Hub[Look], sandbox: Sandbox
) -> None:
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


async def test_a_burst_of_writes_gives_few_frames(hub: Hub[Look], sandbox: Sandbox) -> None:
    watcher = Watcher()
    hub.join(watcher.viewer)
    await watcher.frame()
    # In this thread, which is the hub's too: it goes on when they are all written.
    for number in range(200):
        sandbox.commit(Commit(pods(f"p{number}")))
    sandbox.commit(Commit(nodes("the-last")))
    await watcher.until(">the-last</a>")
    assert len(watcher.frames) < 20
    assert "<b>201</b> pending" not in watcher.page["pending"]
    assert "<b>200</b> pending" in watcher.page["pending"]


async def test_a_viewer_that_does_not_take_its_frames_gets_them_merged(
    hub: Hub[Look], sandbox: Sandbox
) -> None:
    quick, slow = Watcher(), Watcher()
    for watcher in (quick, slow):
        hub.join(watcher.viewer)
        await watcher.frame()
    for name in ("a", "b", "c"):
        await commit(sandbox, pods(name))
        await quick.until(f">{name}<")
    frame = await slow.frame()
    assert (frame.after, frame.seq) == (slow.frames[0].seq, quick.frames[-1].seq)
    assert str(slow.tree) == str(quick.tree)


async def test_a_viewer_that_is_late_for_long_is_disconnected_and_may_reconnect(
    hub: Hub[Look], sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not one that shows a frame for so long, and says when it has."""
    monkeypatch.setattr(module, "CHECK_SECONDS", 0.01)
    monkeypatch.setattr(module, "LAG_SECONDS", 0.1)
    slow, late = Watcher(says_shown=True), Watcher()
    hub.join(slow.viewer)
    await slow.frame()
    await commit(sandbox, pods("web"))
    hub.join(late.viewer)
    assert await late.code() == 1013
    assert not slow.closed.done()
    slow.viewer.slot.note_shown(slow.frames[-1].seq)
    await slow.until(">web<")


async def test_changes_that_are_in_no_stream_are_read_at_the_doorbell(
    hub: Hub[Look], sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "LOOK_SECONDS", 1000.0)
    watcher = Watcher()
    hub.join(watcher.viewer)
    await watcher.frame()
    clock = await asyncio.to_thread(sandbox.clock)
    await asyncio.to_thread(sandbox.set_clock, clock.rebased(time.time(), paused=True))
    ringing = asyncio.create_task(keep_ringing(sandbox.name))
    await watcher.until("Resume")
    ringing.cancel()


async def test_a_frame_makes_no_round_trip_beside_those_of_the_cache(
    hub: Hub[Look], sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "LOOK_SECONDS", 1000.0)
    monkeypatch.setattr(module, "CHECK_SECONDS", 1000.0)
    first, second = Watcher(), Watcher()
    for watcher in (first, second):
        hub.join(watcher.viewer)
        await watcher.frame()
    ringing = asyncio.create_task(keep_ringing(sandbox.name))
    await commit(sandbox, pods("before"))
    await first.until(">before<")
    ringing.cancel()
    with round_trips() as count:
        for name in ("a", "b", "c"):
            await commit(sandbox, pods(name))
            await first.until(f">{name}<")
        await second.until(">c<")
    # A commit and a read each, and reads for the last messages from before.
    assert 6 <= count() <= 8


async def keep_ringing(name: str) -> None:
    """The hub joins the doorbell's group when it is ready. It gets no message that was sent before."""
    while True:
        ring(name)
        await asyncio.sleep(0.05)


async def test_changes_are_read_after_a_lost_doorbell(
    hub: Hub[Look], sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Watcher()
    hub.join(watcher.viewer)
    await watcher.frame()
    clock = await asyncio.to_thread(sandbox.clock)
    await asyncio.to_thread(sandbox.set_clock, clock.rebased(time.time(), paused=True))
    await watcher.until("Resume")


async def test_a_viewer_that_left_while_its_page_was_drawn_is_forgotten(
    hub: Hub[Look], sandbox: Sandbox
) -> None:
    first, hasty = Watcher(), Watcher()
    hub.join(first.viewer)
    await first.frame()
    hub.join(hasty.viewer)
    await asyncio.sleep(0)  # the hub begins to draw for it
    hub.leave(hasty.viewer)
    await commit(sandbox, pods("web"))
    await first.until(">web<")
    assert hub.viewers == 1


async def test_a_visitor_gets_frames_though_a_laggard_disconnects_after_the_last_leave(
    hub: Hub[Look], sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "LINGER_SECONDS", 0.5)
    monkeypatch.setattr(module, "LAG_SECONDS", 0.1)
    laggard, last, visitor = Watcher(), Watcher(), Watcher()
    hub.join(laggard.viewer)
    assert await laggard.code() == 1013
    monkeypatch.setattr(module, "LAG_SECONDS", 1000.0)
    hub.join(last.viewer)
    await last.frame()
    hub.leave(last.viewer)
    hub.leave(laggard.viewer)
    hub.join(visitor.viewer)
    await visitor.frame()
    # Timers end in the order of their times: one that is left from a leave ends before this one.
    await asyncio.sleep(lifecycle.LINGER_SECONDS)
    await commit(sandbox, pods("web"))
    await visitor.until(">web<")


async def test_viewers_of_a_deleted_sandbox_are_disconnected_without_reconnection(
    hub: Hub[Look], sandbox: Sandbox, store: Store
) -> None:
    watcher = Watcher()
    hub.join(watcher.viewer)
    await watcher.frame()
    await asyncio.to_thread(store.delete, sandbox.name)
    assert await watcher.code() == 4404


async def test_messages_of_a_closed_viewer_are_ignored(hub: Hub[Look], sandbox: Sandbox) -> None:
    first, closed = Watcher(), Watcher()
    for watcher in (first, closed):
        hub.join(watcher.viewer)
        await watcher.frame()
    hub.leave(closed.viewer)
    hub.look(closed.viewer, look("namespace", "web"))
    hub.look(closed.viewer, look("", "web"))
    await commit(sandbox, pods("web"))
    await first.until(">web<")
    assert hub.viewers == 1


async def test_after_a_hub_has_ended_the_next_viewer_gets_another_one(sandbox: Sandbox, store: Store) -> None:
    hubs, first, second, third = Hubs(), Watcher(), Watcher(), Watcher()
    hub = join(hubs, store, sandbox.name, first)
    await first.frame()
    assert join(hubs, store, sandbox.name, second) is hub
    await asyncio.to_thread(store.delete, sandbox.name)
    assert await first.code() == await second.code() == 4404
    made = await asyncio.to_thread(store.create, Meta(sandbox.name), nodes("anew"))
    another = join(hubs, store, made.name, third)
    assert another is not hub
    await third.until(">anew</a>")
    await another.stop()


async def test_a_page_continues_after_a_restart_of_redis(tmp_path: Path) -> None:
    port = free_port()
    with lock(tmp_path) as held:
        server = EmbeddedRedis.start(tmp_path, held, port, "secret")
        store = Store(server.url)
        sandbox = store.create(Meta(name="a"), nodes("first"))
        hub, watcher = new_hub(store, "a"), Watcher()
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


async def test_changes_that_a_request_rendered_are_in_the_next_frame_too(
    hub: Hub[Look], sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Watcher()
    hub.join(watcher.viewer)
    await watcher.frame()
    assert isinstance(hub._watched, WatchedSandbox)
    screens, cache = hub._watched.screens, hub._watched._cache
    for number in range(3):

        def request(name: str = f"p{number}") -> None:
            with screens.lock:  # no frame is drawn meanwhile
                sandbox.commit(Commit(pods(name)))
                cache.refresh()
                screens.update(cache)
                page = screens.page("zh-hans", look("", "web"))
            assert any(f">{name}<" in html for html in page.values())

        await asyncio.to_thread(request)
        await watcher.until(f">p{number}<")
