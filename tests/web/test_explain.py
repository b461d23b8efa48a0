"""The shown arithmetic is that of the plugins: each line is computed again from its text, and the last two
lines must be the recorded scores."""

import re
from math import log, sqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedviz.web.explain import arithmetic
from simulator.decision import Decision
from simulator.plugins.registry import load, profiles
from simulator.scheduler.attempt_record import record
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import V1_35, V1_36, VERSIONS, KubernetesVersion
from tests.simulator.builders import a_cluster, a_node, a_pod, attempt

STRATEGIES: dict[str, Any] = {
    "LeastAllocated": {},
    "MostAllocated": {},
    "RequestedToCapacityRatio": {
        "requestedToCapacityRatio": {
            "shape": [
                {"utilization": 0, "score": 0},
                {"utilization": 40, "score": 9},
                {"utilization": 100, "score": 2},
            ]
        }
    },
}
ZONE = "topology.kubernetes.io/zone"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
SOFT = {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
LABELS = {"matchLabels": {"app": "a"}}
TERM = {"topologyKey": ZONE, "labelSelector": LABELS}


def worked_out(expression: str, result: str) -> float:
    """The value of the expression. Integers are rounded down at each division."""
    text = re.sub(r"\|(.*)\|", r"abs(\1)", expression).replace("^", "**")
    whole = "." not in result and "." not in expression
    names = {"abs": abs, "sqrt": sqrt, "log": log, "round": lambda value: int(value + 0.5)}
    if whole and "round" not in text:
        # Towards zero, as Go divides.
        text = re.sub(r"^(\d+)\+\((.*)\)/\(?(.*?)\)?$", r"\1+int((\2)/(\3))", text)
        text = text if "int(" in text else text.replace("/", "//")
    return float(eval(text, {"__builtins__": {}, "int": int} | names))


UNITS = {"m": 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def without_names(named: str) -> str:
    """The expression without the names of its numbers."""
    text = re.sub(r"(\d+)(m|Ki|Mi|Gi)\b", lambda found: str(int(found[1]) * UNITS[found[2]]), named)
    text = re.sub(r"[A-Za-z][\w./-]* (?=[(\d-])", "", text)
    return text.replace("\u00d7", "*").replace("\u2212", "-").replace(" ", "")


def check(decision: Decision) -> int:
    lines = 0
    for row in decision.scores:
        for place, index in enumerate(decision.feasible):
            found = arithmetic(decision, row.plugin, decision.nodes[index])
            assert found is not None
            *before, last = found.sums
            for line in found.sums:
                lines += 1
                if line.named:
                    assert without_names(line.named) == line.expression.replace(" ", "")
                value = worked_out(line.expression, line.result)
                if "." in line.expression and "." not in line.result:
                    value = int(value + 1e-4)  # shown to six digits
                assert value == pytest.approx(float(line.result), abs=2e-6), line.text
            assert int(last.result) == row.weighted[place]
            if before:
                assert int(before[-1].result) == row.normalized[place], [line.text for line in before]
    return lines


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Any], list[Any], Any]:
    cpu = st.integers(100, 8000).map(lambda milli: f"{milli}m")
    zones = st.sampled_from(["a", "b", "c"])
    soft = {"key": "slow", "value": "yes", "effect": "PreferNoSchedule"}
    nodes = [
        a_node(f"n{i}", draw(cpu), labels={ZONE: draw(zones), "disk": draw(st.sampled_from(["ssd", "hdd"]))})
        for i in range(draw(st.integers(2, 6)))
    ]
    for node in nodes:
        node["spec"]["taints"] = [soft] if draw(st.booleans()) else []
        node["status"]["allocatable"]["memory"] = f"{draw(st.integers(256, 4096))}Mi"
    pods = [
        a_pod(
            f"p{i}", "50m", labels={"app": draw(st.sampled_from(["a", "b"]))}, nodeName=f"n{i % len(nodes)}"
        )
        for i in range(draw(st.integers(0, 8)))
    ]
    prefers = {"weight": draw(st.integers(1, 100)), "podAffinityTerm": TERM}
    term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    affinity = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "preference": term}]
        },
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [prefers]},
    }
    made = a_pod(
        "web", "50m", affinity=affinity, topologySpreadConstraints=[{**SOFT, "labelSelector": LABELS}]
    )
    return nodes, pods, made


@settings(deadline=None)  # a slow machine is no failure
@given(worlds(), st.sampled_from(sorted(STRATEGIES)), st.sampled_from(VERSIONS))
def test_the_shown_arithmetic_gives_the_recorded_scores(
    world: tuple[list[Any], list[Any], Any], strategy: str, version: KubernetesVersion
) -> None:
    nodes, pods, made = world
    args = {"scoringStrategy": {"type": strategy, **STRATEGIES[strategy]}}
    profile = {"pluginConfig": [{"name": "NodeResourcesFit", "args": args}]}
    framework = profiles(load({"profiles": [profile]}, features=Features(version)))["default-scheduler"]
    decision = record(attempt(a_cluster(nodes, pods), made, framework))
    if len(decision.feasible) > 1:
        assert check(decision) >= 5 * len(decision.feasible)


