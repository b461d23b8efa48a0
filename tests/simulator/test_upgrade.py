"""``upgrade``: what another version of Kubernetes changes for the pods of a cluster."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from simulator.__main__ import main
from simulator.api import SECOND
from simulator.commands.run import START
from simulator.compare.changed_decisions import SchedulerSettings
from simulator.compare.comparison_run import ComparisonRun, Side
from simulator.compare.second_scheduler import SecondScheduler
from simulator.compare.workload import workload_of_scenario
from simulator.replay import Replay
from simulator.scenario import load_scenario
from simulator.simulation import Options, Simulation
from simulator.versions.changes import CHANGES, changes_between
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import V1_34, V1_34_1, V1_36
from tests.histories import files
from tests.processes import ROOT

SCENARIOS = ROOT / "schedviz" / "scenarios"


def a_node(name: str, cpu: str, *taints: str) -> dict[str, Any]:
    allocatable = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    spec = {"taints": [{"key": key, "effect": "NoSchedule"} for key in taints]}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "spec": spec,
        "status": {"allocatable": allocatable, "capacity": allocatable},
    }


def a_pod(name: str, cpu: str, memory: str, node: str = "") -> dict[str, Any]:
    container = {"name": "c", "image": "app", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    spec: dict[str, Any] = {"containers": [container]}
    if node:
        spec["nodeName"] = node
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": spec,
        "status": {"phase": "Running" if node else "Pending"},
    }


DUMP = [
    a_node("ip-10-0-0-1", "8"),
    a_node("ip-10-0-1-1", "4"),
    a_node("ip-10-0-2-1", "4", "gpu"),
    a_node("ip-10-0-3-1", "4", "spot"),
    a_pod("db-0", "1", "8Gi", "ip-10-0-0-1"),
    a_pod("db-1", "1", "4Gi", "ip-10-0-1-1"),
    a_pod("checkout-7d9f8b6c5-x2x7q", "1", "2Gi"),
    a_pod("too-large", "30", "1Gi"),
]


@pytest.fixture
def dump(tmp_path: Path) -> str:
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": DUMP}))
    return str(path)


def test_each_cause_of_another_decision_is_named(dump: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upgrade", dump, "--from", "v1.34.1", "--to", "v1.36", "-o", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["pending"], found["bound"]) == (2, 2)
    pods = {pod["pod"]: pod for pod in found["pods"]}
    too_large = pods["shop/too-large"]
    assert (too_large["effect"], too_large["causes"]) == ("message", ["taint_message_names_taint"])
    assert "1 node(s) had untolerated taint {gpu: }, 1 node(s) had" in too_large["before"]["message"]
    assert "2 node(s) had untolerated taint(s)" in too_large["after"]["message"]
    moved = pods["shop/checkout-7d9f8b6c5-x2x7q"]
    assert (moved["effect"], moved["causes"]) == ("elsewhere", ["balanced_allocation_by_gain"])


def test_the_report_counts_the_causes_and_lists_the_pods(
    dump: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["upgrade", dump, "--from", "v1.34.1", "--to", "v1.34", "--pending"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(
        "Kubernetes v1.34.1 -> v1.34.9\n2 pending and 0 bound pods were decided by both."
    )
    assert "1     TaintToleration's reason names no taint any more" in printed
    assert "1 pending pod would have another message:\n  shop/too-large\n    v1.34: 0/4 nodes" in printed


def test_a_downgrade_has_causes_too(dump: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The older version does not know some gates, which cannot be taken back in it."""
    assert main(["upgrade", dump, "--from", "v1.36", "--to", "v1.34.1", "-o", "json"]) == 0
    causes = {each["cause"] for each in json.loads(capsys.readouterr().out)["causes"]}
    assert causes == {"taint_message_names_taint", "balanced_allocation_by_gain"}


def test_one_version_decides_like_itself(dump: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upgrade", dump, "--from", "v1.36", "--to", "v1.36"]) == 0
    assert "No decision differs." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "v1.20"], 'upgrade: Kubernetes "v1.20" is not modelled; choose v1.36, v1.35, v1.34'),
        (
            ["--feature-gates-to", "Fast=true"],
            "upgrade: --feature-gates-to: unrecognized feature gate: Fast",
        ),
        (["--feature-gates-to", "Fast"], "upgrade: --feature-gates-to: missing bool value for Fast"),
        (
            ["--feature-gates-from", "AllAlpha=maybe"],
            (
                "upgrade: --feature-gates-from: invalid value of AllAlpha=maybe, err: strconv.ParseBool: "
                'parsing "maybe": invalid syntax'
            ),
        ),
    ],
)
def test_wrong_versions_and_gates_are_one_line(
    dump: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["upgrade", dump, *options]) == 1
    assert capsys.readouterr().err == f"{message}\n"


NOT_OF_DECISIONS = {
    "name",
    "patch",
    "reported",
    "stores_newest_versions",
    "tables_have_older_columns",
    "unreadable_bodies_are_refused",
    "validates_declaratively",
    "warns_of_headless_affinity",
}
"""Fields of KubernetesVersion on which only answers of the API server depend."""


def test_each_change_between_the_versions_has_a_row(dump: str) -> None:
    """No field of KubernetesVersion that decides is without one, and the document lists them all."""
    fields = set(V1_36.__struct_fields__) - NOT_OF_DECISIONS
    assert {change.name for change in CHANGES if change.kind != "gate"} == fields
    document = (ROOT / "docs" / "VERSIONS.md").read_text()
    assert re.findall(r"^\| `(\w+)` \| (\w+) \|", document, re.MULTILINE) == [
        (change.name, change.kind) for change in CHANGES
    ]


