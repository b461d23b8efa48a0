"""The part of a page's websocket for sandboxes of a room: it sends the room's notice at the beginning and
when that changes, and notes that the learner is online."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from django.template.loader import render_to_string
from django.utils.translation import override

from schedviz.rooms.access import Participant
from schedviz.rooms.notice import Notice, room_notice
from schedviz.rooms.notify import notify_teacher
from schedviz.rooms.room import Member, room_of
from schedviz.rooms.room_store import ONLINE_SECONDS, Rooms
from schedviz.rooms.sandboxes import end_if_over
from schedviz.rooms.shared_reads import SharedReads
from schedviz.rooms.work import CREATING, find_work
from schedviz.store.default import default_store

NOTE_SECONDS: Final = ONLINE_SECONDS / 3
SHARED_SECONDS: Final = 1.0
"""Seconds for which pages of one process share what was read of a room, where no message says that it
changed."""
_READS: Final = SharedReads()


class RoomMember:
    """A visitor of a room's sandbox, while the page is connected."""

    def __init__(
        self,
        sandbox: str,
        participant: Participant,
        language: str,
        send: Callable[[str], Awaitable[None]] | None,
    ) -> None:
        """send: None = the page shows no notice."""
        place = room_of(sandbox)
        assert place is not None
        self.code = place[0]
        self._sandbox = sandbox
        self._participant = participant
        self._language = language
        self._send = send
        self._sent: Notice | None = None
        self._noting = asyncio.create_task(self._note())

    async def send_notice(self, *, only_changed: bool = False) -> None:
        if self._send is None:
            return
        with suppress(Exception):  # Redis is away, or the browser has disconnected
            asked = time.monotonic() - (SHARED_SECONDS if only_changed else 0.0)
            found = await asyncio.to_thread(self._draw, asked, only_changed)
            if found:
                self._sent, html = found
                await self._send(html)

    async def is_recreated(self) -> bool:
        """Whether the deleted sandbox exists again, or soon will."""
        with suppress(Exception):  # Redis is away
            return await asyncio.to_thread(self._is_recreated)
        return False

    def leave(self) -> None:
        self._noting.cancel()

    async def _note(self) -> None:
        """Note regularly that the learner is online, and send what came without a message."""
        first = True
        while True:
            with suppress(Exception):  # Redis may be away
                if isinstance(self._participant, Member):
                    await asyncio.to_thread(
                        Rooms(default_store()).note_connected, self.code, self._participant.number
                    )
                await asyncio.to_thread(end_if_over, default_store(), self.code)
                if first:
                    notify_teacher(self.code)
                    first = False
            await asyncio.sleep(NOTE_SECONDS)
            await self.send_notice(only_changed=True)

    def _is_recreated(self) -> bool:
        store = default_store()
        work = find_work(store, self.code)
        return self._sandbox in store.names() or (work is not None and work.kind in CREATING)

    def _draw(self, asked: float, only_changed: bool) -> tuple[Notice | None, str] | None:
        """Return the notice and its HTML; None if only a changed one is wanted."""
        rooms = Rooms(default_store())
        notice = room_notice(
            rooms, self._sandbox, self._participant, lambda code: _READS.read(rooms, code, asked)
        )
        if only_changed and notice == self._sent:
            return None
        with override(self._language):
            return notice, render_to_string("rooms/notice.html", {"notice": notice})
