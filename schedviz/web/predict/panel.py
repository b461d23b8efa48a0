"""The panel of the prediction mode: the question before a decision, and the answer after it."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext

from schedviz.web.picture.picture import Picture
from schedviz.web.picture.records import pod_record
from schedviz.web.queue.lanes import title
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator.api import Manifest
from simulator.decision import Decision

from . import facts, words
from .facts import Fact
from .grade import Grade
from .question import GuessKind, GuessQuestion, Popped, answer
from .viewer import Score

CHOSEN_ON: Final[Mapping[GuessKind, str]] = {
    "next": "queue",
    "nodes": "nodes",
    "winner": "nodes",
    "victims": "pods of nodes",
}
"""What is clicked on the page to answer a question."""


class GuessChoice(msgspec.Struct, frozen=True):
    value: str
    label: str
    note: str
    facts: list[Fact]
    """The further facts that can be read beside the question."""


class AnswerMark(msgspec.Struct, frozen=True):
    """A pod or a node that is marked on the page as part of an answer. ``word`` has a sign before it."""

    value: str
    mark: Literal["right", "wrong", "answer"]
    word: str


class GuessQuestionView(msgspec.Struct, frozen=True):
    id: str
    kind: GuessKind
    text: str
    how: str
    many: bool
    facts: list[Fact]
    """The facts that decide where the pod in question may run."""
    choices: list[GuessChoice]


class TallyBar(msgspec.Struct, frozen=True):
    """A choice, and how many viewers chose it."""

    label: str
    count: int
    percent: int
    """The percentage of the viewers that guessed this."""


class AnswerView(msgspec.Struct, frozen=True):
    kind: GuessKind
    marks: list[AnswerMark]
    question: str
    solution: str
    why: str
    guess: str
    """The guess of the viewer; empty if the viewer did not guess."""
    right: bool
    mistake: str
    cycle: int
    """The cycle with the permalink; 0 while it is not finished."""
    bars: list[TallyBar]
    total: int


class PredictView(msgspec.Struct, frozen=True):
    running: bool
    """Whether the clock runs. Questions are asked only while it is paused."""
    busy: bool
    """Whether a step was requested and is not done yet."""
    score: Score
    answer: AnswerView | None
    question: GuessQuestionView | None
    guessed: str
    """The guess of the viewer, while the presenter hides the answer."""
    late: bool
    """Whether the viewer's guess came when the queue had changed, and did not count."""
    guesses: int
    """The number of guesses, for the presenter."""
    held: bool
    presenter: bool
    may_release: bool
    """Whether the viewer may end the hiding of the answers: the presenter, the owner, the teacher."""
    idle: str
    """The reason for which there is no question; "" = there is one."""
    seen: str
    """A text that differs for each state of the panel."""


def question_view(question: GuessQuestion, picture: Picture, pod: Manifest | None) -> GuessQuestionView:
    """Return the view of a question. pod: the pod in question, unless the question is which pod is next."""
    wanted = pod_record(pod).requests if pod else {}
    return GuessQuestionView(
        question.id,
        question.kind,
        words.question(question),
        words.how(question),
        question.many,
        facts.of_pod(pod) if pod else [],
        [choice(question.kind, value, picture, wanted) for value in question.choices],
    )


def choice(kind: GuessKind, value: str, picture: Picture, wanted: Mapping[str, int]) -> GuessChoice:
    """Return the view of a choice. wanted: the requests of the pod in question."""
    if kind in ("nodes", "winner"):
        return GuessChoice(
            value, node_name(value), facts.free(picture, value, wanted), facts.of_node(picture, value)
        )
    note, more = "", facts.in_queue(picture, value)
    if kind == "next" and (entry := picture.queue_places.get(value)):
        note = priority_note(entry.priority, title(entry.lane))
    elif kind == "victims" and (pod := picture.pods.get(value)):
        note = priority_note(pod.priority, node_name(pod.node))
        more = [Fact(gettext("requests"), [fmt.requests(pod.requests)])]
    return GuessChoice(value, fmt.pod_name(value), note, more)


def priority_note(value: int, place: str) -> str:
    return gettext("priority %(priority)s, %(place)s") % {"priority": fmt.number(value), "place": place}


def answer_view(
    kind: GuessKind,
    decision: Decision,
    point: str,
    tally: dict[str, int],
    guess: tuple[tuple[str, ...], Grade] | None,
    *,
    popped: Popped,
    open_question: GuessKind | None,
) -> AnswerView:
    """Return the answer to a question. guess: the guess of the viewer with its grade; None without a
    guess. open_question: the question that the panel asks below the answer. Where it is about the same things
    on the page, they have no marks, which would read as its answer."""
    subject = GuessQuestion(kind, decision.cycle, decision.pod)
    total = tally.get("", 0)
    counts = sorted(
        ((pick, count) for pick, count in tally.items() if pick), key=lambda item: (-item[1], item[0])
    )
    truth = answer(kind, decision, point) or frozenset()
    marked = open_question is None or CHOSEN_ON[kind] != CHOSEN_ON[open_question]
    return AnswerView(
        kind=kind,
        marks=marks(truth, frozenset(guess[0] if guess else ())) if marked else [],
        question=words.question(subject),
        solution=words.solution(kind, decision, point),
        why=words.why(kind, decision, popped),
        guess=picked(guess[0]) if guess else "",
        right=bool(guess and guess[1].right),
        mistake=words.mistake(guess[1], decision) if guess else "",
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


def marks(truth: frozenset[str], guess: frozenset[str]) -> list[AnswerMark]:
    """Return the marks on the page after an answer: the right answer, and the wrong parts of the guess."""
    words_of: dict[Literal["right", "wrong", "answer"], str] = {
        "right": gettext("✓ right"),
        "wrong": gettext("✗ not this one"),
        "answer": gettext("→ the answer"),
    }
    found: list[AnswerMark] = []
    for value in sorted(truth | guess):
        mark: Literal["right", "wrong", "answer"] = "answer"
        if value in guess:
            mark = "right" if value in truth else "wrong"
        found.append(AnswerMark(value, mark, words_of[mark]))
    return found
