"""The panel of a lesson beside the live page: one step at a time, with its question, its goals and the hint
that fits the present state."""

from collections.abc import Sequence
from hashlib import sha1
from typing import Literal

import msgspec
from django.utils.translation import get_language, gettext

from schedviz.lessons.choose_hint import offers_restart
from schedviz.lessons.evaluate import is_step_complete
from schedviz.lessons.general_hints import GeneralHint
from schedviz.lessons.lesson import Lesson, LessonText, Part, Step, StepText
from schedviz.lessons.progress import Guess, Progress
from schedviz.lessons.situation import KINDS
from schedviz.rooms.room import Room
from schedviz.rooms.together import Wait, find_wait, is_withheld
from schedviz.web.lessons.result import ResultView
from schedviz.web.lessons.solution import SolutionAct, present_solution

StepPlace = Literal["done", "here", "later"]


class LessonLink(msgspec.Struct, frozen=True):
    """Another lesson that the panel offers."""

    name: str
    title: str
    number: int
    level: bool


class StepChoice(msgspec.Struct, frozen=True):
    id: str
    text: str
    picked: bool
    right: bool


class StepQuestion(msgspec.Struct, frozen=True):
    text: str
    many: bool
    choices: list[StepChoice]
    guessed: bool
    submitted: bool
    """Whether the learner has answered, and sees what is right when the teacher of the room reveals it."""
    right: bool
    answer: str
    """The explanation of the answer; "" before the guess, and before it is revealed."""


class GoalView(msgspec.Struct, frozen=True):
    id: str
    text: str
    done: bool


class HintView(msgspec.Struct, frozen=True):
    text: str
    """The HTML of the lesson's hint; "" = it is a general one."""
    general: GeneralHint | None
    kind: str
    """The kind of the object that the general hint is about."""
    restart: bool
    """Whether the step has to be restarted. Only who may do that has the button (``can_reset``)."""


class HighlightView(msgspec.Struct, frozen=True):
    kind: str
    """The kind of the highlighted thing: ``pod``, ``node``, or a part."""
    name: str
    """The name of the pod or the node; "" for a part."""
    label: str


class LessonPanel(msgspec.Struct, frozen=True):
    name: str
    title: str
    number: int
    """The position in the course, from 1; 0 = the lesson was uploaded."""
    language: str
    """The language of the texts, which is not the page's if they are not translated."""
    at: int
    """The number of the step, from 1."""
    places: list[StepPlace]
    """The place of each step."""
    step: str
    """The id of the step."""
    heading: str
    body: str
    question: StepQuestion | None
    goals: list[GoalView]
    hint: HintView | None
    complete: bool
    reached: bool
    """Whether all goals are reached; the question may not be answered."""
    solved: bool
    """Whether the solution of the step was played."""
    can_solve: bool
    solved_by_teacher: bool
    """Whether only the teacher may show the solution, as all learners share the sandbox."""
    solution: list[SolutionAct]
    """The acts of the step's solution, if the visitor may carry it out or it was carried out."""
    can_undo: bool
    can_reset: bool
    up: str
    """The path of the list of lessons, or of the learner's page in a room."""
    in_room: bool
    waits: Wait
    """What the learner waits for before the next step."""
    watched: bool
    """Whether the visitor is the room's teacher, who changes nothing in the panel."""
    shared: bool
    """Whether the room shares the sandbox."""
    parts: list[Part]
    highlights: list[HighlightView]
    finished: bool
    undone: list[int]
    """The numbers of the steps that are not complete, of a finished lesson: the learner has skipped them."""
    results: list[ResultView]
    share: str
    """The path to which the solution of a level is posted to be shared; "" = there is none yet."""
    following: LessonLink | None
    offered: LessonLink | None

    @property
    def steps(self) -> int:
        return len(self.places)

    @property
    def last(self) -> bool:
        return self.at == self.steps

    @property
    def done(self) -> int:
        return sum(goal.done for goal in self.goals)

    @property
    def shown(self) -> str:
        """A text that changes when the panel does."""
        return sha1(msgspec.json.encode(self), usedforsecurity=False).hexdigest()[:12]


