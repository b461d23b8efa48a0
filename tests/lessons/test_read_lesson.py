"""A lesson is read whole, or each of its mistakes is named with its file and line."""

from pathlib import Path

import pytest
import yaml

from schedviz.lessons.mistakes import LessonError
from schedviz.lessons.read_lesson import read_lesson

from .folders import PENDING, copy_lesson

CASES: list[dict[str, str]] = yaml.safe_load((Path(__file__).parent / "mistakes.yaml").read_text())


def mistakes(folder: Path) -> list[str]:
    with pytest.raises(LessonError) as caught:
        read_lesson(folder)
    return [f"{mistake.file.name}:{mistake.line}: {mistake.message}" for mistake in caught.value.mistakes]


def test_a_lesson_has_its_steps_its_cluster_and_its_texts() -> None:
    lesson = read_lesson(PENDING)
    assert lesson.name == "pending"
    assert [step.id for step in lesson.steps] == ["look", "predict", "create", "preempt"]
    assert [manifest["kind"] for manifest in lesson.cluster.manifests] == ["Node", "PriorityClass", "Pod"]
    assert lesson.shown(0) == ["nodes"]
    assert lesson.shown(2) == ["queue", "nodes", "create"]
    text = lesson.text("zh-hans")
    assert text.title == "Requests decide"
    assert [*text.steps] == [step.id for step in lesson.steps]
    assert text.steps["look"].body == ("<p>The node <code>node-1</code> has <strong>4 CPU</strong>.</p>")
    predict = text.steps["predict"]
    assert predict.question == "<p>Where does <code>web</code> run?</p>"
    assert predict.choices == {
        "fits": "On <code>node-1</code>, because it <em>uses</em> only 1 CPU.",
        "pending": "Nowhere. It stays Pending.",
    }
    assert text.steps["create"].hints["tried/absent"] == "<p>There is no pod <code>web</code> yet.</p>"


def test_html_in_a_text_is_shown_as_text_and_unsafe_links_are_removed(tmp_path: Path) -> None:
    unsafe = (
        "<script>alert(1)</script> [a](javascript:alert(1)) <b onclick=x>b</b> ![i](http://x.example/i.png)"
    )
    folder = copy_lesson(tmp_path, ("en.md", "The node `node-1` has **4 CPU**.", unsafe))
    body = read_lesson(folder).text("en").steps["look"].body
    assert "<script" not in body
    assert "<b" not in body
    assert "<img" not in body
    assert "&lt;script&gt;" in body
    assert 'href="javascript' not in body


def test_a_table_that_would_be_filled_with_many_cells_is_not_rendered(tmp_path: Path) -> None:
    wide = "|a" * 200 + "|\n" + "|-" * 200 + "|\n" + "|\n" * 200
    folder = copy_lesson(tmp_path, ("en.md", "The node `node-1` has **4 CPU**.", wide))
    assert "en.md:8: a table is too wide for the number of lines of the text" in mistakes(folder)


@pytest.mark.parametrize("case", CASES, ids=[case["expected"] for case in CASES])
def test_a_mistake_is_named_with_its_line(tmp_path: Path, case: dict[str, str]) -> None:
    text = (PENDING / case["file"]).read_text()
    line = text.count("\n", 0, text.index(case["old"])) + 1
    found = mistakes(copy_lesson(tmp_path, (case["file"], case["old"], case["new"])))
    expected = case["expected"].replace("LINE", str(line))
    assert any(each.startswith(expected) for each in found), found


def test_all_mistakes_are_named(tmp_path: Path) -> None:
    folder = copy_lesson(
        tmp_path,
        ("lesson.yaml", "right: [pending]", "right: [nowhere]"),
        ("lesson.yaml", "after: create", "after: look"),
        ("en.md", "title: Requests decide\n", ""),
    )
    assert len(mistakes(folder)) == 3


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    folder = copy_lesson(tmp_path)
    (folder / "en.md").unlink()
    assert mistakes(folder) == ["en.md:1: is missing"]
    (folder / "cluster.yaml").unlink()
    assert mistakes(folder) == ["cluster.yaml:1: cannot be read: No such file or directory"]


def test_the_name_of_the_folder_is_a_dns_label(tmp_path: Path) -> None:
    folder = copy_lesson(tmp_path)
    renamed = folder.rename(tmp_path / "My_Lesson")
    (message,) = mistakes(renamed)
    assert message.startswith("My_Lesson:1: the name of the folder must be a DNS label")
