"""The sandboxes of rooms: which there are, how they are paused and resumed, and the deletion of those whose
room is over."""

from collections.abc import Sequence
from contextlib import suppress

from schedviz.loop import clock
from schedviz.rooms.room import NOBODY, SHARED, room_of, sandbox_name
from schedviz.rooms.room_store import NoRoom, Rooms, Seen
from schedviz.rooms.work import RoomBusy, begin_work, find_work, short_work
from schedviz.store import NoSandbox, Store


def numbers_of(seen: Seen) -> list[int]:
    """Return the numbers of the room's sandboxes, whether they exist or not."""
    if seen.room.settings.mode == "shared":
        return [SHARED]
    return [member.number for member in seen.members]


def pause_all(store: Store, seen: Seen) -> None:
    """Pause the sandboxes of the room. Those that learners have not opened yet are created paused. Raises
    Busy."""
    names = _names_of(seen)
    with short_work(store, seen.room.code, "pause", len(names)):
        Rooms(store).change(seen.room.code, paused=True)
        clock.pause_many(store, names)


def resume_all(store: Store, seen: Seen) -> None:
    """Resume the sandboxes of the room. Raises RoomBusy."""
    names = _names_of(seen)
    with short_work(store, seen.room.code, "resume", len(names)):
        Rooms(store).change(seen.room.code, paused=False, went_on=store.wall())
        clock.resume_many(store, names)


def _names_of(seen: Seen) -> list[str]:
    return [sandbox_name(seen.room.code, number) for number in numbers_of(seen)]


def end_room(store: Store, code: str) -> None:
    """End a room, and delete its sandboxes in a thread. Raises NoRoom."""
    rooms = Rooms(store)
    rooms.end(code)
    rooms.change(code, shown=NOBODY)
    with suppress(RoomBusy):  # then sweep_rooms does it later
        delete_sandboxes(store, code, _names_by_room(store).get(code, []))


def end_if_over(store: Store, code: str) -> None:
    """End a room whose time is over. Pages that are open call it regularly. Raises NoRoom."""
    room = Rooms(store).find(code)
    if room.is_over(store.wall()) and not room.ended:
        end_room(store, code)


def delete_sandboxes(store: Store, code: str, names: Sequence[str]) -> None:
    """Delete the sandboxes of the room. Raises RoomBusy."""

    def delete(place: int) -> None:
        with suppress(NoSandbox):
            store.delete(names[place])

    if names:
        begin_work(store, code, "delete", range(len(names)), delete)


def sweep_rooms(store: Store) -> None:
    """Delete the sandboxes of rooms that are over: those that ended by themselves, and those whose deletion
    was cut off, or in which no page was open. It is called when pages of rooms are opened."""
    rooms, now = Rooms(store), store.wall()
    for code, names in _names_by_room(store).items():
        try:
            is_over = rooms.find(code).is_over(now)
            if is_over:
                rooms.end(code)
        except NoRoom:
            is_over = True
        if is_over and find_work(store, code) is None:
            with suppress(RoomBusy):
                delete_sandboxes(store, code, names)


def _names_by_room(store: Store) -> dict[str, list[str]]:
    """Return the names of all sandboxes of rooms, with the branches of them, by the code of the room."""
    found: dict[str, list[str]] = {}
    for name in sorted(store.names()):
        if place := room_of(name):
            found.setdefault(place[0], []).append(name)
    return found
