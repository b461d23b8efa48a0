"""The routes of websockets, which are let through as the middleware does it with requests."""

import asyncio
from typing import Any

from schedviz.access.account import read_account
from schedviz.access.asker import LIVE, Asker
from schedviz.access.rights import Right
from schedviz.access.visitor import find_visitor
from schedviz.rooms import access as room_access
from schedviz.rooms.room import is_reserved, read_code
from schedviz.rooms.room_store import NoRoom, Rooms
from schedviz.routes import Route
from schedviz.store import trouble_of
from schedviz.store.default import default_store
from schedviz.store.store import NAME

Scope = dict[str, Any]


class SocketRoute(Route):
    """The URL of a websocket. A browser without the right gets 403."""

    def respond(self) -> Any:
        return self.accept

    async def accept(self, scope: Scope, receive: Any, send: Any) -> None:
        scope["cookies"] = read_cookies(scope)
        if not await asyncio.to_thread(self.is_allowed, scope):
            await receive()
            await send({"type": "websocket.close"})
            return
        application: Any = self.view
        await application(scope, receive, send)

    def is_allowed(self, scope: Scope) -> bool:
        """Whether the visitor has the right. Where the store does not serve, nobody has: the page connects
        again."""
        named = scope["url_route"]["kwargs"]
        try:
            if self.teacher:
                return _is_teacher(named["code"], scope["cookies"])
            is_name = NAME.fullmatch(named["name"]) is not None
            return is_name and find_right(scope, named["name"]) >= (self.read or LIVE)
        except Exception as error:
            if trouble_of(error) is None:
                raise
        return False


def _is_teacher(code: str, cookies: dict[str, str]) -> bool:
    try:
        return room_access.is_teacher(Rooms(default_store()).find(read_code(code)), cookies)
    except NoRoom:
        return False


def find_right(scope: Scope, sandbox: str) -> Right:
    """Return the right of the visitor on a sandbox, and note the visitor in the scope."""
    store, cookies = default_store(), scope["cookies"]
    account = read_account(scope.get("user"))
    visitor = find_visitor(cookies, read_header(scope, b"authorization"), account)
    asker = room_access.find_asker(store, sandbox, visitor, cookies)
    if asker is None:
        # The consumer says that there is no such sandbox. Should there be one soon, the visitor has no right.
        scope["asker"] = Asker(Right.NONE, "", visitor)
        return LIVE
    scope["asker"] = asker
    if is_reserved(sandbox):
        in_room = room_access.find_participant(Rooms(store), sandbox, cookies)
        scope["participant"] = None if in_room == "stranger" else in_room
    return asker.right


def read_header(scope: Scope, header: bytes) -> str:
    values = (value for name, value in scope.get("headers", []) if name == header)
    return next(values, b"").decode("latin-1")


def read_cookies(scope: Scope) -> dict[str, str]:
    """Return the cookies of the handshake."""
    found: dict[str, str] = {}
    for pair in read_header(scope, b"cookie").split(";"):
        field, _, text = pair.strip().partition("=")
        found[field] = text.strip('"')
    return found
