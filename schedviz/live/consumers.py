"""The live page's websocket: one way, from the hub to the browser. Commands go over plain HTTP."""

import asyncio
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from schedviz.live.hub import TRY_AGAIN_LATER, Hub, Hubs, Viewer
from schedviz.store.default import default_store

HUBS = Hubs()


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    async def connect(self) -> None:
        await self.accept()
        if HUBS.full():
            await self.close(code=TRY_AGAIN_LATER)
            return
        self.viewer = Viewer(self._language(), self._close)
        self.hub: Hub = HUBS.of(default_store(), self.scope["url_route"]["kwargs"]["name"])
        self.hub.join(self.viewer)
        self.sender = asyncio.create_task(self._send_frames())

    async def disconnect(self, code: int) -> None:
        if hasattr(self, "sender"):
            self.sender.cancel()
            self.hub.leave(self.viewer)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Nothing that a browser says here is listened to."""

    async def _send_frames(self) -> None:
        with suppress(Exception):  # the browser is gone: disconnect() comes
            while True:
                frame = await self.viewer.slot.take()
                await self.send(frame.text())

    async def _close(self, code: int) -> None:
        self.sender.cancel()
        await self.close(code=code)

    def _language(self) -> str:
        asked: Any = parse_qs(self.scope["query_string"].decode("latin-1")).get("lang", [""])[0]
        return asked if asked in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE
