"""The websocket of the live page. It sends frames to the browser, and receives what the page is to show.
Commands of the user are plain HTTP requests."""

import asyncio
from contextlib import suppress
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec
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
from schedviz.metrics.server import FRAME_BYTES, FRAMES_SENT, VIEWERS
from schedviz.rooms.notify import learners_group
from schedviz.store.default import default_store
from schedviz.store.exceeded import LimitExceeded
from schedviz.web.presenters.screen import look
from simulator.kernel.prepared_types import prepared

HUBS = Hubs()

MESSAGE_AT_MOST: Final = 4000
"""Maximum number of characters of one message: the fields of the form, and the headers that htmx adds."""

CONNECTED: "Final[set[LiveConsumer]]" = set()
"""The consumers of this process that have a viewer."""

VIEWERS.set_function(lambda: len(CONNECTED))


BEAT_SECONDS: Final = 2.0
"""Seconds without a message after which a viewer is sent BEAT. Its page takes five seconds without a message
for a lost connection (static/js/connection.js)."""
BEAT: Final = "beat"


class BrowserMessage(msgspec.Struct):
    """A message of the browser: the form #look, as htmx sends it, or only ``hidden``."""

    group: str = ""
    q: str = ""
    informer: str = ""
    hidden: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether the page is in a hidden tab."""


class UnknownPathConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    """Refuses the handshake; the browser gets 403."""

    async def connect(self) -> None:
        await self.close()


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    room: RoomMember | None = None

    async def connect(self) -> None:
        await self.accept()
        try:
            name = self.scope["url_route"]["kwargs"]["name"]
            self.leave_count = SOCKETS.enter(pools.SOCKETS.shares(requester_of_socket(self.scope), name))
        except LimitExceeded:
            await self.close(code=TRY_AGAIN_LATER)
            return
        parameters = parse_qs(self.scope["query_string"].decode("latin-1"))
        language = parameters.get("lang", [""])[0]
        self.viewer = Viewer(
            language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE,
            self._close,
            look(parameters.get("group", [""])[0], parameters.get("q", [""])[0]),
            Standing(name, self.scope.get("asker")),
        )
        self.hidden = False
        self._join()
        await self._enter_room()
        self.sender = asyncio.create_task(self._send_frames())
        CONNECTED.add(self)

    async def disconnect(self, code: int) -> None:
        CONNECTED.discard(self)
        if hasattr(self, "leave_count"):
            self.leave_count()
        if hasattr(self, "sender"):
            self.sender.cancel()
            self.hub.leave(self.viewer)
            await self._leave_room()

    async def doorbell(self, message: dict[str, Any]) -> None:
        """Note that the room of the sandbox has changed (:mod:`schedviz.rooms.notify`)."""
        if self.room:
            await self.room.send_notice()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Apply a :class:`BrowserMessage`; other messages are ignored."""
        if not text_data or len(text_data) > MESSAGE_AT_MOST:
            return
        with suppress(msgspec.DecodeError):
            message = msgspec.json.decode(text_data, type=prepared(BrowserMessage))
            if message.hidden is not msgspec.UNSET:
                self._hide(message.hidden)
                return
            wanted = look(message.group, message.q, message.informer)
            if self.hidden:
                self.viewer.look = wanted
            else:
                self.hub.look(self.viewer, wanted)

    def _join(self) -> None:
        name = self.scope["url_route"]["kwargs"]["name"]
        self.hub: Hub = HUBS.join(default_store(), name, self.viewer)

    async def _enter_room(self) -> None:
        """Listen to messages of the teacher, if the sandbox is one of a room."""
        visitor = self.scope.get("visitor")
        if visitor is None:
            return
        name = self.scope["url_route"]["kwargs"]["name"]
        parameters = parse_qs(self.scope["query_string"].decode("latin-1"))
        # An embedded page has no place for the notice.
        send = None if "embed" in parameters else self.send
        self.room = RoomMember(name, visitor, self.viewer.language, send)
        with suppress(Exception):  # the layer is away: the notice is shown when the page is loaded again
            await self.channel_layer.group_add(learners_group(self.room.code), self.channel_name)
        # What came since the page was loaded: it may be connected again after Redis or the server was away.
        await self.room.send_notice()

    async def _leave_room(self) -> None:
        if self.room:
            self.room.leave()
            with suppress(Exception):  # as above
                await self.channel_layer.group_discard(learners_group(self.room.code), self.channel_name)

    def _hide(self, hidden: bool) -> None:
        """Leave the hub while the page is hidden, so that nothing is drawn for it. When it is visible again,
        it joins the hub and gets the whole page."""
        if hidden == self.hidden:
            return
        self.hidden = hidden
        if hidden:
            self.hub.leave(self.viewer)
        else:
            self._join()

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

    async def _close(self, code: int) -> None:
        self.sender.cancel()
        if code == GONE and self.room and await self.room.is_recreated():
            code = TRY_AGAIN_LATER  # the page is connected again, and loads the new sandbox
        with suppress(Exception):  # the browser has disconnected; disconnect() is called
            await self.close(code=code)
