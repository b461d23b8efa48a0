"""The teacher's table and the histogram, computed from the learners' progress; and the results as CSV."""

import csv
import io

import pytest
from msgspec.structs import replace

from schedviz.lessons.evaluate import begin, go_to_step, guess
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.progress import Progress
from schedviz.lessons.read_lesson import read_lesson
from schedviz.rooms.overview import ByLesson, answered_questions, overview
from schedviz.rooms.results import HEAD, QUESTIONS_HEAD, question_results, results, safe_cell
from schedviz.rooms.room import Member, Room, RoomSettings, What, learner_id
from schedviz.rooms.room_store import Seen
from tests.lessons.folders import PENDING

CODE = "CDFGHJ"
NOW = 10_000.0


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return read_lesson(PENDING)


def room_of(*names: str, online: tuple[int, ...] = (), **state: object) -> Seen:
    settings = RoomSettings(
        code=CODE, title="Monday", what=What("lesson", "pending"), mode="own", seed=1, teacher="", created=0.0
    )
    room = replace(Room(settings=settings, ends=NOW + 60, lesson="pending"), **state)
    members = [Member(number, name, "", 0.0) for number, name in enumerate(names, 1)]
    return Seen(room, members, dict.fromkeys(online, NOW - 1), {}, {}, NOW)


def at(lesson: Lesson, number: int, step: int, *, picks: str = "", ago: float = 10.0) -> Progress:
    """The progress of a learner who reached a step some seconds ago, after a guess."""
    progress = begin(lesson, learner_id(CODE, number), 1.0, NOW - 600)
    if picks:
        progress = guess(lesson, go_to_step(lesson, progress, 1, NOW - 300), [picks], NOW - 200)
    return go_to_step(lesson, progress, step, NOW - ago)


def by_learner(*progress: Progress) -> dict[str, ByLesson]:
    return {each.sandbox: {each.lesson: each} for each in progress}


def test_a_row_shows_the_progress_of_a_learner(lesson: Lesson) -> None:
    found = overview(
        room_of("Ada", "Bo", online=(1,)),
        by_learner(replace(at(lesson, 1, 2, picks="fits"), passed=frozenset({"create/tried"}))),
        {"pending": lesson},
    )
    ada, bo = found.rows
    assert (ada.name, ada.lesson, ada.step, ada.steps, ada.step_id) == ("Ada", "pending", 2, 4, "create")
    assert (ada.passed, ada.checks, ada.since) == (1, 3, NOW - 10)
    assert (ada.guess, ada.guess_step, ada.right) == (("fits",), "predict", False)
    assert (ada.online, ada.stuck, ada.finished) == (True, False, False)
    assert (bo.name, bo.lesson, bo.online, bo.stuck) == ("Bo", "", False, False)
    assert (found.online, found.stuck) == (1, 0)


def test_learners_who_are_stuck_are_listed_first(lesson: Lesson) -> None:
    found = overview(
        room_of("Ada", "Bo", "Cy", "Di", online=(1, 2, 3, 4)),
        by_learner(
            at(lesson, 1, 2),
            at(lesson, 2, 2, ago=121),
            replace(at(lesson, 3, 2), failures=3),
            replace(at(lesson, 4, 3, ago=500), finished=NOW - 400),
        ),
        {"pending": lesson},
    )
    assert [(row.name, row.stuck) for row in found.rows] == [
        ("Bo", True),
        ("Cy", True),
        ("Ada", False),
        ("Di", False),
    ]
    assert (found.stuck, found.finished) == (2, 1)


@pytest.mark.parametrize(
    ("state", "stuck"),
    [
        ({}, ["Ada"]),
        ({"paused": True}, []),
        ({"discussion": True}, []),
        ({"locked": True}, []),
        ({"locked": True, "step": 3}, ["Ada"]),  # whoever may come up to the locked step can be stuck
        ({"ended": NOW - 1}, []),
        ({"went_on": NOW - 119}, []),
        ({"went_on": NOW - 121}, ["Ada"]),
    ],
)
def test_only_a_learner_who_could_go_on_is_stuck(
    lesson: Lesson, state: dict[str, object], stuck: list[str]
) -> None:
    answered = replace(at(lesson, 3, 1, picks="fits", ago=500), progressed=NOW - 500)
    found = overview(
        room_of("Ada", "away", "complete", "says so", online=(1, 3, 4), **state),
        by_learner(at(lesson, 1, 2, ago=121), at(lesson, 2, 2, ago=500), answered, at(lesson, 4, 2, ago=500)),
        {"pending": lesson},
    ).rows
    assert [row.name for row in found if row.stuck and row.number != 4] == stuck


