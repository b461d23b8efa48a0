"""The websockets of live pages: they send frames to the browser, and receive what the page is to show.
Commands of the user are plain HTTP requests."""

import asyncio
from contextlib import suppress
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec
from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from schedviz.access.standing import Standing
from schedviz.limits import pools
from schedviz.limits.open_counts import SOCKETS
from schedviz.limits.requester import requester_of_socket
from schedviz.live.hub import Hub
from schedviz.live.hubs import Hubs
from schedviz.live.room_member import RoomMember
from schedviz.live.viewer import GONE, TRY_AGAIN_LATER, Viewer
from schedviz.live.watched import Chosen, WatchedRoom, WatchedSandbox, room_key
from schedviz.metrics.server import FRAME_BYTES, FRAMES_SENT, VIEWERS, refused
from schedviz.rooms.notify import learners_group, teacher_group
from schedviz.rooms.room import read_code
from schedviz.store.default import default_store
from schedviz.store.exceeded import LimitExceeded
from schedviz.web.page.screen import Look, look
from schedviz.web.rooms.screens import RoomPage
from simulator.kernel.prepared_types import prepared

HUBS = Hubs()

MESSAGE_AT_MOST: Final = 4000
"""Maximum number of characters of one message: the fields of the form, and the headers that htmx adds."""

BEAT_SECONDS: Final = 2.0
"""Seconds without a message after which a viewer is sent BEAT. Its page takes five seconds without a message
for a lost connection (static/js/connection.js)."""
BEAT: Final = "beat"

ROOM_VIEWERS_AT_MOST: Final = 200
"""Maximum number of pages of teachers and projectors that one process serves."""
VIEWERS_PER_ROOM_AT_MOST: Final = 20
"""The same of one room."""

CONNECTED: "Final[set[PageConsumer]]" = set()
"""The consumers of this process that have a viewer."""

VIEWERS.set_function(lambda: len(CONNECTED))


