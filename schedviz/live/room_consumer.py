"""The websocket of the teacher's view and of the projector. It sends the parts of the page that changed.
:mod:`schedviz.live.access` allows only the teacher."""

import asyncio
import logging
from contextlib import suppress
from typing import Any, Final
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.utils.translation import override

from schedviz.limits import pools
from schedviz.limits.open_counts import SOCKETS
from schedviz.limits.requester import requester_of_socket
from schedviz.live.hub import AWAY
from schedviz.live.viewer import GONE, TRY_AGAIN_LATER
from schedviz.metrics.server import refused
from schedviz.rooms.notify import teacher_group
from schedviz.rooms.room import read_code
from schedviz.rooms.room_store import NoRoom
from schedviz.rooms.sandboxes import end_if_over
from schedviz.store import trouble_of
from schedviz.store.default import default_store
from schedviz.store.exceeded import LimitExceeded
from schedviz.web.room_screens import Drawn, Painter, read_room

log = logging.getLogger(__name__)

FRAME_SECONDS: Final = 0.25
"""The shortest time between two frames."""
LOOK_SECONDS: Final = 3.0
"""The longest time without reading the room: a message may be lost, and who is online or stuck changes
without one."""
VIEWERS_AT_MOST: Final = 200
"""Maximum number of pages of teachers and projectors that one process serves."""

VIEWERS_PER_ROOM_AT_MOST: Final = 20
"""The same of one room."""

CONNECTED: "Final[set[RoomConsumer]]" = set()


class RoomConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    async def connect(self) -> None:
        self.code = read_code(self.scope["url_route"]["kwargs"]["code"])
        await self.accept()
        if full := _full_bound(self.code):
            refused(full)
            await self.close(code=TRY_AGAIN_LATER)
            return
        try:
            self.leave_count = SOCKETS.enter(pools.SOCKETS.shares(requester_of_socket(self.scope)))
        except LimitExceeded:
            await self.close(code=TRY_AGAIN_LATER)
            return
        CONNECTED.add(self)
        parameters = parse_qs(self.scope["query_string"].decode("latin-1"))
        language = parameters.get("lang", [""])[0]
        self.language = language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE
        self.is_projector = parameters.get("page", [""])[0] == "projector"
        self.painter = Painter()
        self.sent: Drawn | None = None
        self.changed = asyncio.Event()
        self.sender = asyncio.create_task(self._send_frames())
        with suppress(Exception):  # without messages the room is read regularly
            await self.channel_layer.group_add(teacher_group(self.code), self.channel_name)

    async def disconnect(self, code: int) -> None:
        CONNECTED.discard(self)
        if hasattr(self, "leave_count"):
            self.leave_count()
        if hasattr(self, "sender"):
            self.sender.cancel()
            with suppress(Exception):  # Redis may be away
                await self.channel_layer.group_discard(teacher_group(self.code), self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Ignore messages of browsers, which send nothing here."""

    async def doorbell(self, message: dict[str, Any]) -> None:
        """Handle a message of :mod:`schedviz.rooms.notify`."""
        self.changed.set()

    async def _send_frames(self) -> None:
        while True:
            try:
                drawn = await asyncio.to_thread(self._draw)
            except NoRoom:
                await self.close(code=GONE)
                return
            except Exception as error:
                if not isinstance(error, AWAY) and trouble_of(error) is None:
                    log.exception("the teacher's view of room %s", self.code)
            else:
                changes, self.sent = drawn.changes(self.sent), drawn
                if changes:
                    await self.send(changes)
            await asyncio.sleep(FRAME_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS - FRAME_SECONDS):
                    await self.changed.wait()
            self.changed.clear()

    def _draw(self) -> Drawn:
        with override(self.language):
            now = read_room(default_store(), self.code)
            if now.is_over and not now.seen.room.ended:
                end_if_over(default_store(), self.code)
            return self.painter.projector(now) if self.is_projector else self.painter.teacher(now)


def _full_bound(code: str) -> str:
    """Return the name of the bound that one more page of a room would exceed; "" = none."""
    if len(CONNECTED) >= VIEWERS_AT_MOST:
        return "VIEWERS_AT_MOST"
    in_room = sum(each.code == code for each in CONNECTED)
    return "VIEWERS_PER_ROOM_AT_MOST" if in_room >= VIEWERS_PER_ROOM_AT_MOST else ""
