"""The viewers for which a process renders: a bounded number at the same time, and none with a hidden page."""

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.routing import URLRouter
from django.conf import settings

from schedviz.live import consumers
from schedviz.live.hubs import Hubs
from schedviz.live.routing import websocket_urlpatterns
from schedviz.live.viewer import TRY_AGAIN_LATER
from schedviz.live.watched import WatchedRoom, room_key
from schedviz.rooms.access import teacher_cookie
from schedviz.rooms.room import Room, What
from schedviz.rooms.room_store import Rooms
from schedviz.store import Commit, Sandbox, Store
from schedviz.web.rooms import screens as room_screens
from schedviz.web.rooms.screens import RoomNow, read_room
from simulator.api import Change
from simulator.client.informer import Pipeline, Stage
from tests.waiting import PATIENCE
from tests.web.samples import pod

AT_MOST = 3
NEWCOMERS = 8


@pytest.fixture
async def hubs(monkeypatch: pytest.MonkeyPatch, store: Store, sandbox: Sandbox) -> AsyncIterator[Hubs]:
    hubs = Hubs()
    monkeypatch.setattr(consumers, "HUBS", hubs)
    monkeypatch.setitem(settings.LIMITS, "MAX_SOCKETS", AT_MOST)
    yield hubs
    if sandbox.name in hubs._hubs:
        await hubs._hubs[sandbox.name].stop()


class Socket(ApplicationCommunicator):  # type: ignore[misc] # asgiref ships no types of it
    """A websocket without a server."""

    def __init__(self, sandbox: Sandbox, query: str = "") -> None:
        path = f"/s/{sandbox.name}/live/"
        scope = {"type": "websocket", "path": path, "query_string": query.encode(), "headers": []}
        super().__init__(URLRouter(websocket_urlpatterns), scope)

    async def connect(self) -> None:
        await self.send_input({"type": "websocket.connect"})
        assert (await self.receive_output(PATIENCE))["type"] == "websocket.accept"

    async def frame(self) -> str:
        """The next message that is not a beat."""
        while (text := str((await self.receive_output(PATIENCE))["text"])) == consumers.BEAT:
            pass
        return text

    async def say(self, **fields: object) -> None:
        await self.send_input({"type": "websocket.receive", "text": json.dumps(fields)})

    async def disconnect(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1001})
        await self.wait(PATIENCE)


async def connected(sandbox: Sandbox, query: str = "") -> Socket:
    socket = Socket(sandbox, query)
    await socket.connect()
    return socket


async def test_one_of_many_viewers_gets_the_last_place_while_others_wait_for_their_page(
    hubs: Hubs, store: Store, sandbox: Sandbox
) -> None:
    watching = [await connected(sandbox) for _ in range(AT_MOST - 1)]
    hub = hubs._hubs[sandbox.name]
    for socket in watching:
        await socket.frame()
    # From here on no page is drawn: who connects waits for the first frame.
    lock = hub._watched.screens.lock
    await asyncio.to_thread(lock.acquire)
    try:
        newcomers = [await connected(sandbox)]
        while hub._newcomers:  # until it begins to draw the first one's page
            await asyncio.sleep(0.001)
        newcomers += [await connected(sandbox) for _ in range(NEWCOMERS - 1)]
    finally:
        lock.release()
    served, *refused = newcomers
    for socket in refused:
        assert (await socket.receive_output(PATIENCE))["code"] == TRY_AGAIN_LATER
    assert 'id="frame"' in await served.frame()
    await served.disconnect()
    again = await connected(sandbox)
    assert 'id="frame"' in await again.frame()
    for socket in (again, *watching):
        await socket.disconnect()


async def test_a_hidden_page_gets_frames_when_it_is_shown_again(
    hubs: Hubs, store: Store, sandbox: Sandbox
) -> None:
    socket = await connected(sandbox)
    await socket.frame()
    hub = hubs._hubs[sandbox.name]
    await socket.say(hidden=True)
    while hub.viewers:
        await asyncio.sleep(0.001)
    await asyncio.to_thread(sandbox.commit, Commit([Change("pods", "default/web", pod("web"), 0)]))
    await socket.say(q="web", group="")
    await socket.say(hidden=False)
    whole = await socket.frame()
    assert 'data-after="0"' in whole
    assert ">web<" in whole
    assert "1 pod, 0 nodes" in whole, "the filter that was chosen meanwhile"
    await socket.disconnect()


def seq_of(frame: str) -> int:
    found = re.search(r'data-seq="(\d+)"', frame)
    assert found
    return int(found[1])


