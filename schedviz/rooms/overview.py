"""The overview for the teacher: each learner's progress, who is stuck, and the guesses at the question."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from schedviz.lessons.evaluate import is_step_complete
from schedviz.lessons.lesson import Lesson, Par, Step
from schedviz.lessons.progress import Progress
from schedviz.rooms.room import Member, Room, learner_id
from schedviz.rooms.room_store import Seen
from schedviz.rooms.together import Wait, find_wait, is_collected

ByLesson = Mapping[str, Progress]
"""A learner's progress by the name of the lesson."""


class LearnerRow(msgspec.Struct, frozen=True, kw_only=True):
    """A learner's line of the table."""

    number: int
    name: str
    online: bool
    lesson: str = ""
    step: int = 0
    """The step of the learner, counted from 0."""
    steps: int = 0
    step_id: str = ""
    passed: int = 0
    checks: int = 0
    """The checks of the whole lesson."""
    since: float = 0.0
    """Time at which the step was reached; 0 = there is no lesson."""
    guess: tuple[str, ...] = ()
    """The last guess: ids of choices; () = none."""
    guess_step: str = ""
    right: bool = False
    submitted: bool = False
    """Whether the teacher collects the answers to the question of the last guess."""
    waits: Wait = ""
    hand: float = 0.0
    """Time at which the learner raised a hand; 0 = it is not raised."""
    done: bool = False
    """Whether the learner has said *I am done*."""
    stuck: bool = False
    finished: bool = False
    best: Par | None = None
    """The best result of a level."""


class AnswerBar(msgspec.Struct, frozen=True):
    """The number of learners who chose one of the choices."""

    choice: str
    count: int
    right: bool


class Histogram(msgspec.Struct, frozen=True):
    """The guesses at one question. With several choices a learner's guess counts for each of them."""

    lesson: str
    step: str
    bars: list[AnswerBar]
    answered: int
    right: int
    names: list[str]
    """The names of the learners who answered."""
    learners: int
    """The members of the room."""

    @property
    def key(self) -> str:
        return f"{self.lesson}/{self.step}"


class RoomOverview(msgspec.Struct, frozen=True):
    room: Room
    rows: list[LearnerRow]
    """Those who raised a hand first, then those who are stuck, otherwise in the order of joining."""
    histogram: Histogram | None
    """The guesses at the question; None = the lesson has no question."""
    online: int
    stuck: int
    finished: int
    hands: int
    done: int


class QuestionName(NamedTuple):
    lesson: str
    step: str


NO_PROGRESS: Final[ByLesson] = {}


def overview(seen: Seen, progress: Mapping[str, ByLesson], lessons: Mapping[str, Lesson]) -> RoomOverview:
    """Return the overview of a room. progress: by the id of the learner."""
    by_member = _by_member(seen, progress)
    rows = [_row(seen, member, by_lesson, lessons) for member, by_lesson in by_member]
    question = find_question(seen.room, rows, lessons)
    return RoomOverview(
        room=seen.room,
        rows=sorted(rows, key=lambda row: (not row.hand, row.hand, not row.stuck, row.number)),
        histogram=_histogram(question, by_member, lessons) if question else None,
        online=sum(row.online for row in rows),
        stuck=sum(row.stuck for row in rows),
        finished=sum(row.finished for row in rows),
        hands=sum(row.hand > 0 for row in rows),
        done=sum(row.done for row in rows),
    )


def _by_member(seen: Seen, progress: Mapping[str, ByLesson]) -> list[tuple[Member, ByLesson]]:
    return [
        (each, progress.get(learner_id(seen.room.code, each.number), NO_PROGRESS)) for each in seen.members
    ]


def latest(by_lesson: ByLesson) -> Progress | None:
    """Return the progress in the lesson that the learner is in."""
    return max(by_lesson.values(), key=lambda each: max(each.progressed, each.started), default=None)


