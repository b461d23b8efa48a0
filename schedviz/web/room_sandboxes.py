"""Creates the sandboxes of rooms, each by the settings of its room."""

from contextlib import suppress

from schedviz.api.from_scenario import create
from schedviz.bundled_scenarios import scenarios
from schedviz.lessons.catalogue import lesson_in
from schedviz.rooms.learners import has_begun, room_lessons, start_in_room
from schedviz.rooms.room import TEACHER, Room, number_for, sandbox_name
from schedviz.store import NoSandbox, Store


def open_sandbox(store: Store, room: Room, member: int) -> str | None:
    """Return the name of the member's sandbox, which is created if there is none; None if the member must
    choose a lesson first. Raises StatusError."""
    name = sandbox_name(room.code, number_for(room, member))
    with suppress(NoSandbox):
        sandbox = store.sandbox(name)
        if room.settings.what.kind == "scenario" or has_begun(store, room, member, sandbox.meta()):
            return name
    return start_sandbox(store, room, member, anew=False)


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
    store: Store, room: Room, member: int, lesson: str = "", *, anew: bool = True
) -> str | None:
    """Create the member's sandbox again: with a lesson, "" = the one that the teacher opened; or with the
    room's scenario. ``anew`` = False: unless it is of this lesson. None: the member must choose a lesson
    first. Raises StatusError."""
    what = room.settings.what
    if what.kind == "scenario":
        name = sandbox_name(room.code, number_for(room, member))
        made = scenarios()[what.name]
        with store.replacing(name) as access:
            return create(store, made, what.name, [name], paused=room.paused, access=access).name
    found = room_lessons().get(lesson or room.lesson)
    if found is None:
        return None
    return start_in_room(store, room, member, found, anew=anew).name
