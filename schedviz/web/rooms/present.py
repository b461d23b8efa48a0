"""The views of a room's pages: the lines of the table, the question, and times."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from django.utils.translation import get_language, gettext, ngettext

from schedviz.lessons.lesson import Lesson
from schedviz.rooms.overview import Histogram, LearnerRow
from schedviz.rooms.room import TEACHER, Outcome, Room
from schedviz.rooms.room_store import Seen
from schedviz.rooms.work import Work
from schedviz.web.lessons.result import ResultView, present_results
from schedviz.web.reasons.faults import explain_refusal

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
    lesson: str
    """The title of the lesson."""
    title: str
    text: str
    """The text of the question as HTML, as ``answer``."""
    answer: str
    bars: list[BarView]
    revealed: bool
    collected: bool
    """Whether learners see the answer when the teacher reveals it."""


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
    words = lessons[found.lesson].text(get_language() or "en")
    text = words.steps[found.step]
    return RoomQuestion(
        found=found,
        lesson=words.title,
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
        collected=room.collecting and found.key not in room.answers,
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


def step_choices(room: Room, lessons: Lessons, name: str) -> list[tuple[str, list[Choice]]]:
    """Return the steps that the teacher may set, with the titles of their lessons: those of the room's
    lesson, or of all lessons of the course. name: the lesson that is chosen."""
    is_course = room.settings.what.kind == "course"
    return [
        (each.label, _steps_of(lessons[each.value], room.step if each.value == name else None))
        for each in lesson_choices(lessons, name)
        if is_course or each.value == name
    ]


def _steps_of(lesson: Lesson, chosen: int | None) -> list[Choice]:
    text = lesson.text(get_language() or "en")
    return [
        Choice(f"{lesson.name}/{place}", f"{place + 1}. {text.steps[step.id].title}", chosen == place)
        for place, step in enumerate(lesson.steps)
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


def outcome_text(outcome: Outcome, seen: Seen, lessons: Lessons) -> str:
    """Return what the last act for all did, and to whom. Learners may be elsewhere since then."""
    lesson = lessons.get(outcome.lesson)
    if lesson is None or outcome.step >= len(lesson.steps):
        return ""
    names = {each.number: each.name for each in seen.members}
    step = lesson.text(get_language() or "en").steps[lesson.steps[outcome.step].id]
    words = {"n": outcome.moved, "step": outcome.step + 1, "title": step.title}
    if not outcome.moved and not outcome.failed:
        return gettext("Who joins begins at step %(step)s: %(title)s.") % words
    text = ngettext(
        "%(n)s learner was moved to step %(step)s: %(title)s.",
        "%(n)s learners were moved to step %(step)s: %(title)s.",
        outcome.moved,
    )  # fmt: skip
    texts = [text % words]
    if away := [names[each] for each in outcome.away if each in names]:
        texts.append(gettext("Not here at that moment: %(names)s.") % {"names": ", ".join(away)})
    texts += [
        gettext("Not moved: %(name)s (%(reason)s).")
        % {
            "name": names[each.number],
            "reason": explain_refusal(ValueError(each.reason))
            if each.reason
            else gettext("an error, which the log of the server has"),
        }
        for each in outcome.failed
        if each.number in names
    ]
    return " ".join([*texts, gettext("Who joins later begins there.")])


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
