"""A learner in the sandbox of their lesson: the progress, brought up to date by a look at the sandbox, and
the panel that shows it."""

from contextlib import suppress
from typing import NamedTuple

from django.http import HttpRequest
from django.urls import reverse
from msgspec.structs import replace

from schedviz.cache import Present
from schedviz.lessons.catalogue import lesson_in, lessons
from schedviz.lessons.evaluate import begin, evaluate, go_to_step
from schedviz.lessons.learners import Learners
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.progress import Progress
from schedviz.lessons.result import keep_best, result_of
from schedviz.lessons.situation import Situation, situation_of
from schedviz.lessons.start import start_own_lesson
from schedviz.rooms.access import Participant, find_participant
from schedviz.rooms.notify import notify_teacher
from schedviz.rooms.room import SHARED, TEACHER, Member, Room, learner_id, room_of
from schedviz.rooms.room_store import NoRoom, Rooms
from schedviz.store import Meta, NoSandbox, Sandbox, Store
from schedviz.store.default import default_store
from schedviz.web.lessons.learner import known_learner
from schedviz.web.lessons.list import numbers
from schedviz.web.lessons.panel import LessonPanel, link_to, present_lesson
from schedviz.web.lessons.result import present_results

Current = Present | Sandbox


class Visit(NamedTuple):
    learner: str
    lesson: Lesson
    progress: Progress
    room: tuple[str, int] | None
    """The code of the room and the learner's number in it; None = the learner is in no room."""
    state: Room | None = None
    """The room in which the visitor is a learner; None also for its teacher."""
    watched: bool = False
    """Whether the visitor is the teacher of the room, who sees the learner's panel and changes nothing in
    it. In a sandbox that the room shares it is the panel of the step that the teacher has set."""

    @property
    def owns_sandbox(self) -> bool:
        """Whether the sandbox is the learner's alone. Others use it, too, in a room that shares one."""
        return self.room is None or room_of(self.progress.sandbox) == self.room

    @property
    def is_shared(self) -> bool:
        """Whether a room shares the sandbox."""
        place = room_of(self.progress.sandbox)
        return place is not None and place[1] == SHARED

    @property
    def may_solve(self) -> bool:
        """Whether the visitor may show the solution of a step. In a sandbox that a room shares, only the
        teacher does."""
        return self.is_shared == self.watched


def find_visit(request: HttpRequest, source: Current) -> Visit | None:
    """Return the visit of a lesson's sandbox; None for other sandboxes, and for another learner's sandbox
    unless the visitor is the teacher."""
    meta = source.meta()
    lesson = lesson_in(meta)
    if lesson is None:
        return None
    place, participant = room_of(meta.name), _participant_of(request, meta.name)
    room = _own_room(place, participant)
    if room is None and place and participant == "teacher":
        return _find_watched(lesson, meta, place)
    identifier = learner_id(*room) if room else known_learner(request)
    if not identifier:
        return None
    progress = Learners(default_store().redis).progress(identifier, lesson.name)
    if progress is None or (progress.sandbox, progress.created) != (meta.name, meta.created):
        return None
    return Visit(identifier, lesson, progress, room, _room_of_learner(room))


def _room_of_learner(place: tuple[str, int] | None) -> Room | None:
    """Return the room of a learner, whom its teacher may let wait; None for the teacher."""
    if place is None or place[1] == TEACHER:
        return None
    with suppress(NoRoom):
        return Rooms(default_store()).find(place[0])
    return None


def _participant_of(request: HttpRequest, sandbox: str) -> Participant:
    return find_participant(Rooms(default_store()), sandbox, request.COOKIES)


def _own_room(place: tuple[str, int] | None, participant: Participant) -> tuple[str, int] | None:
    """Return the code of the sandbox's room, and the number in it of the visitor. A teacher is a
    learner in the teacher's own sandbox."""
    if place and participant == "teacher" and place[1] == TEACHER:
        return place
    return (place[0], participant.number) if place and isinstance(participant, Member) else None


