"""Puts a state into the sandboxes of a room: that of a lesson's step, or that of one of the sandboxes."""

from collections.abc import Sequence

from msgspec.structs import replace

from schedviz.lessons.catalogue import lesson_in
from schedviz.lessons.evaluate import begin, restart_from_step
from schedviz.lessons.learners import Learners, NoProgress
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.progress import Progress
from schedviz.lessons.state import State, create_with_state, state_at_step, state_of
from schedviz.rooms.room import TEACHER, Room, learner_id, number_for, sandbox_name
from schedviz.rooms.room_store import Rooms, Seen
from schedviz.rooms.sandboxes import numbers_of
from schedviz.rooms.work import Place, RoomBusy, begin_work, find_work
from schedviz.store import Clock, Store


def sources_of(store: Store, seen: Seen) -> list[int]:
    """Return the numbers of the sandboxes whose state can be put into all: the teacher's own comes first."""
    names = store.names()
    return [
        number
        for number in (TEACHER, *numbers_of(seen))
        if sandbox_name(seen.room.code, number) in names
        and (number == TEACHER or seen.room.settings.mode == "own")
    ]


def put_step(store: Store, seen: Seen, lesson: Lesson, step: int) -> None:
    """Move all learners to a step, with sandboxes in which the solutions of the steps before it were played.
    Raises RoomBusy, StatusError, NotReached."""
    room = seen.room
    if find_work(store, room.code):
        raise RoomBusy
    state = state_at_step(lesson, step, store.wall(), room.settings.seed)
    _put(store, seen, state, [each.number for each in seen.members], (lesson, step))


def put_sandbox(store: Store, seen: Seen, source: int) -> tuple[Lesson, int] | None:
    """Put the state of a sandbox into all others. Returns the step to which all learners move, that of its
    learner; None = the sandbox is of no lesson. Raises RoomBusy, NoSandbox, StatusError."""
    room = seen.room
    if find_work(store, room.code):
        raise RoomBusy
    state = state_of(sandbox_name(room.code, source))
    # A beginning of its own, by which pages and progress tell the new sandboxes from those before. It is
    # within the same second, with which simulated time began.
    began = int(state.meta.created) + store.wall() % 1
    state = replace(state, meta=replace(state.meta, created=began))
    lesson, step = lesson_in(state.meta), 0
    if lesson:
        progress = Learners(store.redis).progress(learner_id(room.code, source), lesson.name)
        step = progress.step if progress else 0
    place = (lesson, step) if lesson else None
    _put(store, seen, state, [each.number for each in seen.members if each.number != source], place)
    return place


def _put(
    store: Store, seen: Seen, state: State, members: Sequence[int], place: tuple[Lesson, int] | None
) -> None:
    room = seen.room
    is_shared = room.settings.mode == "shared"
    speed = Clock(sim=state.now, wall=store.wall())

    def put(member: int) -> None:
        number = number_for(room, member)
        if place:
            _move(store, room, member, *place, created=state.meta.created)
        if not is_shared or member == members[0]:  # a shared sandbox is created once
            create_with_state(store, sandbox_name(room.code, number), state, speed)

    def change() -> None:
        if place:
            Rooms(store).change(room.code, lesson=place[0].name, step=place[1])
            hide_answers(store, room, *place)

    at = Place(place[0].name, place[1]) if place else None
    begin_work(store, room.code, "state", members, put, change=change, place=at)


def hide_answers(store: Store, room: Room, lesson: Lesson, step: int) -> None:
    """Hide the answers to the questions of this step and of later ones, at which all guess again."""
    again = {f"{lesson.name}/{each.id}" for each in lesson.steps[step:]}
    Rooms(store).change(
        room.code,
        revealed="" if room.revealed in again else room.revealed,
        answers=tuple(each for each in room.answers if each not in again),
    )


def _move(store: Store, room: Room, member: int, lesson: Lesson, step: int, *, created: float) -> None:
    """Note that a learner is at a step, in a sandbox that is about to be created: a page that is loaded when
    it exists finds the progress of it. What the learner did at this step and at later ones is forgotten."""
    learner, sandbox = learner_id(room.code, member), sandbox_name(room.code, number_for(room, member))
    learners, now = Learners(store.redis), store.wall()

    def change(progress: Progress) -> Progress:
        return restart_from_step(lesson, replace(progress, sandbox=sandbox, created=created), step, now)

    try:
        learners.update(learner, lesson, change)
    except NoProgress:
        learners.begin(learner, change(begin(lesson, sandbox, created, now)))
