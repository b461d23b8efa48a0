"""What the websocket of a sandbox's page does when the sandbox is one of a room: it sends the room's notice
when that changes, and notes that the learner is online."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from django.template.loader import render_to_string
from django.utils.translation import override

from schedviz.rooms.access import RoomVisitor
from schedviz.rooms.bell import ring_teacher
from schedviz.rooms.notice import room_notice
from schedviz.rooms.room import Member, room_of
from schedviz.rooms.room_store import ONLINE_SECONDS, Rooms
from schedviz.rooms.sandboxes import end_if_over
from schedviz.store.default import default_store

NOTE_SECONDS: Final = ONLINE_SECONDS / 3


class RoomMember:
    """A visitor of a room's sandbox, while the page is connected."""

    def __init__(
        self, sandbox: str, visitor: RoomVisitor, language: str, send: Callable[[str], Awaitable[None]]
    ) -> None:
        place = room_of(sandbox)
        assert place is not None
        self.code = place[0]
        self._sandbox = sandbox
        self._visitor = visitor
        self._language = language
        self._send = send
        self._noting: asyncio.Task[None] | None = None
        if isinstance(visitor, Member):
            self._noting = asyncio.create_task(self._note(visitor.number))

    async def tell(self) -> None:
        """Send the notice."""
        with suppress(Exception):  # Redis is away, or the browser has disconnected
            await self._send(await asyncio.to_thread(self._draw))

    def leave(self) -> None:
        if self._noting:
            self._noting.cancel()

    async def _note(self, number: int) -> None:
        first = True
        while True:
            with suppress(Exception):  # Redis may be away
                await asyncio.to_thread(Rooms(default_store()).note_connected, self.code, number)
                await asyncio.to_thread(end_if_over, default_store(), self.code)
                if first:
                    ring_teacher(self.code)
                    first = False
            await asyncio.sleep(NOTE_SECONDS)

    def _draw(self) -> str:
        with override(self._language):
            notice = room_notice(Rooms(default_store()), self._sandbox, self._visitor)
            return render_to_string("rooms/notice.html", {"notice": notice})
