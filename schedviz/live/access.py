"""Lets websockets through as the middleware does with requests (:mod:`schedviz.access.asker`)."""

import asyncio
import re
from typing import Any, Final

from schedviz.access.account import read_account
from schedviz.access.asker import LIVE, Asker
from schedviz.access.rights import Right
from schedviz.access.sandbox_path import sandbox_of_path
from schedviz.access.visitor import find_visitor
from schedviz.rooms import access as room_access
from schedviz.rooms.room import is_reserved, read_code
from schedviz.rooms.room_store import NoRoom, Rooms
from schedviz.store import trouble_of
from schedviz.store.default import default_store

ROOM: Final = re.compile(r"/rooms/([^/]+)/.*", re.DOTALL)


class SocketAccess:
    """Wraps the application of the websockets. A browser without the right gets 403."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        scope["cookies"] = read_cookies(scope)
        if not await asyncio.to_thread(_is_allowed, scope):
            await receive()
            await send({"type": "websocket.close"})
            return
        await self._application(scope, receive, send)


def _is_allowed(scope: dict[str, Any]) -> bool:
    """Whether the policy lets the websocket through. Where the store does not serve, it does not: the page
    connects again."""
    try:
        if sandbox := sandbox_of_path(scope["path"]):
            return _may_view(scope, sandbox)
        if room := ROOM.fullmatch(scope["path"]):
            return _is_teacher(room[1], scope["cookies"])
    except Exception as error:
        if trouble_of(error) is None:
            raise
    return False


def _is_teacher(code: str, cookies: dict[str, str]) -> bool:
    try:
        return room_access.is_teacher(Rooms(default_store()).find(read_code(code)), cookies)
    except NoRoom:
        return False


def _may_view(scope: dict[str, Any], sandbox: str) -> bool:
    """Return whether the visitor may view the sandbox, and note the visitor in the scope."""
    store, cookies = default_store(), scope["cookies"]
    account = read_account(scope.get("user"))
    visitor = find_visitor(cookies, read_header(scope, b"authorization"), account)
    asker = room_access.find_asker(store, sandbox, visitor, cookies)
    if asker is None:
        # The consumer says that there is no such sandbox. Should there be one soon, the visitor has no right.
        scope["asker"] = Asker(Right.NONE, "", visitor)
        return True
    scope["asker"] = asker
    if is_reserved(sandbox):
        in_room = room_access.find_visitor(Rooms(store), sandbox, cookies)
        scope["visitor"] = None if in_room == "stranger" else in_room
    return asker.right >= LIVE


def read_header(scope: dict[str, Any], header: bytes) -> str:
    values = (value for name, value in scope.get("headers", []) if name == header)
    return next(values, b"").decode("latin-1")


def read_cookies(scope: dict[str, Any]) -> dict[str, str]:
    """Return the cookies of the handshake."""
    found: dict[str, str] = {}
    for pair in read_header(scope, b"cookie").split(";"):
        field, _, text = pair.strip().partition("=")
        found[field] = text.strip('"')
    return found
