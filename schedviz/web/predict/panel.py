"""The panel of the prediction mode: the question before a decision, and the answer after it."""

from collections.abc import Iterable

import msgspec
from django.utils.translation import gettext

from schedviz.web.presenters import format as fmt
from schedviz.web.presenters.node_names import node_name
from schedviz.web.presenters.picture import Picture
from schedviz.web.presenters.queue import title
from simulator.decision import Decision

from . import words
from .grade import Grade
from .question import GuessQuestion, Kind
from .viewer import Score


class ChoiceView(msgspec.Struct, frozen=True):
    value: str
    label: str
    note: str


class QuestionView(msgspec.Struct, frozen=True):
    id: str
    kind: Kind
    text: str
    how: str
    many: bool
    choices: list[ChoiceView]


class TallyBar(msgspec.Struct, frozen=True):
    """A choice, and how many viewers chose it."""

    label: str
    count: int
    percent: int
    """The percentage of the viewers that guessed this."""


class AnswerView(msgspec.Struct, frozen=True):
    question: str
    solution: str
    why: str
    mine: str
    """The guess of the viewer; empty if the viewer did not guess."""
    right: bool
    slip: str
    cycle: int
    """The cycle with the permalink; 0 while it is not finished."""
    bars: list[TallyBar]
    total: int


class PredictView(msgspec.Struct, frozen=True):
    running: bool
    """The clock runs. Questions are asked only while it is paused."""
    busy: bool
    """A step was requested and is not done yet."""
    score: Score
    answer: AnswerView | None
    question: QuestionView | None
    guessed: str
    """The guess of the viewer, while the presenter hides the answer."""
    guesses: int
    """The number of guesses, for the presenter."""
    held: bool
    presenter: bool
    idle: str
    """Why there is no question; empty if there is one."""
    seen: str
    """A text that differs for each state of the panel."""


def question_view(question: GuessQuestion, picture: Picture) -> QuestionView:
    return QuestionView(
        question.id,
        question.kind,
        words.question(question),
        words.how(question),
        question.many,
        [choice(question.kind, value, picture) for value in question.choices],
    )


def choice(kind: Kind, value: str, picture: Picture) -> ChoiceView:
    if kind in ("nodes", "winner"):
        return ChoiceView(value, node_name(value), "")
    note = ""
    if kind == "next" and (entry := picture.lanes.get(value)):
        note = priority_note(entry.priority, title(entry.lane))
    elif kind == "victims" and (pod := picture.pods.get(value)):
        note = priority_note(pod.priority, node_name(pod.node))
    return ChoiceView(value, fmt.pod_name(value), note)


def priority_note(value: int, place: str) -> str:
    return gettext("priority %(priority)s, %(place)s") % {"priority": fmt.number(value), "place": place}


def answer_view(
    kind: Kind,
    decision: Decision,
    point: str,
    tally: dict[str, int],
    mine: tuple[tuple[str, ...], Grade] | None,
) -> AnswerView:
    """The answer to a question. mine: the guess of the viewer with its grade; None without a guess."""
    subject = GuessQuestion(kind, decision.cycle, decision.pod, ())
    total = tally.get("", 0)
    counts = sorted(
        ((pick, count) for pick, count in tally.items() if pick), key=lambda item: (-item[1], item[0])
    )
    return AnswerView(
        question=words.question(subject),
        solution=words.solution(kind, decision, point),
        why=words.why(kind, decision),
        mine=picked(mine[0]) if mine else "",
        right=bool(mine and mine[1].right),
        slip=words.slip(mine[1], decision) if mine else "",
        cycle=decision.cycle if decision.outcome else 0,
        bars=[
            TallyBar(pick_label(pick), count, round(100 * count / max(total, 1))) for pick, count in counts
        ],
        total=total,
    )


def picked(guess: Iterable[str]) -> str:
    return fmt.listed(pick_label(pick) for pick in guess) or gettext("none")


def pick_label(value: str) -> str:
    return fmt.pod_name(value) if "/" in value else node_name(value)
