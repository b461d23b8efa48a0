"""A difference is found, and described with its place."""

import lzma
from pathlib import Path

import pytest

from tests.histories import __main__ as command
from tests.histories import files
from tests.histories.differences import report
from tests.histories.scenarios import scenario

OPERATION = b'{"kind":"Operation","number":1,"what":"create"}'
BOUND = b'{"kind":"Event","seq":7,"type":"Bound","node":"n1","pod":"p"}'


def test_equal_histories_have_no_difference() -> None:
    assert report("name", [OPERATION, BOUND], [OPERATION, BOUND]) == ""


def test_the_first_line_that_differs_is_shown_with_its_field_and_the_operation_before() -> None:
    said = report("name", [OPERATION, BOUND, b"old"], [OPERATION, BOUND.replace(b"n1", b"n2"), b"new"])
    assert said.splitlines() == [
        "name: line 2 differs (recorded 3 lines, now 3)",
        f"  after:    {OPERATION.decode()}",
        '  .node: "n2", recorded "n1"',
        f"  recorded: {BOUND.decode()}",
        f"  now:      {BOUND.decode().replace('n1', 'n2')}",
    ]


@pytest.mark.parametrize(
    ("recorded", "now", "shown"),
    [
        ([OPERATION, BOUND], [OPERATION], "  now:      (no more lines)"),
        ([OPERATION], [OPERATION, BOUND], "  recorded: (no more lines)"),
        ([b'{"a":[1,2]}'], [b'{"a":[1,3]}'], "  .a[1]: 3, recorded 2"),
        ([b'{"a":1}'], [b'{"a":true}'], "  .a: true, recorded 1"),
        ([b'{"a":1}'], [b"{}"], "  .a: missing now, recorded 1"),
        ([b"{}"], [b'{"a":1}'], "  .a: 1, not recorded"),
    ],
)
def test_missing_and_additional_lines_are_shown(recorded: list[bytes], now: list[bytes], shown: str) -> None:
    assert shown in report("name", recorded, now).splitlines()


def test_where_only_the_order_of_fields_differs_a_later_difference_is_shown_first() -> None:
    old, new = b'{"a":1,"b":2}', b'{"b":2,"a":1}'
    assert "only the order of fields differs" in report("name", [old, BOUND], [new, BOUND])
    said = report("name", [old, BOUND], [new, BOUND.replace(b"n1", b"n2")])
    assert said.startswith("name: line 2 differs")
    assert "order" not in said


def test_record_writes_what_differs_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    name = "scenarios/ideas/taints"
    lines = scenario("ideas/taints")
    bound = next(number for number, line in enumerate(lines) if b'"type":"Bound"' in line)
    changed = [*lines[:bound], lines[bound].replace(b'"node":"', b'"node":"another-'), *lines[bound + 1 :]]
    files.write(name, changed)

    assert command.main(["check", name]) == 1
    said = capsys.readouterr().out
    assert said.startswith(f"{name}: line {bound + 1} differs")
    assert 'recorded "another-' in said
    assert said.endswith("1 of 1 histories differ\n")

    assert command.main(["record", name]) == 0
    assert capsys.readouterr().out == said
    packed = tmp_path.joinpath(f"{name}.jsonl.xz").read_bytes()
    assert lzma.decompress(packed).splitlines() == lines
    assert command.main(["record", name]) == 0
    assert capsys.readouterr().out == "0 of 1 histories differ\n"
    assert tmp_path.joinpath(f"{name}.jsonl.xz").read_bytes() == packed


def test_an_unknown_name_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["check", "scenarios/none"]) == 2
    assert capsys.readouterr().err == "no history is called scenarios/none\n"
