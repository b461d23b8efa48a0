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
from schedviz.web.view.screen import look

HUBS = Hubs()

ASKED_AT_MOST: Final = 4000
"""Characters of one message: the form's two fields, and the headers that htmx adds."""


class Asked(msgspec.Struct):
    group: str = ""
    q: str = ""


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    async def connect(self) -> None:
        await self.accept()
        if HUBS.full():
            await self.close(code=TRY_AGAIN_LATER)
            return
        asked = parse_qs(self.scope["query_string"].decode("latin-1"))
        language = asked.get("lang", [""])[0]
        self.viewer = Viewer(
            language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE,
            self._close,
            look(asked.get("group", [""])[0], asked.get("q", [""])[0]),
        )
        self.hub: Hub = HUBS.of(default_store(), self.scope["url_route"]["kwargs"]["name"])
        self.hub.join(self.viewer)
        self.sender = asyncio.create_task(self._send_frames())

    async def disconnect(self, code: int) -> None:
        if hasattr(self, "sender"):
            self.sender.cancel()
            self.hub.leave(self.viewer)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """The form #look, as htmx sends it; nothing else that a browser says here is listened to."""
        if not text_data or len(text_data) > ASKED_AT_MOST:
            return
        with suppress(msgspec.DecodeError):
            asked = msgspec.json.decode(text_data, type=Asked)
            self.hub.look(self.viewer, look(asked.group, asked.q))

    async def _send_frames(self) -> None:
        with suppress(Exception):  # the browser is gone: disconnect() comes
            while True:
                frame = await self.viewer.slot.take()
                await self.send(frame.text())

    async def _close(self, code: int) -> None:
        self.sender.cancel()
        await self.close(code=code)
