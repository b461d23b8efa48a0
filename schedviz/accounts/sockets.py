"""Ends websockets with the session of the account by which they were opened."""

import asyncio
from contextlib import suppress
from importlib import import_module
from typing import Any, Final

from channels.auth import get_user
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db import Error

from schedviz.accounts.changes import doorbell_of
from schedviz.accounts.models import User
from schedviz.live.viewer import FORBIDDEN
from schedviz.loop.doorbell import group

LOOK_SECONDS: Final = 60.0
"""The longest time without looking whether the session counts: a message may be lost, and sessions expire."""


class EndWithSession:
    """Wraps the application of the websockets, within channels' AuthMiddlewareStack."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        # The application reads the user in threads of its own: it is read here, once.
        user = await get_user(scope)
        scope["user"] = user
        if not user.is_authenticated:
            await self._application(scope, receive, send)
            return
        ended = asyncio.create_task(_wait_until_ended(user, scope["session"].session_key))
        try:
            await self._application(scope, _until(ended, receive, send), send)
        finally:
            ended.cancel()


def _until(ended: "asyncio.Task[None]", receive: Any, send: Any) -> Any:
    """Return a function that receives what the browser sends, until the session has ended: then the browser
    gets a close message, and the application a disconnect."""

    async def receive_until() -> Any:
        message = asyncio.ensure_future(receive())
        try:
            await asyncio.wait((message, ended), return_when=asyncio.FIRST_COMPLETED)
            if not ended.done() or ended.cancelled():
                return await message
            with suppress(Exception):  # the browser has disconnected by itself
                await send({"type": "websocket.close", "code": FORBIDDEN})
            return {"type": "websocket.disconnect", "code": FORBIDDEN}
        finally:
            message.cancel()

    return receive_until


async def _wait_until_ended(user: User, session: str) -> None:
    layer = get_channel_layer()
    channel = await layer.new_channel()
    try:
        with suppress(Exception):  # the layer is away: it is looked from time to time
            await layer.group_add(group(doorbell_of(user)), channel)
        while await _counts(user, session):
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await layer.receive(channel)
    finally:
        with suppress(Exception):  # as above
            await layer.group_discard(group(doorbell_of(user)), channel)


async def _counts(user: User, session: str) -> bool:
    """Whether the session is still one of this user with these rights. True while the database is away."""
    try:
        store = await database_sync_to_async(_read_session)(session)
        now = await get_user({"session": store})
    except Error:
        return True
    return bool(now.pk == user.pk and now.is_superuser == user.is_superuser)


def _read_session(key: str) -> Any:
    """Return the session as it is stored now, read from the database."""
    session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    session.get(SESSION_KEY)
    return session
