"""The column Targets of a HorizontalPodAutoscaler."""

from typing import Any

import pytest

from simulator.apiserver.kinds.kept.autoscalers import AUTOSCALER_PRINTER

CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 50}}}
QUEUE = {"type": "External", "external": {"metric": {"name": "q"}, "target": {"averageValue": "30"}}}
HITS = {"type": "Object", "object": {"metric": {"name": "h"}, "target": {"value": "2k"}}}
PACKETS = {"type": "Pods", "pods": {"metric": {"name": "p"}, "target": {"averageValue": "1k"}}}


def targets(metrics: list[dict[str, Any]], currents: list[dict[str, Any]]) -> Any:
    item = {
        "metadata": {"name": "web"},
        "spec": {
            "scaleTargetRef": {"kind": "Deployment", "name": "web"},
            "maxReplicas": 3,
            "metrics": metrics,
        },
        "status": {"currentMetrics": currents},
    }
    return AUTOSCALER_PRINTER.cells(item, 0)[2]


@pytest.mark.parametrize(
    ("metric", "shown"),
    [
        (CPU, "cpu: <unknown>/50%"),
        (QUEUE, "<unknown>/30 (avg)"),
        (HITS, "<unknown>/2k"),
        (PACKETS, "<unknown>/1k"),
        # The type may differ from the source that is given. The fuzz found this.
        ({"type": "Resource"}, ": <unknown>/<auto>"),
        ({"type": ""}, "<unknown type>"),
    ],
)
def test_a_metric_is_shown_before_it_is_measured(metric: dict[str, Any], shown: str) -> None:
    assert targets([metric], []) == shown


@pytest.mark.parametrize(
    ("metric", "field", "current", "shown"),
    [
        (CPU, "resource", {"averageUtilization": 7}, "cpu: 7%/50%"),
        (CPU, "resource", {"averageValue": "80m"}, "cpu: <unknown>/50%"),
        (QUEUE, "external", {"averageValue": "4"}, "4/30 (avg)"),
        (QUEUE, "external", {"value": "4"}, "<unknown>/30 (avg)"),
        (HITS, "object", {"value": "1500"}, "1500/2k"),
        (PACKETS, "pods", {"averageValue": "900"}, "900/1k"),
    ],
)
def test_a_metric_is_shown_with_its_current_value(
    metric: dict[str, Any], field: str, current: dict[str, str], shown: str
) -> None:
    assert targets([metric], [{"type": metric["type"], field: {"current": current}}]) == shown


def test_two_metrics_are_shown_and_how_many_more_there_are() -> None:
    assert targets([], []) == "<none>"
    assert targets([CPU, HITS, QUEUE, PACKETS], []) == "cpu: <unknown>/50%, <unknown>/2k + 2 more..."