def test_balanced_allocation_is_explained_as_the_version_has_it() -> None:
    node = a_node("n1", "10")
    node["status"]["allocatable"]["memory"] = "100Mi"
    there = a_pod("there", "100m", nodeName="n1")
    there["spec"]["containers"][0]["resources"]["requests"]["memory"] = "73Mi"
    texts = []
    for version in (V1_36, V1_35):
        framework = profiles(load(None, features=Features(version)))["default-scheduler"]
        cluster = a_cluster([node, a_node("n2", "10")], [there])
        decision = record(attempt(cluster, a_pod("web", "1400m"), framework))
        found = arithmetic(decision, "NodeResourcesBalancedAllocation", "n1")
        assert found is not None
        texts.append([(line.name, line.named or line.expression, line.result) for line in found.sums])
    newest, older = texts
    assert [name for name, *_ in newest] == [
        "cpu, with the pod",
        "memory, with the pod",
        "standard deviation",
        "with the pod, rounded down",
        "cpu, without the pod",
        "memory, without the pod",
        "standard deviation",
        "without the pod, rounded down",
        "with 71, without 64",
        "times the weight",
    ]
    assert newest[-2][1:] == ("50 + (50 + 71 \u2212 64) / 2", "78")
    assert [name for name, *_ in older] == [
        "cpu", "memory", "standard deviation", "rounded down", "times the weight",
    ]  # fmt: skip
    assert older[-2][1:] == ("(1-0.29)*100", "71")


def lines_of(decision: Decision, plugin: str, node: str) -> list[tuple[str, str]]:
    found = arithmetic(decision, plugin, node)
    assert found is not None
    return [(line.name, line.text) for line in found.sums[:-2]]


def test_a_sum_shows_each_of_its_terms() -> None:
    """The other test checks the last two lines, normalised and weighted."""
    slow = {"key": "slow", "value": "yes", "effect": "PreferNoSchedule"}
    nodes = [a_node(f"n{i}", "8", labels={ZONE: zone, "disk": disk}) for i, (zone, disk) in enumerate(
        [("a", "ssd"), ("a", "hdd"), ("b", "hdd")])]  # fmt: skip
    nodes[0]["spec"]["taints"] = [slow, {**slow, "key": "old"}]
    likes = {
        "weight": 5,
        "podAffinityTerm": {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}},
    }
    dislikes = {"weight": 2, "podAffinityTerm": TERM}
    pods = [a_pod(f"p{i}", "50m", labels={"app": "a"}, nodeName=f"n{i}") for i in range(2)]
    pods[1]["spec"]["affinity"] = {"podAffinity": {PREFERRED: [likes]}}
    disk = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    affinity = {
        "nodeAffinity": {PREFERRED: [{"weight": 7, "preference": disk}]},
        "podAntiAffinity": {PREFERRED: [dislikes]},
    }
    spread = [{**SOFT, "labelSelector": LABELS, "maxSkew": 2}]
    made = a_pod("web", "50m", labels={"app": "web"}, affinity=affinity, topologySpreadConstraints=spread)
    decision = record(attempt(a_cluster(nodes, pods), made))
    assert lines_of(decision, "TaintToleration", "n0") == [
        ("untolerated: slow=yes:PreferNoSchedule", "1*1 = 1"),
        ("untolerated: old=yes:PreferNoSchedule", "1*1 = 1"),
        ("sum", "1+1 = 2"),
    ]
    assert lines_of(decision, "NodeAffinity", "n0") == [("preferred: disk=ssd", "1*7 = 7"), ("sum", "7 = 7")]
    zone = "topology.kubernetes.io/zone"
    assert lines_of(decision, "InterPodAffinity", "n0") == [
        (f"anti-affinity to pods {zone} app=a: their number, times the weight", "2*(-2) = -4"),
        (
            f"pods there with a preferred term {zone} app=web for it: their number, times the weight",
            "1*5 = 5",
        ),
        ("sum", "-4+5 = 1"),
    ]
    assert lines_of(decision, "InterPodAffinity", "n2") == [("sum", "0 = 0")]
    assert lines_of(decision, "PodTopologySpread", "n0") == [
        (
            f"pods {zone} app=a: their number, times log(domains+2), plus maxSkew-1",
            "2*log(2+2)+(2-1) = 3.772589",
        ),
        ("sum, rounded", "round(3.772589) = 4"),
    ]