async def test_a_page_that_says_what_it_has_shown_gets_the_next_frame_then(
    hubs: Hubs, monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox
) -> None:
    """Until then it gets beats, and the frames are merged. A page that does not say it gets each frame at
    once."""
    monkeypatch.setattr(consumers, "BEAT_SECONDS", 0.01)
    page, other = await connected(sandbox, "shown=1"), await connected(sandbox)
    shown = seq_of(await page.frame())
    names = ["one", "two"]
    for name in names:
        await asyncio.to_thread(sandbox.commit, Commit([Change("pods", f"default/{name}", pod(name), 0)]))
        while f">{name}<" not in await other.frame():
            pass
    await page.say(shown=shown + 1)  # it was not sent this frame
    beats = [(await page.receive_output(PATIENCE))["text"] for _ in range(10)]
    assert beats == [consumers.BEAT] * 10
    await page.say(shown=shown)
    frame = await page.frame()
    assert f'data-after="{shown}"' in frame
    assert all(f">{name}<" in frame for name in names)
    assert 'data-waited="0.0"' not in frame, "the beats took a tenth of a second"
    assert 'data-waited="' in frame
    for socket in (page, other):
        await socket.disconnect()


async def test_messages_of_a_page_wait_for_no_thread(hubs: Hubs, sandbox: Sandbox) -> None:
    is_free = threading.Event()
    other = asyncio.ensure_future(sync_to_async(is_free.wait)())
    try:
        page = await connected(sandbox, "shown=1")
        shown = seq_of(await page.frame())
        await asyncio.to_thread(sandbox.commit, Commit([Change("pods", "default/web", pod("web"), 0)]))
        await page.say(shown=shown)
        assert ">web<" in await page.frame()
    finally:
        is_free.set()
    await other
    await page.disconnect()


async def test_the_informer_is_rendered_only_for_pages_that_show_it(
    hubs: Hubs, store: Store, sandbox: Sandbox
) -> None:
    folded, unfolded = [await connected(sandbox) for _ in range(2)]
    for socket in (folded, unfolded):
        await socket.frame()
    await unfolded.say(informer="1")
    assert '<ol id="informer"' in await unfolded.frame()
    stage = Stage(1, [])
    pipeline = Pipeline(1, 1, 0, stage, stage, stage, stage)
    await asyncio.to_thread(
        sandbox.commit, Commit([Change("pods", "default/web", pod("web"), 0)], pipeline=pipeline)
    )
    frame = await unfolded.frame()
    assert '<ol id="informer"' in frame
    assert "reflector" in frame
    assert '<ol id="informer"' not in await folded.frame()
    for socket in (folded, unfolded):
        await socket.disconnect()


class RoomSocket(Socket):
    """The websocket of the teacher's view or the projector of a room."""

    def __init__(self, room: Room, token: str, page: str = "teach") -> None:
        """token: the teacher's."""
        scope = {
            "type": "websocket",
            "path": f"/rooms/{room.code}/live/",
            "query_string": f"lang=en&page={page}".encode(),
            "headers": [(b"cookie", f"{teacher_cookie(room.code)}={token}".encode())],
        }
        super(Socket, self).__init__(URLRouter(websocket_urlpatterns), scope)


async def test_a_room_is_read_once_for_all_its_viewers(
    hubs: Hubs, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    monkeypatch.setitem(settings.LIMITS, "MAX_SOCKETS", 10)
    monkeypatch.setattr(WatchedRoom, "read_seconds", None)
    reads: list[str] = []

    def read(store: Store, code: str) -> RoomNow:
        reads.append(code)
        return read_room(store, code)

    monkeypatch.setattr(room_screens, "read_room", read)
    room, token = Rooms(store).create("Monday", What("course"), "own", 3600)
    sockets = [RoomSocket(room, token, page) for page in ("teach", "teach", "projector")]
    for socket in sockets:
        await socket.connect()
        assert 'data-after="0"' in await socket.frame()
    hub = hubs._hubs[room_key(room.code)]
    reads.clear()
    for name in ("Ada", "Bo"):
        await asyncio.to_thread(Rooms(store).join, room, name)
        hub.ring()
        frames = [await socket.frame() for socket in sockets]
        assert [name in frame for frame in frames] == [True, True, False], "the projector shows no names"
        assert ["learner" in frame for frame in frames] == [True, True, True]
    assert reads == [room.code] * 2
    assert "Ada" not in frames[0].replace(">Ada</option>", ""), "only the new line of the table"
    for socket in sockets:
        await socket.disconnect()
    await hub.stop()


async def test_the_pages_of_one_room_take_a_part_of_the_places(
    hubs: Hubs, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    monkeypatch.setitem(settings.LIMITS, "MAX_SOCKETS", 10)
    monkeypatch.setattr(consumers, "VIEWERS_PER_ROOM_AT_MOST", 2)
    rooms = [Rooms(store).create("Monday", What("course"), "own", 3600) for _ in range(2)]

    async def connect(room: Room, token: str) -> tuple[RoomSocket, str]:
        socket = RoomSocket(room, token)
        await socket.connect()
        answer = await socket.receive_output(PATIENCE)
        return socket, str(answer.get("code", answer["type"]))

    sockets = [await connect(*each) for each in (rooms[0], rooms[0], rooms[0], rooms[1])]
    assert [answer for _, answer in sockets] == [
        "websocket.send",
        "websocket.send",
        str(TRY_AGAIN_LATER),
        "websocket.send",
    ]
    for socket, answer in sockets:
        if answer == "websocket.send":
            await socket.disconnect()
    for room, _ in rooms:
        await hubs._hubs[room_key(room.code)].stop()
