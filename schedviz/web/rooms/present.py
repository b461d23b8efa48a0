"""The views of a room's pages: the lines of the table, the question, and times."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from django.utils.translation import get_language, gettext, ngettext

from schedviz.lessons.lesson import Lesson
from schedviz.rooms.overview import Histogram, LearnerRow
from schedviz.rooms.room import TEACHER, Room
from schedviz.rooms.room_store import Seen
from schedviz.rooms.work import Work
from schedviz.web.lessons.result import ResultView, present_results

Lessons = Mapping[str, Lesson]


class RowView(msgspec.Struct, frozen=True, kw_only=True):
    row: LearnerRow
    lesson: str
    """The title."""
    step: str
    """The title of the step."""
    guess: str
    """The choices of the last guess, as HTML."""
    best: list[ResultView] = []
    """The best result of a level."""


class BarView(msgspec.Struct, frozen=True):
    letter: str
    text: str
    """The choice, as HTML."""
    count: int
    share: int
    """The share in percent of those who answered."""
    right: bool


class RoomQuestion(msgspec.Struct, frozen=True):
    found: Histogram
    title: str
    text: str
    """The text of the question as HTML, as ``answer``."""
    answer: str
    bars: list[BarView]
    revealed: bool


class Choice(NamedTuple):
    """An option of a select."""

    value: str
    label: str
    chosen: bool = False


def row_view(row: LearnerRow, lessons: Lessons) -> RowView:
    lesson = lessons.get(row.lesson)
    if lesson is None:
        return RowView(row=row, lesson="", step="", guess="")
    text = lesson.text(get_language() or "en")
    guess = ""
    if row.guess:
        choices = text.steps[row.guess_step].choices
        guess = ", ".join(choices.get(each, each) for each in row.guess)
    return RowView(
        row=row,
        lesson=text.title,
        step=text.steps[row.step_id].title,
        guess=guess,
        best=present_results(lesson.par, row.best) if row.best else [],
    )


def question_view(found: Histogram, room: Room, lessons: Lessons) -> RoomQuestion:
    text = lessons[found.lesson].text(get_language() or "en").steps[found.step]
    return RoomQuestion(
        found=found,
        title=text.title,
        text=text.question,
        answer=text.answer,
        bars=[
            BarView(
                chr(ord("A") + place),
                text.choices.get(bar.choice, bar.choice),
                bar.count,
                round(100 * bar.count / found.answered) if found.answered else 0,
                bar.right,
            )
            for place, bar in enumerate(found.bars)
        ],
        revealed=room.revealed == found.key,
    )


def question_choices(room: Room, lessons: Lessons, name: str) -> list[Choice]:
    """Return the questions of a lesson that the teacher may show."""
    if name not in lessons:
        return []
    text = lessons[name].text(get_language() or "en")
    return [Choice("", gettext("the one that most have reached"), not room.question)] + [
        Choice(f"{name}/{step.id}", text.steps[step.id].title, room.question == f"{name}/{step.id}")
        for step in lessons[name].steps
        if step.question
    ]


def step_choices(room: Room, lessons: Lessons, name: str) -> list[Choice]:
    """Return the steps of a lesson."""
    if name not in lessons:
        return []
    text = lessons[name].text(get_language() or "en")
    return [
        Choice(f"{name}/{place}", f"{place + 1}. {text.steps[step.id].title}", room.step == place)
        for place, step in enumerate(lessons[name].steps)
    ]


def lesson_choices(lessons: Lessons, chosen: str) -> list[Choice]:
    """Return the lessons that a room may be for: those of the list, and an uploaded one that was chosen."""
    language = get_language() or "en"
    ordered = sorted(lessons.values(), key=lambda each: each.order)
    if chosen in lessons and all(each.name != chosen for each in ordered):
        ordered.insert(0, lessons[chosen])
    return [Choice(each.name, each.text(language).title, each.name == chosen) for each in ordered]


def source_choices(seen: Seen, numbers: Sequence[int]) -> list[Choice]:
    """Return the sandboxes of a room whose state the teacher may put into all."""
    names = {each.number: each.name for each in seen.members}
    return [
        Choice(str(number), gettext("your own") if number == TEACHER else names[number]) for number in numbers
    ]


def duration(seconds: float) -> str:
    """Return a duration in hours and minutes, rounded up."""
    minutes = max(0, -int(-seconds // 60))
    hours, rest = divmod(minutes, 60)
    if not hours:
        return ngettext("%(n)s minute", "%(n)s minutes", minutes) % {"n": minutes}
    if not rest:
        return ngettext("%(n)s hour", "%(n)s hours", hours) % {"n": hours}
    return gettext("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": rest}


def work_text(work: Work) -> str:
    """Return a text about the present work on all sandboxes, with its progress."""
    texts = {
        "pause": gettext("Pausing sandboxes: %(done)s of %(total)s"),
        "resume": gettext("Resuming sandboxes: %(done)s of %(total)s"),
        "start": gettext("Starting sandboxes over: %(done)s of %(total)s"),
        "step": gettext("Setting the step: %(done)s of %(total)s"),
        "state": gettext("Putting the state into sandboxes: %(done)s of %(total)s"),
        "delete": gettext("Deleting sandboxes: %(done)s of %(total)s"),
    }
    return texts[work.kind] % {"done": work.done, "total": work.total}
