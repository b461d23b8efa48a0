import io
import json
from typing import Any

import pytest

from simulator.__main__ import main
from tests.simulator.builders import a_node, a_pod


def question(name: str, **more: Any) -> str:
    asked = {"name": name, "config": None, "objects": {"nodes": [a_node("n")]}, "pod": a_pod("p", "1")}
    return json.dumps(asked | more)


def answers(
    lines: list[str], monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> tuple[int, list[Any]]:
    given = "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
    status = main(["decide"])
    return status, [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]


def test_lines_are_answered_in_order(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    status, got = answers([question(name) for name in "ab"], monkeypatch, capfdbinary)
    assert (status, [answer["name"] for answer in got]) == (0, ["a", "b"])
    assert got[0]["expect"]["selectedAnyOf"] == ["n"]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("", "DecodeError"),
        ("{", "DecodeError"),
        ("[]", "ValidationError"),
        ("\udcff", "DecodeError"),
        ("[" * 5000, "Error"),
        ('{"name": "x"}', "ValidationError"),
        ('{"name": "x", "objects": {}}', "the field pod is required"),
        (question("x", pod={}), "KeyError"),
        (question("x", pod=[1]), "ValidationError"),
        (question("x", objects={"nodes": [a_node("n", cpu="x")]}), "QuantityError"),
        (question("x", pod={"a": "DEEP"}).replace('"DEEP"', "[" * 5000 + "]" * 5000), "Error"),
        (question("x", pod=a_pod("p", schedulerName="nobody")), "no profile has the schedulerName 'nobody'"),
        (question("x", config={"percentageOfNodesToScore": 200}), "ConfigError: percentageOfNodesToScore"),
        (question("x", objects={"pods": [{"metadata": {"name": "n"}, "spec": None}]}), "Error"),
    ],
)  # fmt: skip
def test_a_malformed_line_is_named_and_the_others_are_answered(
    line: str, error: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    status, got = answers([question("a"), line, question("b")], monkeypatch, capfdbinary)
    assert status == 1
    assert [answer.get("name") for answer in got] == ["a", None, "b"]
    assert got[1]["line"] == 2
    assert error in got[1]["error"]


def test_pods_are_scheduled_one_after_another_on_sampled_nodes(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Adaptive: of 125 nodes, 49 percent but at least 100 feasible nodes end the search, and the next search
    begins after them."""
    objects = {"nodes": [a_node(f"node-{number:03}") for number in range(125)]}
    pods = [a_pod("first", "1"), a_pod("second", "1")]
    line = json.dumps({"name": "x", "objects": objects, "pods": pods})
    status, [answer] = answers([line], monkeypatch, capfdbinary)
    first, second = answer["expect"]["attempts"]
    assert status == 0
    assert first["lookedAt"] == [f"node-{number:03}" for number in range(100)]
    assert (first["nextStartNodeIndex"], second["nextStartNodeIndex"]) == (100, 75)
    assert second["lookedAt"][:2] == ["node-100", "node-101"]
    assert second["lookedAt"][25] == "node-000"
    assert first["assumedOn"] == "node-000"
    assert "node-000" not in second["selectedAnyOf"]
