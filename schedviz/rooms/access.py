"""The rights on a room's sandboxes: the teacher owns them, a learner edits the own one or the shared one.

The browser of a teacher has the cookie ``teach-CODE``, that of a learner ``room-CODE``. Their values are the
tokens themselves, not signed: without a SECRET_KEY of their own, signatures end with the web process.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

from schedviz.access.asker import Asker
from schedviz.access.asker import find_asker as find_other_asker
from schedviz.access.identity import sandboxes_have_owners
from schedviz.access.record import read_record
from schedviz.access.rights import Right
from schedviz.access.visitor import Visitor
from schedviz.limits.requester import CONFIRMED
from schedviz.rooms.room import SHARED, Member, Room, is_reserved, is_token, room_of, sandbox_name
from schedviz.rooms.room_store import NoRoom, Rooms
from schedviz.store import Store

TOKEN: Final = re.compile(r"([1-9]\d{0,2})-([-\w]{10,60})", re.ASCII)
"""A learner's token with the learner's number before it, as in the cookie and in the personal link."""

Participant = Member | Literal["teacher", "stranger"]
"""Who a visitor is in a room."""


def teacher_cookie(code: str) -> str:
    return f"teach-{code}"


def member_cookie(code: str) -> str:
    return f"room-{code}"


def personal_token(member: Member, token: str) -> str:
    return f"{member.number}-{token}"


def find_member(rooms: Rooms, code: str, token: str) -> Member | None:
    """Return the member with this token (with the number before it)."""
    found = TOKEN.fullmatch(token)
    if found is None:
        return None
    member = rooms.find_by_token(code, int(found[1]), found[2])
    if member:
        CONFIRMED.add(token)
    return member


def is_teacher(room: Room, cookies: Mapping[str, str]) -> bool:
    token = cookies.get(teacher_cookie(room.code), "")
    if not is_token(token, room.settings.teacher):
        return False
    CONFIRMED.add(token)
    return True


def is_in_room(rooms: Rooms, code: str, cookies: Mapping[str, str]) -> bool:
    """Whether the visitor is a member of the room, or its teacher."""
    if find_member(rooms, code, cookies.get(member_cookie(code), "")):
        return True
    try:
        return is_teacher(rooms.find(code), cookies)
    except NoRoom:
        return False


def find_participant(rooms: Rooms, sandbox: str, cookies: Mapping[str, str]) -> Participant:
    """Return who the visitor is in the room of a sandbox: its teacher, a member who may open the sandbox, or
    a stranger."""
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


def find_asker(store: Store, sandbox: str, visitor: Visitor, cookies: Mapping[str, str]) -> Asker | None:
    """Return who asks for a sandbox, of a room or not; None = there is no such sandbox. In a sandbox of a
    room, it is the participant who has the right, unless the access record of the sandbox gives more."""
    if not is_reserved(sandbox):
        return find_other_asker(store, sandbox, visitor)
    found = "stranger" if visitor.bearer else find_participant(Rooms(store), sandbox, cookies)
    asker = _asker_in_room(sandbox, found)
    if asker.right == Right.OWN or not visitor.has_proof(sandbox):
        return asker
    record = read_record(store.handle(sandbox).access() or "")
    right, user = visitor.right_on(sandbox, record)
    return Asker(right, user, visitor) if right > asker.right else asker


def has_rights(sandbox: str) -> bool:
    """Whether rights apply: sandboxes have owners, or it is one of a room."""
    return sandboxes_have_owners() or is_reserved(sandbox)


def may_replace(sandbox: str, right: Right) -> bool:
    """Whether a visitor who may edit a sandbox may also create it again: one that a room shares is created
    again for all, and only the teacher does so."""
    place = room_of(sandbox)
    return right == Right.OWN or place is None or place[1] != SHARED


def may_create(sandbox: str, right: Right) -> bool:
    """Whether a visitor who may edit a sandbox of this name may create it from anything: not the one that a
    room shares, but branches of it."""
    place = room_of(sandbox)
    return right == Right.OWN or place is None or sandbox != sandbox_name(place[0], SHARED)


def _asker_in_room(sandbox: str, participant: Participant) -> Asker:
    place = room_of(sandbox)
    if place is None or participant == "stranger":
        return Asker(Right.NONE, "")
    if isinstance(participant, Member):
        return Asker(Right.EDIT, f"schedviz:learner:{place[0]}-{participant.number}")
    return Asker(Right.OWN, f"schedviz:teacher:{place[0]}")
