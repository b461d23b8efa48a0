"""What changes from one KubeSchedulerConfiguration to another, and the decisions that depend on it."""

import gzip
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from simulator.__main__ import main
from simulator.api import SECOND, Manifest
from simulator.commands.run import START
from simulator.compare.comparison_run import ComparisonRun, Side
from simulator.compare.configuration_changes import configuration_changes, make_explicit, with_part
from simulator.compare.workload import workload_of_scenario
from simulator.config import ConfigError, Configuration
from simulator.framework.interface import EXTENSION_POINTS
from simulator.framework.runtime import Framework
from simulator.plugins.registry import load, registered
from simulator.scenario import load_scenario
from simulator.versions.features import DEFAULT_FEATURES
from tests.processes import ROOT

RECORDED = ROOT / "tests" / "conformance"
PLUGINS = registered(DEFAULT_FEATURES)


def configuration(**profile: Any) -> Manifest:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }


def recorded_configurations() -> Iterator[Configuration]:
    """Those of the recorded answers of kube-scheduler that this version accepts."""
    for path in sorted([*(RECORDED / "profiles").iterdir(), RECORDED / "v1.36" / "profiles.jsonl.gz"]):
        with gzip.open(path, "rt") as lines:
            for line in lines:
                yield load(json.loads(line)["config"])


def explicit(manifest: Manifest | None) -> Configuration:
    return make_explicit(load(manifest), PLUGINS)


def plugins_of(framework: Framework, point: str) -> list[str]:
    attribute = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in point)
    return [plugin.name for plugin in getattr(framework, f"{attribute}_plugins")]


def test_an_explicit_configuration_has_the_same_plugins_and_weights() -> None:
    number = 0
    for read in recorded_configurations():
        for before, after in zip(read.profiles, make_explicit(read, PLUGINS).profiles, strict=True):
            one, other = Framework(before, PLUGINS), Framework(after, PLUGINS)
            for point in EXTENSION_POINTS:
                assert plugins_of(one, point) == plugins_of(other, point)
            for name in plugins_of(one, "score"):
                assert one.weights[name] == other.weights[name]
            number += 1
    assert number > 100


def test_the_changes_together_make_the_one_configuration_of_the_other() -> None:
    """Whatever differs between two configurations has a change."""
    differing = 0
    for one, other in pairwise(make_explicit(each, PLUGINS) for each in recorded_configurations()):
        made = other
        for part, _ in configuration_changes(one, other):
            made = with_part(made, part, one)
            differing += 1
        assert [*configuration_changes(one, made)] == []
    assert differing > 500


CHANGES = {
    "NodeResourcesFit args": (
        {
            "pluginConfig": [
                {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}
            ]
        },
        (
            'NodeResourcesFit has scoringStrategy.type "MostAllocated" instead of '
            'scoringStrategy.type "LeastAllocated".'
        ),
    ),
    "NodeResourcesBalancedAllocation weight": (
        {"plugins": {"score": {"enabled": [{"name": "NodeResourcesBalancedAllocation", "weight": 90}]}}},
        "NodeResourcesBalancedAllocation has the weight 90 instead of 1.",
    ),
    "TaintToleration extensionPoints": (
        {"plugins": {"multiPoint": {"disabled": [{"name": "TaintToleration"}]}}},
        "TaintToleration is disabled.",
    ),
    "NodeAffinity extensionPoints": (
        {"plugins": {"filter": {"disabled": [{"name": "NodeAffinity"}]}}},
        "NodeAffinity runs at preFilter, preScore, score instead of preFilter, filter, preScore, score.",
    ),
}
"""The part that changes -> a profile, and the sentence about it."""


def decided_again(a: Manifest | None, b: Manifest | None, seconds: int = 30) -> Any:
    scenario = load_scenario((ROOT / "schedviz" / "scenarios" / "taints-and-affinity.yaml").read_text())
    sides = (Side(a), Side(b))
    comparing = ComparisonRun(workload_of_scenario(scenario, START), *sides, seconds * SECOND)
    assert [*comparing.run()][-1] == 1.0
    return comparing.result().decided_again


@pytest.mark.parametrize("changed", CHANGES)
def test_a_decision_names_the_part_of_the_configuration_that_changes_it(changed: str) -> None:
    profile, sentence = CHANGES[changed]
    found = decided_again(None, configuration(**profile))
    assert [each.sentence for each in found.changes] == [sentence]
    assert found.changed > 0
    assert [each.cause for each in found.causes] == [f"default-scheduler {changed}"]


def test_each_decision_has_the_causes_of_its_own() -> None:
    profile = {**CHANGES["NodeResourcesFit args"][0], **CHANGES["TaintToleration extensionPoints"][0]}
    found = decided_again(None, configuration(**profile))
    causes = {cause for each in found.decisions for cause in each.causes}
    assert causes == {
        "default-scheduler NodeResourcesFit args",
        "default-scheduler TaintToleration extensionPoints",
    }
    assert all(each.causes for each in found.decisions if each.effect == "message")


def test_two_ways_of_writing_one_configuration_change_nothing() -> None:
    whole = {"plugins": {"score": {"enabled": [{"name": "NodeResourcesFit", "weight": 1}]}}}
    found = decided_again(None, configuration(**whole), 10)
    assert (found.changed, found.changes) == (0, [])


def test_a_queue_without_its_sort_plugin_is_no_scheduler_that_tests_a_change() -> None:
    """Each of the two changes alone gives a configuration that kube-scheduler refuses."""
    one = explicit(None)
    profile = {"plugins": {"bind": {"disabled": [{"name": "*"}]}}}
    other = make_explicit(load(configuration(**profile)), PLUGINS)
    ((part, _),) = configuration_changes(one, other)
    with pytest.raises(ConfigError):
        Framework(with_part(one, part, other).profiles[0], PLUGINS)


def test_upgrade_takes_another_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {"big": "8", "small": "4"}
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name},
            "status": {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}},
        }
        for name, cpu in names.items()
    ]
    container = {"name": "c", "image": "app", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"containers": [container]},
    }
    dump, packing = tmp_path / "dump.json", tmp_path / "packing.json"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, pod]}))
    packing.write_text(json.dumps(configuration(**CHANGES["NodeResourcesFit args"][0])))
    asked = ["upgrade", str(dump), "--from", "v1.36", "--to", "v1.36"]
    assert main([*asked, "--config-to", str(packing)]) == 0
    printed = capsys.readouterr().out
    assert 'NodeResourcesFit has scoringStrategy.type "MostAllocated"' in printed
    assert "default/web\n    from: big\n    to: small" in printed
    assert main([*asked, "--config", str(packing)]) == 0
    assert "No decision differs." in capsys.readouterr().out
