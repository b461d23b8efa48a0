"""``python -m simulator ask`` and ``schedviz ask``."""

import csv
import json
from pathlib import Path

import pytest
from django.core.management import call_command

from simulator.__main__ import main
from simulator.api import Manifest
from tests.questions.clusters import budget, make_node, make_pod, make_workload, settled


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump with a full node, an empty one, and a pod that waits."""
    objects = [
        make_node("node-0", "2", "a"),
        make_workload("ReplicaSet", "web", "1", 2),
        budget("web", "web", maxUnavailable=1),
        make_pod("huge", "8"),
    ]
    sandbox = settled(objects)
    sandbox.create([make_node("node-1", "4", "b")])
    items = [each for found in sandbox.list_all().values() for each in found.values()]
    path = tmp_path_factory.mktemp("asked") / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return path


@pytest.fixture
def pods(tmp_path: Path) -> Path:
    path = tmp_path / "pods.json"
    path.write_text(json.dumps(make_workload("Deployment", "new", "1", 2)))
    return path


def ask(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["ask", *map(str, arguments)])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_each_question_is_answered_by_a_sentence_and_tables(
    capsys: pytest.CaptureFixture[str], dump: Path, pods: Path
) -> None:
    beginnings = {
        ("fits", dump, pods): "2 of 2 fit.",
        ("more", dump, pods): "4 more of Deployment new fit, on 1 of 2 nodes.",
        ("drain", dump, "--node", "node-0"): "Nodes: 1. Pods that leave them: 2. Running again: 2;",
        ("removable", dump): "1 of 2 nodes can be removed together: node-1.",
        (
            "add",
            dump,
            "--shape",
            "cpu=8,memory=8Gi,name=big",
        ): "Nodes like big that are needed: 1. With them, 1 of 1",
        ("evictions", dump): "No pod was evicted.",
    }
    for arguments, beginning in beginnings.items():
        status, out, err = ask(capsys, *arguments)
        assert (status, err) == (0, "")
        assert out.startswith(beginning)
    out = ask(capsys, "drain", dump, "--zone", "a")[1]
    assert "Disruption budgets let them leave in 2 rounds" in out
    assert "What is left in each zone:\nZONE  NODES  FREE CPU NOW  FREE CPU THEN" in out


def test_the_answer_is_json_and_csv(capsys: pytest.CaptureFixture[str], dump: Path, pods: Path) -> None:
    answer = json.loads(ask(capsys, "fits", dump, pods, "-o", "json", "--seeds", 2)[1])
    assert (answer["question"], answer["figure"], answer["complete"]) == ("fits", 2, True)
    assert answer["range"] == {"seeds": 2, "least": 2, "most": 2}
    assert answer["sentence"].startswith("2 of 2 fit.")
    rows = [*csv.DictReader(ask(capsys, "fits", dump, pods, "-o", "csv")[1].splitlines())]
    assert [(row["state"], row["node"], row["zone"]) for row in rows] == [("fits", "node-1", "b")] * 2
    zones = ask(capsys, "fits", dump, pods, "-o", "csv", "--table", "zones")[1].splitlines()
    assert zones == ["zone,nodes,cpu_before,cpu_after,memory_before,memory_after", *zones[1:]]
    assert zones[2].startswith("b,1,4,2,")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["drain"], "nodes: name the nodes, by name, labels or zone, or as the emptiest ones"),
        (["drain", "--node", "x"], "nodes: there is no node 'x'"),
        (["add", "--shape", "cpu=1,cpu=2"], "shapes[0]: cpu is given twice"),
        (["add", "--shape", "cpu=1"], "shapes[0]: memory is missing"),
        (["add", "--shape", "cpu=one,memory=1Gi"], "shapes[0]: cpu: "),
        (["add", "--shape", "cpu=-1,memory=1Gi"], "shapes[0]: cpu: -1 is negative"),
        (["add", "--shape", "cpu=1,memory=1Gi,price=x"], "shapes[0]: price: 'x' is not a number from 0"),
        (["add", "--shape", "cpu=1,memory=1Gi,size=x"], "shapes[0]: 'size' is none of "),
        (["add", "--shape", "cpu=1", "--shape", "big"], "shapes[0]: memory is missing"),
        (["add", "--shape", "like=node-9"], "shapes[0]: like: there is no node 'node-9'"),
        (["removable", "--seeds", "99"], "seeds: from 1 to 20"),
        (["removable", "--within", "soon"], "--within: "),
    ],
)
def test_a_wrong_argument_is_named(
    capsys: pytest.CaptureFixture[str], dump: Path, arguments: list[str], message: str
) -> None:
    status, out, err = ask(capsys, arguments[0], dump, *arguments[1:])
    assert (status, out) == (1, "")
    assert err.startswith(f"ask: {message}")
    assert err.count("\n") == 1


def test_a_manifest_that_is_refused_names_its_file_and_field(
    capsys: pytest.CaptureFixture[str], dump: Path, pods: Path
) -> None:
    refused: Manifest = make_workload("Deployment", "new")
    refused["spec"]["replicas"] = -1
    pods.write_text(json.dumps(refused))
    status, out, err = ask(capsys, "fits", dump, pods)
    assert (status, out) == (1, "")
    assert err.startswith(f"ask: {pods}: ")
    assert "spec.replicas" in err


def test_a_question_that_has_no_more_time_prints_what_it_found(
    capsys: pytest.CaptureFixture[str], dump: Path, pods: Path
) -> None:
    status, out, _ = ask(capsys, "fits", dump, pods, "--within", "1us")
    assert status == 0
    assert "It was stopped early" in out


def test_evictions_are_those_of_the_events_of_a_dump(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "a.1", "namespace": "shop"},
        "reason": "Preempted",
        "message": "Preempted by pod u on node node-1",
        "eventTime": "2026-11-27T10:00:00.000000Z",
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "a"},
    }
    urgent = make_pod("urgent")
    urgent["metadata"] |= {"namespace": "shop", "uid": "u"}
    path = tmp_path / "events.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [event, urgent]}))
    out = ask(capsys, "evictions", path)[1]
    assert out.startswith("Evictions: 1. Pods that ran again: 0. Most were for shop/urgent: 1.")


def test_the_installed_command_asks_too(capsys: pytest.CaptureFixture[str], dump: Path) -> None:
    call_command("ask", "removable", str(dump))
    assert capsys.readouterr().out.startswith("1 of 2 nodes can be removed together: node-1.")