def _row(seen: Seen, member: Member, by_lesson: ByLesson, lessons: Mapping[str, Lesson]) -> LearnerRow:
    row = LearnerRow(
        number=member.number,
        name=member.name,
        online=seen.is_online(member.number),
        hand=seen.hands.get(member.number, 0.0),
        done=member.number in seen.done,
    )
    here = latest(by_lesson)
    lesson = lessons.get(here.lesson) if here else None
    if here is None or lesson is None:
        return row
    step = min(here.step, len(lesson.steps) - 1)
    guessed = [each for each in lesson.steps if each.id in here.guesses]
    last = here.guesses[guessed[-1].id] if guessed else None
    waits: Wait = "" if seen.room.is_over(seen.now) else find_wait(seen.room, lesson, here)
    return replace(
        row,
        lesson=lesson.name,
        step=step,
        steps=len(lesson.steps),
        step_id=lesson.steps[step].id,
        passed=len(here.passed),
        checks=sum(len(each.checks) for each in lesson.steps),
        since=here.since,
        guess=tuple(last.picks) if last else (),
        guess_step=guessed[-1].id if last else "",
        right=bool(last and last.right),
        submitted=bool(last and is_collected(seen.room, lesson, lesson.steps.index(guessed[-1]))),
        waits=waits,
        stuck=not waits and not row.done and row.online and _is_stuck(seen, lesson, here),
        finished=bool(here.finished),
        best=here.best,
    )


def _is_stuck(seen: Seen, lesson: Lesson, here: Progress) -> bool:
    """Whether a learner who may go on does not. The time in which the class stood does not count."""
    room = seen.room
    stands = room.paused or room.discussion or room.is_over(seen.now)
    if stands or is_step_complete(lesson, here, min(here.step, len(lesson.steps) - 1)):
        return False
    return replace(here, progressed=max(here.progressed, room.went_on)).is_stuck(seen.now)


def find_question(
    room: Room, rows: Sequence[LearnerRow], lessons: Mapping[str, Lesson]
) -> QuestionName | None:
    """Return the question that the teacher chose; otherwise the one at the step, or the last one before it,
    that most learners of the most frequent lesson have reached."""
    lesson, _, step = room.question.partition("/")
    if lesson in lessons and any(each.id == step and each.question for each in lessons[lesson].steps):
        return QuestionName(lesson, step)
    name = room.lesson
    if name not in lessons:
        counted = Counter(row.lesson for row in rows if row.lesson).most_common(1)
        name = counted[0][0] if counted else ""
    if name not in lessons:
        return None
    asked = [number for number, each in enumerate(lessons[name].steps) if each.question]
    if not asked:
        return None
    reached = Counter(
        max((number for number in asked if number <= row.step), default=asked[0])
        for row in rows
        if row.lesson == name
    )
    number = max(reached, key=lambda each: (reached[each], each), default=asked[0])
    return QuestionName(name, lessons[name].steps[number].id)


def _histogram(
    name: QuestionName, by_member: Sequence[tuple[Member, ByLesson]], lessons: Mapping[str, Lesson]
) -> Histogram:
    question = find_step(lessons[name.lesson], name.step).question
    assert question is not None
    guesses = [
        (member, guess)
        for member, by_lesson in by_member
        if (progress := by_lesson.get(name.lesson)) and (guess := progress.guesses.get(name.step))
    ]
    counts = Counter(pick for _, guess in guesses for pick in guess.picks)
    return Histogram(
        lesson=name.lesson,
        step=name.step,
        bars=[AnswerBar(choice, counts[choice], choice in question.right) for choice in question.choices],
        answered=len(guesses),
        right=sum(guess.right for _, guess in guesses),
        names=[member.name for member, _ in guesses],
        learners=len(by_member),
    )


def answered_questions(
    seen: Seen, progress: Mapping[str, ByLesson], lessons: Mapping[str, Lesson]
) -> list[Histogram]:
    """Return the guesses at each question that somebody has answered, in the order of the course."""
    by_member = _by_member(seen, progress)
    begun = {name for _, by_lesson in by_member for name in by_lesson if name in lessons}
    found = [
        _histogram(QuestionName(name, step.id), by_member, lessons)
        for name in sorted(begun, key=lambda name: lessons[name].order)
        for step in lessons[name].steps
        if step.question
    ]
    return [each for each in found if each.answered]


def find_step(lesson: Lesson, step: str) -> Step:
    return next(each for each in lesson.steps if each.id == step)
