"""The lessons of a room's members: their progress, and the sandboxes in which they are."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from schedviz.lessons.catalogue import lesson_in, lessons
from schedviz.lessons.evaluate import begin, go_to_step
from schedviz.lessons.learners import Learners, NoProgress
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.offline import NotReached
from schedviz.lessons.start import restart_lesson, start_lesson
from schedviz.lessons.state import create_with_state, state_at_step
from schedviz.rooms.notify import notify_teacher
from schedviz.rooms.overview import ByLesson
from schedviz.rooms.room import Room, learner_id, number_for, sandbox_name
from schedviz.rooms.room_store import Seen
from schedviz.store import Clock, Meta, NoSandbox, Sandbox, Store


def room_lessons() -> Mapping[str, Lesson]:
    """Return the lessons that a room may be for, by name."""
    return lessons()


def read_progress(store: Store, seen: Seen) -> dict[str, ByLesson]:
    """Return the progress of all members by learner, in one round trip."""
    return progress_of(store, [learner_id(seen.room.code, each.number) for each in seen.members])


def progress_of(store: Store, learners: Sequence[str]) -> dict[str, ByLesson]:
    found = Learners(store.redis).all_progress_of(learners)
    return {learner: {**by_lesson} for learner, by_lesson in found.items()}


def start_in_room(
    store: Store, room: Room, member: int, lesson: Lesson, *, anew: bool = True, replace: bool = True
) -> Sandbox:
    """Begin a lesson, at the step that the teacher has set. The member's sandbox is created again, with the
    state after the solutions of the steps before. ``anew`` = False: unless it is of this lesson.
    ``replace`` = False: an existing one is not deleted, but raises StatusError. Raises StatusError."""
    name = sandbox_name(room.code, number_for(room, member))
    sandbox = None if anew else _find_sandbox(store, name, lesson)
    if sandbox is None:
        sandbox = _create_at_step(store, room, lesson, _step_in(room, lesson), name, replace=replace)
    _begin_in(store, room, member, lesson, sandbox.meta())
    return sandbox


def join_lesson(store: Store, room: Room, member: int, meta: Meta) -> None:
    """Begin the lesson of the sandbox that the room shares, unless it is of none or the member is in it."""
    lesson = lesson_in(meta)
    if lesson and not has_begun(store, room, member, meta):
        _begin_in(store, room, member, lesson, meta)


def _begin_in(store: Store, room: Room, member: int, lesson: Lesson, meta: Meta) -> None:
    """Note that the member begins the lesson in this sandbox, at the step that the teacher has set."""
    step, now = _step_in(room, lesson), store.wall()
    progress = begin(lesson, meta.name, meta.created, now)
    if step:
        progress = go_to_step(lesson, progress, step, now)
    Learners(store.redis).begin(learner_id(room.code, member), progress)
    notify_teacher(room.code)


def _step_in(room: Room, lesson: Lesson) -> int:
    """Return the step at which members begin a lesson."""
    return room.step if room.lesson == lesson.name and room.step < len(lesson.steps) else 0


def has_begun(store: Store, room: Room, member: int, meta: Meta) -> bool:
    """Whether the member is in the lesson of the sandbox."""
    lesson = lesson_in(meta)
    if lesson is None:
        return False
    progress = Learners(store.redis).progress(learner_id(room.code, member), lesson.name)
    return progress is not None and progress.created == meta.created


def set_step(store: Store, room: Room, member: int, lesson: Lesson, step: int) -> None:
    """Move a member to a step, who begins the lesson if that is needed. Raises StatusError."""
    now = store.wall()
    sandbox = _find_sandbox(store, sandbox_name(room.code, number_for(room, member)), lesson)
    if sandbox is not None and has_begun(store, room, member, sandbox.meta()):
        with suppress(NoProgress):
            Learners(store.redis).update(
                learner_id(room.code, member), lesson, lambda each: go_to_step(lesson, each, step, now)
            )
            return
    start_in_room(store, room, member, lesson, anew=False)


def set_step_together(
    store: Store, room: Room, members: Sequence[int], lesson: Lesson, step: int
) -> set[int]:
    """Move those members to a step who are in the lesson, in a few round trips for all. Returns who they are;
    the others need :func:`set_step`."""
    learners, now = Learners(store.redis), store.wall()
    sandboxes = {each: sandbox_name(room.code, number_for(room, each)) for each in members}
    ids = {learner_id(room.code, each): each for each in members}
    metas = store.metas({*sandboxes.values()})
    changes = {
        learner: (before, go_to_step(lesson, before, step, now))
        for learner, before in learners.progress_of([*ids], lesson.name).items()
        if (meta := metas.get(sandboxes[ids[learner]]))
        and meta.created == before.created
        and (found := lesson_in(meta))
        and found.name == lesson.name
    }
    stored = learners.store_all(lesson, changes)
    return {ids[learner] for learner, is_stored in stored.items() if is_stored}


def _create_at_step(
    store: Store, room: Room, lesson: Lesson, step: int, name: str, *, replace: bool
) -> Sandbox:
    """Create a sandbox of the lesson in the state of a step. Raises StatusError."""
    seed, now = room.settings.seed, store.wall()
    if step:
        with suppress(NotReached):  # a solution does not work with this seed
            state = state_at_step(lesson, step, now, seed)
            clock = Clock(sim=state.now, wall=now)
            return create_with_state(store, name, state, clock, replace_old=replace)
    if not replace:
        return start_lesson(store, lesson, [name], seed)
    return restart_lesson(store, lesson, name, seed)


def _find_sandbox(store: Store, name: str, lesson: Lesson) -> Sandbox | None:
    """Return the sandbox of that name if it is of the lesson."""
    with suppress(NoSandbox):
        sandbox = store.sandbox(name)
        found = lesson_in(sandbox.meta())
        return sandbox if found and found.name == lesson.name else None
    return None
