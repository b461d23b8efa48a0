"""What learners of a room wait for: the answer of a question that the teacher collects, and a locked step."""

from typing import Literal

from schedviz.lessons.lesson import Lesson
from schedviz.lessons.progress import Progress
from schedviz.rooms.room import Room

Wait = Literal["", "answer", "lock"]
"""What a learner waits for before the next step: that the teacher reveals the answer, or unlocks the step;
"" = nothing."""


def is_withheld(room: Room, lesson: Lesson, progress: Progress, step: int) -> bool:
    """Whether the learner has submitted an answer, and does not see yet whether it is right."""
    made = progress.guesses.get(lesson.steps[step].id)
    return made is not None and made.collected and is_collected(room, lesson, step)


def is_collected(room: Room, lesson: Lesson, step: int) -> bool:
    """Whether the teacher collects the answers to the question of a step."""
    each = lesson.steps[step]
    return room.collecting and each.question is not None and f"{lesson.name}/{each.id}" not in room.answers


def find_wait(room: Room, lesson: Lesson, progress: Progress) -> Wait:
    """Return what the learner waits for at the present step. Who is before the locked step may come up to
    it. Who answered before the teacher began to collect does not wait."""
    step = min(progress.step, len(lesson.steps) - 1)
    if room.locked and not (lesson.name == room.lesson and step < room.step):
        return "lock"
    is_answered = lesson.steps[step].id in progress.guesses
    if is_withheld(room, lesson, progress, step) or (not is_answered and is_collected(room, lesson, step)):
        return "answer"
    return ""
