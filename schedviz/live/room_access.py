"""Refuses websockets of strangers to a room's sandboxes, as the middleware refuses their requests."""

import asyncio
from typing import Any

from schedviz.rooms.access import find_visitor
from schedviz.rooms.room import is_reserved
from schedviz.rooms.room_store import Rooms
from schedviz.store.default import default_store
from schedviz.web.room_access import PATH


class SocketAccess:
    """Wraps the application of the websockets. The browser of a stranger gets 403."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        match = PATH.fullmatch(scope["path"])
        scope["cookies"] = read_cookies(scope)
        if match and is_reserved(match[1]):
            rooms = Rooms(default_store())
            visitor = await asyncio.to_thread(find_visitor, rooms, match[1], scope["cookies"])
            if visitor == "stranger":
                await receive()
                await send({"type": "websocket.close"})
                return
            scope["visitor"] = visitor
        await self._application(scope, receive, send)


def read_cookies(scope: dict[str, Any]) -> dict[str, str]:
    """The cookies of the handshake."""
    found: dict[str, str] = {}
    for name, value in scope.get("headers", []):
        if name == b"cookie":
            for pair in value.decode("latin-1").split(";"):
                field, _, text = pair.strip().partition("=")
                found[field] = text.strip('"')
    return found
