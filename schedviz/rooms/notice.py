"""The notice above the board of a room's sandbox: the teacher's hints, what the room does, and what the
learner tells the teacher."""

from collections.abc import Callable
from hashlib import sha1

import msgspec

from schedviz.lessons.catalogue import lesson_in
from schedviz.rooms.access import Participant
from schedviz.rooms.learners import has_begun
from schedviz.rooms.room import SHARED, TEACHER, Member, Message, Room, Section, room_of
from schedviz.rooms.room_store import NoRoom, Rooms, Seen
from schedviz.store import NoSandbox, Store


class Notice(msgspec.Struct, frozen=True):
    code: str
    title: str
    name: str
    """The name of the learner whose page it is; for the teacher, of the learner whose sandbox it is."""
    is_teacher: bool
    is_own: bool
    """Whether the sandbox is the teacher's own."""
    hint: Message | None
    """The oldest of the teacher's hints that the learner has not closed; None = there is none."""
    more: int
    """The number of the further hints."""
    paused: bool
    discussion: bool
    over: bool
    section: Section | None
    """The present section of the plan."""
    place: int
    """Its number, from 1."""
    sections: int
    shared: bool
    """Whether the room shares the sandbox."""
    hand: bool
    """Whether the learner has raised a hand."""
    done: bool
    """Whether the learner has said *I am done*."""
    lessons: str
    """A text that changes when the teacher has changed something that the panel of a lesson shows."""
    created: str
    """The value of ``Meta.created`` of the sandbox when the page can be loaded with it; "" = not yet. The
    page is loaded again when it changes."""


def room_notice(
    rooms: Rooms, sandbox: str, participant: Participant, read: Callable[[str], Seen] | None = None
) -> Notice | None:
    """Return the notice of a sandbox; None for a sandbox of no room, and for a visitor who is not of the
    room. read: None = :meth:`Rooms.read`."""
    place = room_of(sandbox)
    if place is None or participant == "stranger":
        return None
    code, number = place
    try:
        seen = (read or rooms.read)(code)
    except NoRoom:
        return None
    member = participant if isinstance(participant, Member) else None
    if member is None:
        name = next((each.name for each in seen.members if each.number == number), "")
        hints = []
    else:
        name = next((each.name for each in seen.members if each.number == member.number), member.name)
        sent = (*seen.room.hints, *seen.hints.get(member.number, ()))
        closed = max(seen.read.get(member.number, 0.0), member.joined)
        hints = sorted((each for each in sent if each.at > closed), key=lambda each: each.at)
    return Notice(
        code=code,
        title=seen.room.settings.title,
        name=name,
        is_teacher=member is None,
        is_own=number == TEACHER,
        hint=hints[0] if hints else None,
        more=max(0, len(hints) - 1),
        paused=seen.room.paused,
        discussion=seen.room.discussion,
        over=seen.room.is_over(seen.now),
        section=seen.room.plan[seen.room.section] if 0 <= seen.room.section < len(seen.room.plan) else None,
        place=seen.room.section + 1,
        sections=len(seen.room.plan),
        shared=number == SHARED,
        hand=member is not None and member.number in seen.hands,
        done=member is not None and member.number in seen.done,
        lessons=_lesson_state(seen.room),
        created=_created(rooms.store, seen.room, sandbox, member.number if member else number),
    )


def _lesson_state(room: Room) -> str:
    # Who was moved is known when all have been moved: a page that asked before asks again then.
    state = (room.placed, room.outcome, room.collecting, room.locked, room.step, room.lesson, room.answers)
    return sha1(repr(state).encode(), usedforsecurity=False).hexdigest()[:12]


def _created(store: Store, room: Room, name: str, number: int) -> str:
    try:
        meta = store.handle(name).meta()
    except NoSandbox:
        return ""
    has_progress = number == SHARED or lesson_in(meta) is None or has_begun(store, room, number, meta)
    return repr(meta.created) if has_progress else ""
