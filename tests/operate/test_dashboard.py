"""The dashboard for Grafana shows all existing metrics and no others."""

import json
import re
from pathlib import Path
from typing import Any

import schedviz.metrics.scheduler  # noqa: F401 (the registry has its metrics)
from schedviz.metrics.registry import REGISTRY
from schedviz.operate.server_state import NAMES

ROOT = Path(__file__).parents[2]
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy" / "grafana" / "schedviz.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = [target["expr"] for panel in PANELS for target in panel["targets"]]


def series() -> dict[str, str]:
    """The name of each series that a query may name -> the metric that has it."""
    found = {name: name for name in NAMES}
    for metric in REGISTRY.collect():
        suffixes = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(metric.type, [""])
        found |= {f"{metric.name}{suffix}": metric.name for suffix in suffixes}
    return found


def named(expression: str) -> list[str]:
    return re.findall(r"\b(?:scheduler|schedviz)_\w+", expression)


def labels(expression: str) -> set[str]:
    grouped = re.findall(r"\bby \(([^)]+)\)", expression)
    return {label.strip() for group in grouped for label in group.split(",")} - {"le"}


def test_every_metric_of_the_dashboard_exists() -> None:
    there = series()
    assert EXPRESSIONS
    for expression in EXPRESSIONS:
        assert named(expression), expression
        assert set(named(expression)) <= there.keys(), expression


def test_the_dashboard_shows_every_metric() -> None:
    there = series()
    shown = {there[name] for expression in EXPRESSIONS for name in named(expression)}
    assert shown == set(there.values())


def test_the_labels_of_its_queries_exist() -> None:
    for panel in PANELS:
        for target in panel["targets"]:
            [name, *_] = named(target["expr"])
            known = known_labels(series()[name])
            used = labels(target["expr"]) | set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            assert used <= known, target["expr"]


def known_labels(metric: str) -> set[str]:
    ours = {"schedviz_processes": {"role"}, "schedviz_broker_messages": {"queue"}}
    if metric in NAMES:
        return ours.get(metric, set())
    [found] = [each for each in REGISTRY._collector_to_names if each._name == metric]  # type: ignore[attr-defined]
    return set(found._labelnames)


def test_every_panel_has_a_place_and_an_explanation() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["datasource"]["uid"] == "${datasource}"
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(numbers)) == len(numbers)
