"""``python -m simulator judge``, and its report."""

import json
from pathlib import Path
from typing import Any

import pytest

from simulator.__main__ import main
from simulator.api import SECOND, Manifest, versioned
from simulator.objects.timestamps import micros
from simulator.verdicts.recorded_watch import RecordedWatch
from tests.histories.manifests import manifest
from tests.verdicts.stream import event, node, pod

TIME = "2025-01-01T00:00:{:02}Z"


def bound(made: Manifest, on: str, second: int) -> Manifest:
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": TIME.format(second)}
    return {
        **made,
        "spec": {**made["spec"], "nodeName": on},
        "status": {"phase": "Pending", "conditions": [scheduled]},
    }


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """A list of nodes, and a watch of pods, indented as kubectl prints it."""
    nodes = [versioned(node("n1"), 1), versioned(node("n2", "8"), 2)]
    (tmp_path / "nodes.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": nodes}))
    a, b, c = pod("a"), pod("b", "7"), pod("c", "9", created=13)
    failed = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "no room",
        "lastTransitionTime": TIME.format(14),
    }
    watched = [
        ("ADDED", a),
        ("ADDED", b),
        ("MODIFIED", bound(a, "n2", 12)),
        ("ADDED", c),
        ("MODIFIED", {**c, "status": {"phase": "Pending", "conditions": [failed]}}),
        ("MODIFIED", bound(b, "n1", 15)),
        ("BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "99"}}),
        ("ADDED", event("FailedScheduling", c, "no room")),
    ]
    entries = [
        {"type": kind, "object": made if kind == "BOOKMARK" else versioned(made, number)}
        for number, (kind, made) in enumerate(watched, start=3)
    ]
    (tmp_path / "pods.json").write_text("\n".join(json.dumps(each, indent=4) for each in entries))
    return [str(tmp_path / "pods.json"), str(tmp_path / "nodes.json")]


def test_the_verdicts_are_printed_with_the_figures(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["judge", *files]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2025-01-01T00:00:12Z  agrees      default/a: bound to n2"
    assert any(line.endswith("differs     default/c: not scheduled") for line in lines)
    assert any(line.endswith("impossible  default/b: bound to n1") for line in lines)
    assert "    NodeResourcesFit rejects n1: Insufficient cpu. The model chooses n2." in lines
    assert lines[-4:] == [
        "Bindings: 1 agrees, 1 impossible",
        "Messages: 1 differs",
        "Evictions: none",
        "1 entries are no changes of built-in kinds.",
    ]


def test_json_and_markdown_have_the_report(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["judge", *files, "-o", "json"])
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert answer["report"]["bindings"] == {"agrees": 1, "impossible": 1}
    longest = {each["pod"]: each for each in answer["report"]["pending_longest"]}
    assert (longest["default/c"]["node"], longest["default/c"]["message"]) == ("", "no room")
    assert (longest["default/b"]["node"], longest["default/b"]["seconds"]) == ("n1", 15.0)
    assert {each["type"] for each in answer["trace"]} == {
        "OutsideBound",
        "OutsideFailed",
        "BindingJudged",
        "FailureJudged",
    }
    main(["judge", *files, "-o", "markdown"])
    text = capsys.readouterr().out
    assert "- Bindings: 1 agrees, 1 impossible" in text
    assert "## What the model would have done otherwise" in text
    assert "| default/b | bound to n1 | impossible | NodeResourcesFit rejects n1" in text


def test_a_file_that_is_no_watch_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "wrong.json"
    for content, expected in (
        ("", "no watch events"),
        ("pods 3", "not JSON that kubectl prints"),
        ("[]", "not JSON"),
    ):
        wrong.write_text(content)
        assert main(["judge", str(wrong)]) == 2
        err = capsys.readouterr().err
        assert err.startswith(f"judge: {wrong}: ")
        assert expected in err


def test_kinds_that_are_served_by_a_gate_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    watched = tmp_path / "groups.json"
    group = manifest("scheduling.k8s.io/v1alpha2", "PodGroup", "train", "default", spec={})
    watched.write_text("\n".join(json.dumps(versioned(each, 1)) for each in (group, node("n1"))))
    left_out = []
    for gates in ("", "GenericWorkload=true"):
        assert main(["judge", str(watched), "-o", "json", f"--feature-gates={gates}"]) == 0
        left_out.append(json.loads(capsys.readouterr().out)["left_out"])
    assert left_out == [1, 0]


def test_clocks_that_are_ahead_do_not_move_the_time(tmp_path: Path) -> None:
    """A node's clock is ahead, and for a moment that of an API server; the last word on the time has what is
    created next."""
    hour = {"type": "Ready", "status": "True", "lastTransitionTime": "2025-01-01T01:00:00Z"}
    ahead = node("n1", status={**node("n1")["status"], "conditions": [hour]})
    a, b = pod("a"), pod("b")
    later = [
        ("ADDED", a),
        ("MODIFIED", ahead),
        ("MODIFIED", {**bound(a, "n1", 2), "status": {"conditions": [{**hour, "type": "PodScheduled"}]}}),
        ("ADDED", pod("created", created=4)),
        ("ADDED", event("Started", a, "by the kubelet", lastTimestamp="2025-01-01T01:00:00Z")),
        ("MODIFIED", bound(b, "n1", 6)),
    ]
    entries = [("", versioned(ahead, 1)), ("", versioned(b, 2))]
    entries += [(kind, versioned(made, number)) for number, (kind, made) in enumerate(later, start=3)]
    text = "\n".join(json.dumps({"type": kind, "object": made} if kind else made) for kind, made in entries)
    watch = RecordedWatch()
    watch.take(text.encode())
    begin = micros(TIME.format(0))
    assert watch.begin() == begin
    times = [(now - begin) // SECOND for _, now in watch.timed_changes()]
    assert times == [0, 4, 4, 4, 6]