def test_the_changes_are_those_in_which_versions_differ() -> None:
    patch = [change.name for change in changes_between(Features(V1_34_1), Features(V1_34))]
    assert patch == ["taint_message_names_taint", "class_configs_name_requests"]
    gates = {"NodeDeclaredFeatures": False, "InPlacePodLevelResourcesVerticalScaling": False}
    gates |= {"RestartAllContainersOnContainerExits": False}
    assert [c.name for c in changes_between(Features(V1_36), Features(V1_36, gates))] == [
        "NodeDeclaredFeatures"
    ]


def test_explain_and_run_take_a_version(
    dump: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pod = tmp_path / "pod.yaml"
    pod.write_text(json.dumps(DUMP[-1]))
    for version, reason in (("v1.36", "untolerated taint(s)"), ("v1.34.1", "untolerated taint {gpu: }")):
        assert main(["explain", str(pod), "--cluster", dump, "--kubernetes", version]) == 0
        assert reason in capsys.readouterr().out
    scenario = tmp_path / "scenario.yaml"
    header = {"apiVersion": "schedviz/v1", "kind": "Scenario", "metadata": {"name": "upgrade"}, "spec": {}}
    shop = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    scenario.write_text("\n---\n".join(json.dumps(each) for each in (header, shop, *DUMP[:4], DUMP[-1])))
    for version, reason in (("v1.36", "untolerated taint(s)"), ("v1.34.1", "untolerated taint {gpu: }")):
        assert main(["run", str(scenario), "--kubernetes", version]) == 0
        assert reason in capsys.readouterr().out
        text = scenario.read_text()
        scenario.write_text(text.replace('"spec": {}', f'"spec": {{"kubernetes": "{version}"}}', 1))
        assert main(["run", str(scenario)]) == 0, "the scenario's own"
        assert reason in capsys.readouterr().out
        scenario.write_text(text)


def test_compare_runs_two_versions(dump: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "scenario.yaml"
    header = {"apiVersion": "schedviz/v1", "kind": "Scenario", "metadata": {"name": "upgrade"}}
    header["spec"] = {"kubernetes": "v1.34"}
    shop = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    nodes = [a_node("ip-10-0-0-1", "8"), a_node("ip-10-0-1-1", "4")]
    pods = [a_pod("db-0", "1", "8Gi", "ip-10-0-0-1"), a_pod("db-1", "1", "4Gi", "ip-10-0-1-1")]
    pods.append(a_pod("checkout-7d9f8b6c5-x2x7q", "1", "2Gi"))
    scenario.write_text("\n---\n".join(json.dumps(each) for each in (header, shop, *nodes, *pods)))
    assert main(["compare", str(scenario), "--kubernetes-b", "v1.36"]) == 0
    printed = capsys.readouterr().out
    assert "first difference: cycle 1: A shop/checkout-7d9f8b6c5-x2x7q scheduled" in printed
    assert "decisions of A that change with the scheduler of B: 1 of 1\nDECISIONS  CAUSE\n1  " in printed
    assert "checkout-7d9f8b6c5-x2x7q would run on another node: balanced_allocation_by_gain" in printed
    assert main(["compare", str(scenario)]) == 0, "both sides have the scenario's version"
    assert "checkout-7d9f8b6c5-x2x7q" not in capsys.readouterr().out


def tainted(seconds: int, a: Side, b: Side) -> ComparisonRun:
    scenario = load_scenario((SCENARIOS / "taints-and-affinity.yaml").read_text())
    run = ComparisonRun(workload_of_scenario(scenario, START), a, b, seconds * SECOND)
    assert [*run.run()][-1] == 1.0
    return run


def test_each_attempt_of_a_run_is_decided_by_the_other_version_and_changes_nothing() -> None:
    older, newer = Side(features=Features(V1_34)), Side(features=Features(V1_36))
    found, alone = tainted(60, older, newer).result(), tainted(60, older, older).result()
    assert (found.a, alone.decided_again) == (alone.a, None)
    again = found.decided_again
    assert again is not None
    assert (again.decided, again.complete) == (found.a.cycles, True)
    assert again.changed == len(again.decisions) > 0
    assert {each.cause for each in again.causes} == {"balanced_allocation_by_gain"}
    first = again.decisions[0]
    assert found.difference is not None
    assert (first.cycle, first.effect) <= (found.difference.cycle, "elsewhere")


def test_deciding_again_ends_where_it_is_too_much_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SecondScheduler.__init__, "__defaults__", (None, 3000))
    found = tainted(10, Side(features=Features(V1_34)), Side(features=Features(V1_36))).result()
    assert found.decided_again is not None
    assert not found.decided_again.complete
    assert 0 < found.decided_again.decided < found.a.cycles


def test_a_played_history_is_decided_by_another_version() -> None:
    """The replay fails where deciding again changes anything."""
    second = SecondScheduler(SchedulerSettings(None, Features(V1_34)))

    def begin(simulation: Simulation, options: Options) -> None:
        second.begin(simulation, SchedulerSettings(options.config, options.features()))

    assert [*Replay(files.records("random/leaders-2"), begin).run()]
    found = second.result()
    assert found.decided > found.changed > 0
    assert found.causes[0].cause == "balanced_allocation_by_gain"