class BrowserMessage(msgspec.Struct):
    """A message of the browser: the form #look, as htmx sends it, or only ``hidden`` or ``shown``."""

    group: str = ""
    q: str = ""
    informer: str = ""
    hidden: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether the page is in a hidden tab."""
    shown: int | msgspec.UnsetType = msgspec.UNSET
    """The number of the frame that the page has shown. A page whose address has the field ``shown`` gets the
    next one then (static/js/frames.js)."""


class UnknownPathConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    """Refuses the handshake; the browser gets 403."""

    async def connect(self) -> None:
        await self.close()


class PageConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # as above
    """The websocket of a page that a hub draws."""

    viewer: Viewer[Any]
    hub: Hub[Any]
    sandbox: str = ""
    """The name of the sandbox for whose limit the connection counts; "" = none."""

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Handle an event. channels closes old connections to a database before each one, in a thread that
        others use, too; these handlers use no database."""
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        fields = parse_qs(self.scope["query_string"].decode("latin-1"))
        self.fields = {field: values[0] for field, values in fields.items()}
        self.prepare(self.scope["url_route"]["kwargs"])
        await self.accept()
        try:
            if full := self.find_full_bound():
                refused(full)
                await self.close(code=TRY_AGAIN_LATER)
                return
            self.leave_count = SOCKETS.enter(
                pools.SOCKETS.shares(requester_of_socket(self.scope), self.sandbox)
            )
        except LimitExceeded:
            await self.close(code=TRY_AGAIN_LATER)
            return
        language = self.fields.get("lang", "")
        known = language in dict(settings.LANGUAGES)
        self.viewer = self.new_viewer(language if known else settings.LANGUAGE_CODE)
        self.hidden = False
        self.hub = self.join()
        CONNECTED.add(self)
        await self.listen()
        self.sender = asyncio.create_task(self._send_frames())

    async def disconnect(self, code: int) -> None:
        CONNECTED.discard(self)
        if hasattr(self, "leave_count"):
            self.leave_count()
        if hasattr(self, "hub"):
            self.hub.leave(self.viewer)
            await self.stop_listening()
        if hasattr(self, "sender"):
            self.sender.cancel()

    def prepare(self, path: dict[str, str]) -> None:
        """Note what the page shows. path: the words of the URL."""

    def find_full_bound(self) -> str:
        """Return the name of the bound that one more page would exceed; "" = none."""
        return ""

    def new_viewer(self, language: str) -> Viewer[Any]:
        raise NotImplementedError

    def viewer_of(self, language: str, chosen: Chosen, standing: Standing | None = None) -> Viewer[Chosen]:
        """Return a viewer as the fields of the address say what the page has, and what it says."""
        held, says_shown = self.fields.get("held", ""), "shown" in self.fields
        return Viewer(language, self.close_page, chosen, standing, held, says_shown=says_shown)

    def join(self) -> Hub[Any]:
        """Add the viewer to the hub of what the page shows."""
        raise NotImplementedError

    async def listen(self) -> None:
        """Listen to messages about a room."""

    async def stop_listening(self) -> None: ...

    def take(self, message: BrowserMessage) -> None:
        """Apply what the form #look says."""

    async def is_recreated(self) -> bool:
        """Whether what was deleted exists again, or soon will."""
        return False

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Apply a :class:`BrowserMessage`; other messages are ignored."""
        if not text_data or len(text_data) > MESSAGE_AT_MOST:
            return
        with suppress(msgspec.DecodeError):
            message = msgspec.json.decode(text_data, type=prepared(BrowserMessage))
            if message.shown is not msgspec.UNSET:
                self.viewer.slot.note_shown(message.shown)
            elif message.hidden is not msgspec.UNSET:
                self._hide(message.hidden)
            else:
                self.take(message)

    def _hide(self, hidden: bool) -> None:
        """Leave the hub while the page is hidden, so that nothing is drawn for it. When it is visible again,
        it joins the hub and gets the whole page."""
        if hidden == self.hidden:
            return
        self.hidden = hidden
        if hidden:
            self.hub.leave(self.viewer)
        else:
            self.hub = self.join()

    async def _send_frames(self) -> None:
        with suppress(Exception):  # the browser has disconnected; disconnect() is called
            while True:
                try:
                    async with asyncio.timeout(BEAT_SECONDS):
                        frame = await self.viewer.slot.take()
                except TimeoutError:
                    await self.send(BEAT)
                else:
                    text = frame.text(self.hub.wall)
                    FRAMES_SENT.inc()
                    FRAME_BYTES.inc(len(text.encode()))
                    await self.send(text)

    async def close_page(self, code: int) -> None:
        """Close the connection, as the hub wants it."""
        self.sender.cancel()
        if code == GONE and await self.is_recreated():
            code = TRY_AGAIN_LATER  # the page is connected again, and loads what is new
        with suppress(Exception):  # the browser has disconnected; disconnect() is called
            await self.close(code=code)


class LiveConsumer(PageConsumer):
    """The websocket of the page of a sandbox."""

    room: RoomMember | None = None

    def prepare(self, path: dict[str, str]) -> None:
        self.sandbox = path["name"]

    def new_viewer(self, language: str) -> Viewer[Look]:
        chosen = look(self.fields.get("group", ""), self.fields.get("q", ""))
        standing = Standing(self.sandbox, self.scope.get("asker"))
        return self.viewer_of(language, chosen, standing)

    def join(self) -> Hub[Look]:
        store, name = default_store(), self.sandbox
        return HUBS.join(store, name, self.viewer, lambda: WatchedSandbox(store, name))

    def take(self, message: BrowserMessage) -> None:
        wanted = look(message.group, message.q, message.informer)
        if self.hidden:
            self.viewer.look = wanted
        else:
            self.hub.look(self.viewer, wanted)

    async def doorbell(self, message: dict[str, Any]) -> None:
        """Note that the room of the sandbox has changed (:mod:`schedviz.rooms.notify`)."""
        if self.room:
            await self.room.send_notice()

    async def listen(self) -> None:
        """Listen to messages of the teacher, if the sandbox is one of a room."""
        participant = self.scope.get("participant")
        if participant is None:
            return
        # An embedded page has no place for the notice.
        send = None if "embed" in self.fields else self.send
        self.room = RoomMember(self.sandbox, participant, self.viewer.language, send)
        with suppress(Exception):  # the layer is away: the notice is shown when the page is loaded again
            await self.channel_layer.group_add(learners_group(self.room.code), self.channel_name)
        # What came since the page was loaded: it may be connected again after Redis or the server was away.
        await self.room.send_notice()

    async def stop_listening(self) -> None:
        if self.room:
            self.room.leave()
            with suppress(Exception):  # as above
                await self.channel_layer.group_discard(learners_group(self.room.code), self.channel_name)

    async def is_recreated(self) -> bool:
        return self.room is not None and await self.room.is_recreated()


class RoomConsumer(PageConsumer):
    """The websocket of the teacher's view and of the projector."""

    code = ""

    def prepare(self, path: dict[str, str]) -> None:
        self.code = read_code(path["code"])

    def find_full_bound(self) -> str:
        connected = [each.code for each in CONNECTED if isinstance(each, RoomConsumer)]
        if len(connected) >= ROOM_VIEWERS_AT_MOST:
            return "ROOM_VIEWERS_AT_MOST"
        return "VIEWERS_PER_ROOM_AT_MOST" if connected.count(self.code) >= VIEWERS_PER_ROOM_AT_MOST else ""

    def new_viewer(self, language: str) -> Viewer[RoomPage]:
        page: RoomPage = "projector" if self.fields.get("page") == "projector" else "teacher"
        return self.viewer_of(language, page)

    def join(self) -> Hub[RoomPage]:
        store, code = default_store(), self.code
        return HUBS.join(store, room_key(code), self.viewer, lambda: WatchedRoom(store, code))

    async def doorbell(self, message: dict[str, Any]) -> None:
        """Handle a message of :mod:`schedviz.rooms.notify`."""
        self.hub.ring()

    async def listen(self) -> None:
        with suppress(Exception):  # without messages the room is read regularly
            await self.channel_layer.group_add(teacher_group(self.code), self.channel_name)

    async def stop_listening(self) -> None:
        with suppress(Exception):  # Redis may be away
            await self.channel_layer.group_discard(teacher_group(self.code), self.channel_name)
