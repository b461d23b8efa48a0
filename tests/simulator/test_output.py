"""What a dump or a manifest contains cannot tell the terminal to do things: no command prints a control
character, neither as text nor as JSON, and the JSON is the same."""

import ast
import json
from pathlib import Path

import pytest

from simulator import commands
from simulator.__main__ import main
from simulator.command_line.output import escape, print_lines, safe_json

EVIL = "x\x1b]0;owned\x07\x9b2J\u202e\x7f\ny"
"""Sets the title of the terminal, clears it, turns the direction of text, and fakes a line."""
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "default", "annotations": {"note": EVIL}},
    "spec": {
        "schedulerName": EVIL,
        "nodeSelector": {"zone": "a"},
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "containers": [{"name": "main", "image": EVIL, "resources": {"requests": {"cpu": "64"}}}],
    },
}
QUEUED = {**POD, "metadata": {"name": "queued"}, "spec": {"containers": POD["spec"]["containers"]}}  # type: ignore[index]
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "annotations": {"note": EVIL}},
    "status": {
        "allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"},
        "conditions": [{"type": "Ready", "status": "True", "message": EVIL}],
    },
}
BROKEN = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": EVIL}, "spec": {"containers": []}}
SCENARIO = {"apiVersion": "schedviz/v1", "kind": "Scenario", "metadata": {"name": "lesson"}, "spec": {}}


def assert_plain(text: str) -> None:
    """No character of the text but line ends makes a terminal do something."""
    shown = text.replace("\n", "")
    assert shown.isprintable(), [each for each in shown if not each.isprintable()]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Paths of a dump, a pod, a scenario and files that are refused, each with such characters."""
    contents: dict[str, object] = {
        "dump": {"apiVersion": "v1", "kind": "List", "items": [NODE, POD, BROKEN]},
        "pod": POD,
        "evil": {"apiVersion": "v1", "kind": EVIL, "metadata": {"name": EVIL}},
        "recording": {"kind": EVIL},
    }
    paths = {name: tmp_path / f"{name}.json" for name in contents}
    for name, content in contents.items():
        paths[name].write_text(json.dumps(content))
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text("\n---\n".join(json.dumps(each) for each in (SCENARIO, NODE, POD, QUEUED)))
    return {name: str(path) for name, path in paths.items()} | {"scenario": str(scenario)}


@pytest.mark.parametrize(
    "line",
    [
        "clean {dump}",
        "clean {dump} --lines",
        "clean {evil}",
        "explain {pod} --cluster {dump}",
        "explain {pod} --cluster {dump} -o json",
        "explain {evil} --cluster {dump}",
        "explain {pod} --cluster {dump} --config {evil}",
        "whatif {pod} --cluster {dump}",
        "whatif {pod} --cluster {dump} -o json",
        "run {scenario} --until 5s",
        "run {scenario} --until 5s -o json",
        "run {evil}",
        "compare {scenario} --until 5s",
        "compare {scenario} --until 5s -o json",
        "replay {recording}",
        "decide {evil}",
    ],
)
def test_no_command_prints_a_control_character(
    files: dict[str, str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(line.format(**files).split())
    printed = capsys.readouterr()
    assert printed.out or printed.err
    assert_plain(printed.out)
    assert_plain(printed.err)


def test_what_is_printed_says_which_characters_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines([EVIL, "中文\u3000é \U000e0001"])
    assert capsys.readouterr().out == (
        "x\\u001b]0;owned\\u0007\\u009b2J\\u202e\\u007f\\u000ay\n中文\u3000é \\udb40\\udc01\n"
    )
    assert escape("") == ""


def test_the_json_is_the_same() -> None:
    for text in (EVIL, "\U000e0001 中文", "plain"):
        encoded = json.dumps({"a": text}, ensure_ascii=False).encode()
        assert json.loads(safe_json(encoded)) == {"a": text}
        assert_plain(safe_json(encoded).decode())


def test_commands_print_in_no_other_way() -> None:
    """The figures of benchmarks have no text of a file."""
    found = set()
    for path in [path for folder in commands.__path__ for path in Path(folder).rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "print",
                "sys.stdout.write",
                "sys.stderr.write",
                "sys.stdout.buffer.write",
            ):
                found.add(path.name)
    assert found <= {"bench.py", "bench_whatif.py"}
