"""The live page's websocket: from the hub to the browser, and back only what the page should show. Commands
go over plain HTTP."""

import asyncio
from contextlib import suppress
from typing import Final
from urllib.parse import parse_qs

import msgspec
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from schedviz.live.hub import TRY_AGAIN_LATER, Hub, Hubs, Viewer
from schedviz.store.default import default_store
from schedviz.web.presenters.screen import look

HUBS = Hubs()

VIEWERS_AT_MOST: Final = 1000
"""Of this process; each may hold a whole page in its slot. Others are told to try again later."""

ASKED_AT_MOST: Final = 4000
"""Characters of one message: the form's fields, and the headers that htmx adds."""

CONNECTED: "Final[set[LiveConsumer]]" = set()
"""Those of this process that have a viewer in a hub."""


class Asked(msgspec.Struct):
    """``hidden``, where it is said, comes alone: whether the browser shows the page to nobody."""

    group: str = ""
    q: str = ""
    informer: str = ""
    hidden: bool | msgspec.UnsetType = msgspec.UNSET


class UnknownPathConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    """Refuses the handshake: the browser gets 403."""

    async def connect(self) -> None:
        await self.close()


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    async def connect(self) -> None:
        await self.accept()
        # Nothing is awaited between this check and the last line: no other connection is counted meanwhile.
        if len(CONNECTED) >= VIEWERS_AT_MOST:
            await self.close(code=TRY_AGAIN_LATER)
            return
        asked = parse_qs(self.scope["query_string"].decode("latin-1"))
        language = asked.get("lang", [""])[0]
        self.viewer = Viewer(
            language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE,
            self._close,
            look(asked.get("group", [""])[0], asked.get("q", [""])[0]),
        )
        self.hidden = False
        self._join()
        self.sender = asyncio.create_task(self._send_frames())
        CONNECTED.add(self)

    async def disconnect(self, code: int) -> None:
        CONNECTED.discard(self)
        if hasattr(self, "sender"):
            self.sender.cancel()
            self.hub.leave(self.viewer)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """The form #look, as htmx sends it, or that the page is hidden, or is seen again; nothing else that a
        browser says here is listened to."""
        if not text_data or len(text_data) > ASKED_AT_MOST:
            return
        with suppress(msgspec.DecodeError):
            asked = msgspec.json.decode(text_data, type=Asked)
            if asked.hidden is not msgspec.UNSET:
                self._hide(asked.hidden)
                return
            wanted = look(asked.group, asked.q, asked.informer)
            if self.hidden:
                self.viewer.look = wanted
            else:
                self.hub.look(self.viewer, wanted)

    def _join(self) -> None:
        name = self.scope["url_route"]["kwargs"]["name"]
        self.hub: Hub = HUBS.join(default_store(), name, self.viewer)

    def _hide(self, hidden: bool) -> None:
        """A hidden page is no viewer of its hub: nothing is drawn for it. When it is seen again it joins
        anew, and gets the whole page."""
        if hidden == self.hidden:
            return
        self.hidden = hidden
        if hidden:
            self.hub.leave(self.viewer)
        else:
            self._join()

    async def _send_frames(self) -> None:
        with suppress(Exception):  # the browser is gone: disconnect() comes
            while True:
                frame = await self.viewer.slot.take()
                await self.send(frame.text(self.hub.wall))

    async def _close(self, code: int) -> None:
        self.sender.cancel()
        with suppress(Exception):  # the browser is gone: disconnect() comes
            await self.close(code=code)
