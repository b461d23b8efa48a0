"""Creates the sandboxes of rooms, each by the settings of its room."""

from contextlib import nullcontext, suppress

from schedviz.api.from_scenario import create
from schedviz.bundled_scenarios import scenarios
from schedviz.lessons.catalogue import lesson_in
from schedviz.rooms.learners import has_begun, join_lesson, room_lessons, start_in_room
from schedviz.rooms.room import SHARED, TEACHER, Room, number_for, sandbox_name
from schedviz.rooms.room_store import Rooms
from schedviz.store import NoSandbox, Store
from simulator.apiserver.status import StatusError


class DeletedByTeacher(Exception):
    """The teacher has deleted the sandbox that the room shares. Only the teacher creates another one."""


def open_sandbox(store: Store, room: Room, member: int, lesson: str = "") -> str | None:
    """Return the name of the sandbox in which the member works, which is created if there is none. lesson:
    the member's choice, "" = none. None: the member must choose a lesson first. Raises StatusError,
    DeletedByTeacher.

    A member joins what is in a sandbox that the room shares: only the teacher replaces it."""
    name = sandbox_name(room.code, number_for(room, member))
    if room.settings.mode == "shared":
        return _join_shared(store, room, member, lesson, name)
    with suppress(NoSandbox):
        meta = store.sandbox(name).meta()
        if room.settings.what.kind == "scenario":
            return name
        if has_begun(store, room, member, meta):
            found = lesson_in(meta)
            if not lesson or (found and found.name == lesson):
                return name
    return start_sandbox(store, room, member, lesson, anew=bool(lesson))


def _join_shared(store: Store, room: Room, member: int, lesson: str, name: str) -> str | None:
    try:
        join_lesson(store, room, member, store.sandbox(name).meta())
        _note_opened(store, room)
        return name
    except NoSandbox:
        if room.opened:
            raise DeletedByTeacher from None
    try:
        return start_sandbox(store, room, member, lesson, replace=False)
    except StatusError:
        # Another member may have created it meanwhile.
        if not store.exists(name):
            raise
        join_lesson(store, room, member, store.sandbox(name).meta())
        return name


def open_own(store: Store, room: Room, lesson: str) -> str | None:
    """Return the name of the teacher's own sandbox, which is created unless it is of the lesson (or
    scenario). None: there is no such lesson. Raises StatusError."""
    name = sandbox_name(room.code, TEACHER)
    with suppress(NoSandbox):
        meta = store.sandbox(name).meta()
        found = lesson_in(meta)
        if room.settings.what.kind == "scenario" or (found and found.name == lesson):
            return name
    return start_sandbox(store, room, TEACHER, lesson)


def start_sandbox(
    store: Store, room: Room, member: int, lesson: str = "", *, anew: bool = True, replace: bool = True
) -> str | None:
    """Create the member's sandbox again: with a lesson, "" = the one that the teacher opened; or with the
    room's scenario. ``anew`` = False: unless it is of this lesson. ``replace`` = False: an existing one is
    not deleted, but raises StatusError. None: the member must choose a lesson first. Raises StatusError."""
    what = room.settings.what
    if what.kind == "scenario":
        name = sandbox_name(room.code, number_for(room, member))
        made = scenarios()[what.name]
        with store.replacing(name) if replace else nullcontext("") as access:
            create(store, made, what.name, [name], paused=room.paused, access=access)
    else:
        found = room_lessons().get(lesson or room.lesson)
        if found is None:
            return None
        name = start_in_room(store, room, member, found, anew=anew, replace=replace).name
    if number_for(room, member) == SHARED:
        _note_opened(store, room)
    return name


def _note_opened(store: Store, room: Room) -> None:
    if not room.opened:
        Rooms(store).change(room.code, opened=True)
