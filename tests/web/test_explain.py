"""The arithmetic that is shown is the arithmetic that was done: each line is worked out again from its text,
and the last two must be the recorded scores."""

import re
from math import sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedviz.web.explain import arithmetic
from simulator.decision import Decision
from simulator.scheduler.attempt_record import record
from tests.simulator.builders import a_cluster, a_framework, a_node, a_pod, attempt

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
SOFT = {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
LABELS = {"matchLabels": {"app": "a"}}
TERM = {"topologyKey": ZONE, "labelSelector": LABELS}


def worked_out(expression: str, result: str) -> float:
    """As a reader would: whole results are rounded down at each division."""
    text = re.sub(r"\|(.*)\|", r"abs(\1)", expression).replace("^", "**")
    whole = "." not in result and "." not in expression
    names = {"abs": abs, "sqrt": sqrt, "round": lambda value: int(value + 0.5)}
    if whole and "round" not in text:
        # Towards zero, as Go divides.
        text = re.sub(r"^(\d+)\+\((.*)\)/\((.*)\)$", r"\1+int((\2)/(\3))", text)
        text = text if "int(" in text else text.replace("/", "//")
    return float(eval(text, {"__builtins__": {}, "int": int} | names))


def check(decision: Decision) -> int:
    lines = 0
    for row in decision.scores:
        for place, index in enumerate(decision.feasible):
            found = arithmetic(decision, row.plugin, decision.nodes[index])
            assert found is not None
            *before, last = found.sums
            for line in found.sums:
                lines += 1
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


@given(worlds(), st.sampled_from(sorted(STRATEGIES)))
def test_what_is_shown_is_what_was_worked_out(world: tuple[list[Any], list[Any], Any], strategy: str) -> None:
    nodes, pods, made = world
    args = {"scoringStrategy": {"type": strategy, **STRATEGIES[strategy]}}
    framework = a_framework(pluginConfig=[{"name": "NodeResourcesFit", "args": args}])
    decision = record(attempt(a_cluster(nodes, pods), made, framework))
    if len(decision.feasible) > 1:
        assert check(decision) >= 5 * len(decision.feasible)
