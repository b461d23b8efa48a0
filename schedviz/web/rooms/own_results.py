"""The results of one learner in a room, on the learner's own page."""

from collections.abc import Mapping

import msgspec
from django.utils.translation import get_language

from schedviz.lessons.lesson import Lesson
from schedviz.lessons.progress import Progress
from schedviz.rooms.room import Room
from schedviz.rooms.together import is_withheld
from schedviz.web.lessons.result import ResultView, present_results


class OwnAnswer(msgspec.Struct, frozen=True):
    """An answer of the learner."""

    title: str
    """The title of the step."""
    given: list[str]
    """The choices as HTML, as ``wanted``."""
    wanted: list[str]
    """The right choices; none for a right answer, and before it is revealed."""
    right: bool
    withheld: bool


class OwnResult(msgspec.Struct, frozen=True):
    """A lesson that the learner has begun."""

    title: str
    finished: bool
    step: int
    """The number of the step, from 1."""
    steps: int
    passed: int
    checks: int
    answers: list[OwnAnswer]
    best: list[ResultView]

    @property
    def right(self) -> int:
        return sum(each.right for each in self.answers)


def present_own_results(
    room: Room, progress: Mapping[str, Progress], lessons: Mapping[str, Lesson], *, over: bool
) -> list[OwnResult]:
    """Return the results by lesson, in the order of the course. over: the room has ended, and nothing is
    withheld any more."""
    begun = [(lessons[name], each) for name, each in progress.items() if name in lessons]
    return [
        _result(room, lesson, each, over=over)
        for lesson, each in sorted(begun, key=lambda pair: pair[0].order)
    ]


def _result(room: Room, lesson: Lesson, progress: Progress, *, over: bool) -> OwnResult:
    text = lesson.text(get_language() or "en")
    answers = []
    for place, step in enumerate(lesson.steps):
        made = progress.guesses.get(step.id)
        if made is None or step.question is None:
            continue
        words, withheld = text.steps[step.id], not over and is_withheld(room, lesson, progress, place)
        wanted = [] if made.right or withheld else step.question.right
        answers.append(
            OwnAnswer(
                title=words.title,
                given=[words.choices.get(each, each) for each in made.picks],
                wanted=[words.choices[each] for each in wanted],
                right=made.right and not withheld,
                withheld=withheld,
            )
        )
    return OwnResult(
        title=text.title,
        finished=bool(progress.finished),
        step=min(progress.step + 1, len(lesson.steps)),
        steps=len(lesson.steps),
        passed=len(progress.passed),
        checks=sum(len(step.checks) for step in lesson.steps),
        answers=answers,
        best=present_results(lesson.par, progress.best) if progress.best else [],
    )