def present_lesson(
    lesson: Lesson,
    progress: Progress,
    *,
    now: float,
    number: int,
    up: str,
    can_undo: bool,
    can_reset: bool,
    in_room: bool = False,
    room: Room | None = None,
    watched: bool = False,
    shared: bool = False,
    may_solve: bool = True,
    following: LessonLink | None = None,
    offered: LessonLink | None = None,
    results: Sequence[ResultView] = (),
    share: str = "",
) -> LessonPanel:
    """Return the panel. room: the room in which the visitor is a learner; None = there is none."""
    language = get_language() or "en"
    text = lesson.text(language)
    at = min(progress.step, len(lesson.steps) - 1)
    step = lesson.steps[at]
    words = text.steps[step.id]
    withheld = room is not None and is_withheld(room, lesson, progress, at)
    question = present_question(step, words, progress.guesses.get(step.id), withheld=withheld)
    goals = [
        GoalView(check.id, words.checks[check.id], progress.has_passed(step, check)) for check in step.checks
    ]
    asks = bool(goals or question)
    complete = is_step_complete(lesson, progress, at)
    can_solve = bool(step.solution) and not complete
    return LessonPanel(
        name=lesson.name,
        title=text.title,
        number=number,
        language=language if language in lesson.texts else "en",
        at=at + 1,
        places=[place_of(each, at, finished=bool(progress.finished)) for each in range(len(lesson.steps))],
        step=step.id,
        heading=words.title,
        body=words.body,
        question=question,
        goals=goals,
        hint=present_hint(step, words, progress.shown_hint(now)),
        complete=complete,
        reached=all(goal.done for goal in goals),
        solved=step.id in progress.solved,
        can_solve=can_solve and may_solve,
        solved_by_teacher=can_solve and not may_solve and not watched,
        solution=present_solution(lesson, at)
        if (can_solve and may_solve) or step.id in progress.solved
        else [],
        can_undo=can_undo,
        can_reset=can_reset,
        up=up,
        in_room=in_room,
        waits=find_wait(room, lesson, progress) if room else "",
        watched=watched,
        shared=shared,
        parts=lesson.shown(at),
        highlights=[] if complete and asks else [present_highlight(each) for each in step.highlights],
        finished=bool(progress.finished) and not withheld,
        undone=[
            place
            for place in range(1, len(lesson.steps) + 1)
            if not is_step_complete(lesson, progress, place - 1)
        ],
        results=[*results],
        share=share,
        following=following,
        offered=offered,
    )


def place_of(step: int, at: int, *, finished: bool) -> StepPlace:
    if step == at and not finished:
        return "here"
    return "done" if step <= at else "later"


def present_question(
    step: Step, words: StepText, guess: Guess | None, *, withheld: bool = False
) -> StepQuestion | None:
    """Return the question of a step. withheld: it does not tell yet what is right."""
    if step.question is None:
        return None
    picks = guess.picks if guess else []
    return StepQuestion(
        text=words.question,
        many=step.question.many,
        choices=[
            StepChoice(each, words.choices[each], each in picks, each in step.question.right and not withheld)
            for each in step.question.choices
        ],
        guessed=guess is not None,
        submitted=guess is not None and withheld,
        right=guess is not None and guess.right and not withheld,
        answer=words.answer if guess and not withheld else "",
    )


def present_hint(step: Step, words: StepText, shown: str) -> HintView | None:
    """Return a hint (``STEP/CHECK/HINT``) of this step; None for one of another step, and for ""."""
    of_step, _, rest = shown.partition("/")
    name, _, hint = rest.partition("/")
    check = next((each for each in step.checks if each.id == name), None)
    if of_step != step.id or check is None:
        return None
    general = GeneralHint.read(hint)
    text = "" if general else words.hints.get(rest, "")
    kind = KINDS.get(general.variable, "") if general else ""
    return HintView(text, general, kind, offers_restart(check, hint)) if text or general else None


def present_highlight(text: str) -> HighlightView:
    kind, _, name = text.partition(" ")
    used = kind in ("create", "clock")
    return HighlightView(kind, name, gettext("Use this") if used else gettext("Look here"))


def link_to(lesson: Lesson, number: int) -> LessonLink:
    words: LessonText = lesson.text(get_language() or "en")
    return LessonLink(lesson.name, words.title, number, lesson.par is not None)
