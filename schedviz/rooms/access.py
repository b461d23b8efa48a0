"""Who may open a room's sandboxes: one place for requests and websockets.

The browser of a teacher has the cookie ``teach-CODE``, that of a learner ``room-CODE``. Their values are the
tokens themselves, not signed: without a SECRET_KEY of their own, signatures end with the web process.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

from schedviz.rooms.room import SHARED, Member, Room, is_token, room_of
from schedviz.rooms.room_store import NoRoom, Rooms

TOKEN: Final = re.compile(r"([1-9]\d{0,2})-([-\w]{10,60})", re.ASCII)
"""A learner's token with the learner's number before it, as in the cookie and in the personal link."""

Visitor = Member | Literal["teacher", "stranger"]


def teacher_cookie(code: str) -> str:
    return f"teach-{code}"


def member_cookie(code: str) -> str:
    return f"room-{code}"


def personal_token(member: Member, token: str) -> str:
    return f"{member.number}-{token}"


def find_member(rooms: Rooms, code: str, token: str) -> Member | None:
    """The member with this token (with the number before it)."""
    found = TOKEN.fullmatch(token)
    if found is None:
        return None
    try:
        member = rooms.member(code, int(found[1]))
    except NoRoom:
        return None
    return member if is_token(found[2], member.token) else None


def is_teacher(room: Room, cookies: Mapping[str, str]) -> bool:
    return is_token(cookies.get(teacher_cookie(room.code), ""), room.settings.teacher)


def find_visitor(rooms: Rooms, sandbox: str, cookies: Mapping[str, str]) -> Visitor:
    """Who asks for a sandbox of a room: its teacher, a member who may open it, or a stranger."""
    found = room_of(sandbox)
    if found is None:
        return "stranger"
    code, number = found
    if cookies.get(teacher_cookie(code)):
        try:
            if is_teacher(rooms.find(code), cookies):
                return "teacher"
        except NoRoom:
            return "stranger"
    member = find_member(rooms, code, cookies.get(member_cookie(code), ""))
    if member is not None and number in (member.number, SHARED):
        return member
    return "stranger"
