"""``manage.py lesson check`` plays every solution and every wrong answer."""

from pathlib import Path

import pytest
from django.core.management import call_command

from schedviz.lessons.management.commands.lesson import find_mistakes

from .folders import PENDING, copy_lesson


def found(folder: Path) -> list[str]:
    return [f"{mistake.line}: {mistake.message}" for mistake in find_mistakes(folder)]


def line(text: str) -> int:
    content = (PENDING / "lesson.yaml").read_text()
    assert content.count(text) == 1
    return content.count("\n", 0, content.index(text)) + 1


def test_a_lesson_without_mistakes() -> None:
    assert found(PENDING) == []


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        (
            "attempts['web'] >= 1",
            "attempts['web'] >= 99",
            "attempts['web'] >= 1",
            "steps[2].checks[0].expect: does not hold after the solution; the hint is waits",
        ),
        (
            "&& waiting['web'] == 'unschedulable'\"\n    solution",
            "&& waiting['web'] == 'gated'\"\n    solution",
            "truth:",
            "steps[1].question.truth: does not hold after the solution of the step create",
        ),
        (
            "- run: {until: bound urgent}",
            "- run: {until: bound nobody}",
            "- run: {until: bound urgent}",
            "steps[3].solution[1]: nobody is not bound after 60 s",
        ),
        (
            "          hint: fits",
            "          hint: absent",
            "        wrong:\n",
            "steps[2].checks[1].wrong: the hint is fits, not absent",
        ),
        ("edits: 2", "edits: 3", "par:", "par.edits: is 3, but the solutions have 2"),
        (
            "attempts['web'] >= 1",
            "true",
            "wrong: {do: [], hint: absent}\n      - id: pending",
            "steps[2].checks[0].wrong: the check holds after the wrong answer",
        ),
        (
            "metadata: {name: urgent}",
            "metadata: {name: batch}",
            "- create:\n          apiVersion: v1\n          kind: Pod\n          metadata: {name: urgent}",
            'steps[3].solution[0]: pods "batch" already exists',
        ),
    ],
)
def test_a_mistake_in_play_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, place: str, message: str
) -> None:
    mistakes = found(copy_lesson(tmp_path, ("lesson.yaml", old, new)))
    assert f"{line(place)}: {message}" in mistakes


def test_checks_that_hold_before_the_solution_are_a_mistake(tmp_path: Path) -> None:
    expect = "bound['urgent'] == 'node-1' && evicted.size() == 1 && !evicted.exists(e, e.breaks_budget)"
    folder = copy_lesson(tmp_path, ("lesson.yaml", expect, "'web' in pods"))
    place = line(f'checks:\n      - id: bound\n        expect: "{expect}"')
    assert f"{place}: steps[3].checks: all hold before the solution is played" in found(folder)


def test_the_command_prints_each_mistake_and_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("lesson", "check", PENDING)
    assert capsys.readouterr().out == "1 lesson checked: no mistakes\n"
    folder = copy_lesson(tmp_path, ("lesson.yaml", "edits: 2", "edits: 3"))
    with pytest.raises(SystemExit) as ended:
        call_command("lesson", "check", PENDING.parent, tmp_path)
    assert ended.value.code == 1
    expected = f"{folder}/lesson.yaml:{line('par:')}: par.edits: is 3, but the solutions have 2\n"
    assert capsys.readouterr().out == expected
