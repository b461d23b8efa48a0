"""The simulator from the command line."""

import io
import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from simulator.__main__ import main
from simulator.command_line.trace_text import TEXTS
from simulator.trace import AnyEvent, QueueMoved

SCENARIO = """
apiVersion: schedviz/v1
kind: Scenario
metadata: {name: lesson}
spec: {pace: 250ms}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "1", memory: 1Gi}}
---
at: 2s
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: main, image: web:1}]}
"""


@pytest.mark.parametrize("command", ["queue", "settle"])
def test_a_line_that_cannot_be_answered_gets_an_error_and_the_others_are_answered(
    command: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    config = {
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 10,
        "podMaxInUnschedulablePodsSeconds": 300,
        "tickMillis": 1,
    }
    fine = {"name": "fine", "config": config if command == "queue" else None, "steps": []}
    bad = [b"{", b"[]", b'"text"', b'{"name": "x"}', b'{"name": "x", "config": 5, "steps": 7}']
    lines = b"\n".join([*bad, json.dumps(fine).encode()])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert main([command]) == 1
    answers = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert [answer.get("line") for answer in answers] == [1, 2, 3, 4, 5, None]
    assert answers[-1] == {"name": "fine", "steps": []}


def test_a_scenario_is_run_and_its_trace_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lesson.yaml"
    path.write_text(SCENARIO)
    assert main(["run", str(path), "--until", "10s", "--seed", "3", "-o", "json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["type"] for event in events] == [
        "QueueMoved", "QueueMoved", "CycleStarted", "Filtered", "Scored", "Bound", "QueueMoved", "PodStarted",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "arguments", "problem"),
    [
        ("kind: Pod", [], "the first document must be of kind Scenario"),
        (SCENARIO.replace("status:", "statsu:"), [], "statsu"),
        (SCENARIO, ["--until", "soon"], "run: --until: 'soon' is not a duration"),
        ("[" * 40_000, [], "nested"),
    ],
)
def test_a_scenario_that_cannot_be_run_gets_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, arguments: list[str], problem: str
) -> None:
    path = tmp_path / "lesson.yaml"
    path.write_text(text)
    assert main(["run", str(path), *arguments]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert problem in said.err
    assert said.err.count("\n") == 1


TWO_PENDING = """---
apiVersion: v1
kind: Pod
metadata: {name: big}
spec: {containers: [{name: main, image: web:1, resources: {requests: {cpu: 2}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: gated}
spec: {schedulingGates: [{name: wait}], containers: [{name: main, image: web:1}]}
"""


def test_a_run_is_printed_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lesson.yaml"
    path.write_text(SCENARIO + TWO_PENDING)
    assert main(["run", str(path), "--until", "20s"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "     2.25s  default/web    is bound to n1" in lines
    assert "     250ms  default/big    0 of 1 nodes fit (1 Insufficient cpu)" in lines
    again = (
        "It is tried again at the latest in 5 min 10 s: nothing that the queueing hints of NodeResourcesFit"
    )
    assert lines[lines.index("") :] == [
        "",
        "Stopped at 20s.",
        "",
        "NODE  PODS",
        "n1    default/web",
        "",
        f"default/big has no node. {again} wait for has happened.",
        "default/gated has no node. It is gated: it waits until its scheduling gates are removed (wait).",
    ]


def test_each_trace_event_has_a_text() -> None:
    types = {*get_args(AnyEvent)}
    assert types == {*TEXTS, QueueMoved}


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_closed_pipe_ends_a_command_quietly(tmp_path: Path, output: str) -> None:
    path = tmp_path / "lesson.yaml"
    path.write_text(SCENARIO)
    command = [sys.executable, "-m", "simulator", "run", str(path), "-o", output]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as closed:
        ended = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (128 + signal.SIGPIPE, b"")


def test_the_help_lists_each_command_with_its_summary(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    words = " ".join(capsys.readouterr().out.split())
    names = ["commands.bench", "commands.clean", "commands.compare", "commands.explain", "commands.replay"]
    for name in (*names, "commands.run", "harness.decide", "harness.queue", "harness.settle"):
        summary, _, _ = (import_module(f"simulator.{name}").__doc__ or "").partition("\n")
        assert f"{name.rpartition('.')[2]} {summary}" in words