def _find_watched(lesson: Lesson, meta: Meta, place: tuple[str, int]) -> Visit | None:
    """Return the visit of a teacher to a sandbox of the room; None if its learner is in no lesson."""
    store = default_store()
    if place[1] != SHARED:
        progress = Learners(store.redis).progress(learner_id(*place), lesson.name)
    else:
        room, now = Rooms(store).find(place[0]), store.wall()
        progress = begin(lesson, meta.name, meta.created, now)
        if room.lesson == lesson.name and 0 < room.step < len(lesson.steps):
            progress = go_to_step(lesson, progress, room.step, now)
    if progress is None or progress.created != meta.created:
        return None
    return Visit(learner_id(*place), lesson, progress, place, watched=True)


def find_begun(store: Store, lesson: Lesson, learner: str) -> str | None:
    """Return the name of the learner's sandbox of a lesson; None if there is none."""
    progress = Learners(store.redis).progress(learner, lesson.name)
    if progress is None:
        return None
    try:
        meta = store.sandbox(progress.sandbox).meta()
    except NoSandbox:
        return None
    return meta.name if meta.created == progress.created else None


def begin_lesson(store: Store, lesson: Lesson, learner: str, access: str) -> str:
    """Create the learner's sandbox of a lesson, and begin with the first step; an existing one is deleted.
    access: the record of the sandbox. Returns its name. Raises StatusError."""
    meta = start_own_lesson(store, lesson, learner, access).meta()
    Learners(store.redis).begin(learner, begin(lesson, meta.name, meta.created, store.wall()))
    return meta.name


def look_at_lesson(visit: Visit, source: Current) -> LessonPanel:
    """Evaluate the step on the present state, store what has changed, and present the panel."""
    situation, now = situation_of(source, visit.progress), default_store().wall()
    after = evaluate(visit.lesson, visit.progress, situation, now)
    after = with_result(visit.lesson, visit.progress, after, situation)
    if visit.watched:
        return present_visit(visit._replace(progress=after), source, situation, now)
    learners = Learners(default_store().redis)
    if learners.store(visit.learner, visit.lesson, visit.progress, after):
        if visit.room and after != visit.progress:
            notify_teacher(visit.room[0])
        visit = visit._replace(progress=after)
    else:  # another request of the learner has changed it
        newer = learners.progress(visit.learner, visit.lesson.name)
        visit = visit._replace(progress=newer or after)
    return present_visit(visit, source, situation, now)


def with_result(lesson: Lesson, before: Progress, after: Progress, situation: Situation) -> Progress:
    """Return the progress with the result of a level that was just finished, if it is the best one."""
    if lesson.par is None or before.finished or not after.finished:
        return after
    return replace(after, best=keep_best(after.best, result_of(situation), lesson.par))


def present_visit(visit: Visit, source: Current, situation: Situation, now: float) -> LessonPanel:
    known, lesson, room = lessons(), visit.lesson, visit.room
    places = numbers(known.values())
    later = [each for each in known.values() if (each.par is None) == (lesson.par is None)]
    following = next(iter(later[later.index(lesson) + 1 :]), None) if lesson.name in places else None
    # In a room the teacher says what comes next.
    offered = None if room else Learners(default_store().redis).offered_lesson(visit.learner)
    can_share = lesson.par is not None and visit.progress.finished and not visit.watched
    return present_lesson(
        lesson,
        visit.progress,
        now=now,
        number=places.get(lesson.name, 0),
        up=_up(visit),
        in_room=room is not None,
        room=visit.state,
        watched=visit.watched,
        shared=visit.is_shared,
        may_solve=visit.may_solve,
        can_undo=may_undo(visit, situation),
        can_reset=visit.owns_sandbox and not visit.watched,
        following=link_to(following, places[following.name]) if following and not room else None,
        offered=link_to(offered, places[offered.name]) if offered else None,
        results=present_results(lesson.par, result_of(situation)),
        share=reverse("share-solution", args=[source.name]) if can_share else "",
    )


def may_undo(visit: Visit, situation: Situation) -> bool:
    """Whether there is a change to undo that the learner made at this step. Those of other steps stay."""
    reached = visit.progress.reached
    is_own = visit.owns_sandbox and not visit.watched
    return is_own and reached is not None and situation.changes > reached.changes


def _up(visit: Visit) -> str:
    """Return the path of the page from which the visitor came."""
    if visit.room is None:
        return reverse("lessons")
    is_teacher = visit.watched or visit.room[1] == TEACHER
    return reverse("teach" if is_teacher else "room-me", args=[visit.room[0]])
