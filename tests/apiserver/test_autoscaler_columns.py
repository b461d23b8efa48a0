"""The column Targets of a HorizontalPodAutoscaler."""

from typing import Any

import pytest

from simulator.apiserver.printers.workloads import WORKLOAD_PRINTERS

PRINTER = WORKLOAD_PRINTERS["horizontalpodautoscalers.autoscaling"]


@pytest.mark.parametrize(
    ("metric", "shown"),
    [
        (
            {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 50}}},
            "cpu: <unknown>/50%",
        ),
        # The type says nothing about which source is given: the fuzz found it.
        ({"type": "Resource"}, "<unknown>/"),
        ({"type": ""}, "<unknown>/"),
    ],
)
def test_a_metric_is_shown_also_without_its_source(metric: dict[str, Any], shown: str) -> None:
    item = {
        "metadata": {"name": "web"},
        "spec": {
            "scaleTargetRef": {"kind": "Deployment", "name": "web"},
            "maxReplicas": 3,
            "metrics": [metric],
        },
    }
    assert shown in PRINTER.cells(item, 0)