def test_who_waits_for_an_answer_or_is_done_is_not_stuck(lesson: Lesson) -> None:
    """With three wrong guesses, too. A raised hand is listed first, the oldest one before."""
    asked = at(lesson, 1, 1, ago=500)
    seen = replace(
        room_of("Ada", "Bo", "Cy", "Di", online=(1, 2, 3, 4), collecting=True),
        hands={4: NOW - 9, 3: NOW - 20},
        done={2: NOW - 5},
    )
    progress = by_learner(asked, *(at(lesson, number, 2, ago=500) for number in (2, 3)))
    found = overview(seen, progress, {"pending": lesson})
    assert [(row.name, row.stuck, row.waits, row.done) for row in found.rows] == [
        ("Cy", True, "", False),
        ("Di", False, "", False),
        ("Ada", False, "answer", False),
        ("Bo", False, "", True),
    ]
    assert (found.hands, found.done) == (2, 1)
    ended = overview(replace(seen, room=replace(seen.room, ended=NOW - 1)), progress, {"pending": lesson})
    assert [row.waits for row in ended.rows] == [""] * 4


def test_the_histogram_counts_the_first_guesses(lesson: Lesson) -> None:
    found = overview(
        room_of("Ada", "Bo", "Cy", "Di"),
        by_learner(
            at(lesson, 1, 1, picks="fits"),
            at(lesson, 2, 2, picks="pending"),
            at(lesson, 3, 2, picks="pending"),
            at(lesson, 4, 0),
        ),
        {"pending": lesson},
    ).histogram
    assert found
    assert found.key == "pending/predict"
    assert [(bar.choice, bar.count, bar.right) for bar in found.bars] == [
        ("fits", 1, False),
        ("pending", 2, True),
    ]
    assert (found.answered, found.right, found.learners) == (3, 2, 4)
    assert found.names == ["Ada", "Bo", "Cy"]


def test_a_question_is_listed_before_a_learner_has_reached_it(lesson: Lesson) -> None:
    for seen in (room_of(), room_of("Ada")):
        found = overview(seen, {}, {"pending": lesson}).histogram
        assert found
        assert (found.key, found.answered) == ("pending/predict", 0)
    assert overview(room_of("Ada", lesson=""), {}, {"pending": lesson}).histogram is None


def test_the_choices_of_the_teacher_are_validated(lesson: Lesson) -> None:
    for wrong in ("pending/create", "other/predict", "x", "pending/none"):
        found = overview(room_of("Ada", question=wrong), {}, {"pending": lesson}).histogram
        assert found
        assert found.key == "pending/predict"


def test_the_row_of_a_deleted_lesson_is_empty(lesson: Lesson) -> None:
    found = overview(room_of("Ada"), by_learner(at(lesson, 1, 2)), {})
    assert found.rows[0].lesson == ""
    assert found.histogram is None


def test_the_results_have_a_line_for_each_learner_and_lesson(lesson: Lesson) -> None:
    progress = by_learner(
        replace(at(lesson, 1, 3, picks="pending"), finished=NOW - 60, passed=frozenset("abc"))
    )
    text = results(room_of("Ada", '=HYPERLINK("x")'), progress, {"pending": lesson})
    lines = [*csv.DictReader(io.StringIO(text))]
    assert [*lines[0]] == [*HEAD]
    assert lines[0] == {
        "number": "1", "name": "Ada", "lesson": "pending", "step": "4", "steps": "4", "checks_passed": "3",
        "checks": "3", "guesses_right": "1", "guesses": "1", "solutions_shown": "0", "minutes": "9.0",
        "finished": "yes",
        "best_victims": "",
        "best_nodes": "",
        "best_edits": "",
    }  # fmt: skip
    assert lines[1]["name"] == """'=HYPERLINK("x")"""
    assert lines[1]["lesson"] == ""


@pytest.mark.parametrize("begin", [*"=+-@\t\r\n"])
def test_names_in_the_csv_are_not_formulas(begin: str) -> None:
    assert safe_cell(f"{begin}SUM(A1)") == f"'{begin}SUM(A1)"
    assert safe_cell("Ada=1") == "Ada=1"


@pytest.mark.parametrize("between", [";", "\t", ';"', "; "])
def test_no_cell_is_a_formula_where_a_spreadsheet_splits_at_semicolons(between: str) -> None:
    assert safe_cell(f"Ada{between}=SUM(A1)") == f"Ada{between}'=SUM(A1)"
    assert safe_cell("Ada; -1") == "Ada; '-1"
    assert safe_cell("Ada; Bob-1") == "Ada; Bob-1"


def test_the_results_have_the_guesses_at_each_question_that_was_answered(lesson: Lesson) -> None:
    progress = by_learner(at(lesson, 1, 2, picks="fits"), at(lesson, 2, 2, picks="pending"), at(lesson, 3, 1))
    lessons = {"pending": lesson}
    found = answered_questions(room_of("Ada", "Bo", "Cleo"), progress, lessons)
    assert [(each.key, each.answered, each.right, each.learners) for each in found] == [
        ("pending/predict", 2, 1, 3)
    ]
    lines = [*csv.reader(io.StringIO(question_results(found)))]
    assert lines == [
        [*QUESTIONS_HEAD],
        ["pending", "predict", "fits", "no", "1", "2", "1", "3"],
        ["pending", "predict", "pending", "yes", "1", "2", "1", "3"],
    ]
    assert answered_questions(room_of("Ada"), by_learner(at(lesson, 1, 1)), lessons) == []
