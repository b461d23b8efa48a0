"""The results of a room as CSV: a line for each learner and lesson, and a line for each choice of a
question."""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from typing import Final

from schedviz.lessons.lesson import Lesson, Par
from schedviz.rooms.overview import NO_PROGRESS, ByLesson, Histogram
from schedviz.rooms.room import learner_id
from schedviz.rooms.room_store import Seen

HEAD: Final = (
    "number", "name", "lesson", "step", "steps", "checks_passed", "checks", "guesses_right", "guesses",
    "solutions_shown", "minutes", "finished", "best_victims", "best_nodes", "best_edits",
)  # fmt: skip
QUESTIONS_HEAD: Final = (
    "lesson",
    "step",
    "choice",
    "right",
    "chosen",
    "answered",
    "answered_right",
    "learners",
)

WITHIN: Final = re.compile(r"([;\t](?:[^\S\t]|[\"'])*)(?=[=+\-@])")
"""What stands before a formula in a text that a spreadsheet splits there."""

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
"""The characters with which a formula begins in a spreadsheet (OWASP, CSV injection)."""


def results(seen: Seen, progress: Mapping[str, ByLesson], lessons: Mapping[str, Lesson]) -> str:
    """Return the results of a room as CSV. progress: by the id of the learner."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(HEAD)
    for member in seen.members:
        by_lesson = progress.get(learner_id(seen.room.code, member.number), NO_PROGRESS)
        known = [(lessons[name], each) for name, each in by_lesson.items() if name in lessons]
        if not known:
            writer.writerow([member.number, safe_cell(member.name), *[""] * (len(HEAD) - 2)])
        for lesson, each in sorted(known, key=lambda pair: pair[0].order):
            last = each.finished or max(each.progressed, each.since)
            writer.writerow(
                [
                    member.number,
                    safe_cell(member.name),
                    lesson.name,
                    min(each.step + 1, len(lesson.steps)),
                    len(lesson.steps),
                    len(each.passed),
                    sum(len(step.checks) for step in lesson.steps),
                    sum(guess.right for guess in each.guesses.values()),
                    len(each.guesses),
                    len(each.solved),
                    round((last - each.started) / 60, 1),
                    "yes" if each.finished else "no",
                    *_figures(each.best),
                ]
            )
    return out.getvalue()


def question_results(found: Iterable[Histogram]) -> str:
    """Return the guesses at questions as CSV."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(QUESTIONS_HEAD)
    for each in found:
        counts = [each.answered, each.right, each.learners]
        for bar in each.bars:
            right = "yes" if bar.right else "no"
            writer.writerow([each.lesson, each.step, bar.choice, right, bar.count, *counts])
    return out.getvalue()


def _figures(best: Par | None) -> list[int | str]:
    """Return the best result of a level; "" = not counted."""
    figures = (best.victims, best.nodes, best.edits) if best else (None, None, None)
    return ["" if each is None else each for each in figures]


def safe_cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula, also where it splits cells at semicolons or
    tabs."""
    return WITHIN.sub(r"\1'", f"'{text}" if text.startswith(FORMULA) else text)
