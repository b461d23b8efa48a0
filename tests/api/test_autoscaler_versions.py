"""HorizontalPodAutoscalers in both of their versions, as the official client asks for them."""

import json
from typing import Any, Final

import pytest
from kubernetes import client

from simulator.api import Manifest
from simulator.apiserver.autoscaler_versions import to_autoscaler, to_autoscaler_v1

TARGET: Final = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
BEHAVIOR: Final = {"scaleDown": {"policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}]}}
PREFIX: Final = "autoscaling.alpha.kubernetes.io"


def autoscaler(version: str, **spec: Any) -> Manifest:
    return {
        "apiVersion": f"autoscaling/{version}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {"scaleTargetRef": TARGET, "maxReplicas": 5, **spec},
    }


def of_cpu(percent: int) -> Manifest:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


METRICS: Final = [
    {
        "type": "Object",
        "object": {
            "describedObject": TARGET,
            "metric": {"name": "hits", "selector": {"matchLabels": {"a": "b"}}},
            "target": {"type": "AverageValue", "averageValue": "5"},
        },
    },
    {
        "type": "Pods",
        "pods": {"metric": {"name": "hits"}, "target": {"type": "AverageValue", "averageValue": "10"}},
    },
    {
        "type": "Resource",
        "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}},
    },
    {
        "type": "ContainerResource",
        "containerResource": {
            "name": "cpu",
            "container": "main",
            "target": {"type": "Utilization", "averageUtilization": 50},
        },
    },
    {
        "type": "External",
        "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "30"}},
    },
]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric["type"])
def test_each_metric_is_the_same_after_both_conversions(metric: Manifest) -> None:
    given = autoscaler("v2", metrics=[metric, of_cpu(70)], minReplicas=1, behavior=BEHAVIOR)
    shown = to_autoscaler_v1(given)
    assert shown["spec"]["targetCPUUtilizationPercentage"] == 70
    assert len(json.loads(shown["metadata"]["annotations"][f"{PREFIX}/metrics"])) == 1
    back = to_autoscaler(shown)
    assert back["spec"] == given["spec"]
    assert back["metadata"] == given["metadata"]


def test_the_annotations_have_the_fields_of_upstream() -> None:
    given = autoscaler("v2", metrics=METRICS[:1], behavior=BEHAVIOR)
    annotations = to_autoscaler_v1(given)["metadata"]["annotations"]
    target = '{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}'
    assert annotations == {
        f"{PREFIX}/metrics": f'[{{"type":"Object","object":{{"target":{target},"metricName":"hits",'
        '"targetValue":"0","selector":{"matchLabels":{"a":"b"}},"averageValue":"5"}}]',
        f"{PREFIX}/behavior": '{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":null,'
        '"SelectPolicy":null,"Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],"Tolerance":null}}',
    }


def test_a_status_is_the_same_after_both_conversions() -> None:
    status = {
        "currentReplicas": 2,
        "currentMetrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "current": {"averageUtilization": 40, "averageValue": "400m"}},
            }
        ],
        "conditions": [{"type": "AbleToScale", "status": "True"}],
    }
    shown = to_autoscaler_v1({**autoscaler("v2"), "status": status})
    assert shown["status"] == {
        "currentReplicas": 2,
        "desiredReplicas": 0,
        "currentCPUUtilizationPercentage": 40,
    }
    assert to_autoscaler(shown)["status"] == {**status, "desiredReplicas": 0}


def test_an_autoscaler_is_read_and_written_in_both_versions(api_client: client.ApiClient) -> None:
    v1, v2 = client.AutoscalingV1Api(api_client), client.AutoscalingV2Api(api_client)
    versions = client.AutoscalingApi(api_client).get_api_group()
    assert [each.version for each in versions.versions] == ["v2", "v1"]

    created = v1.create_namespaced_horizontal_pod_autoscaler(
        "default", autoscaler("v1", targetCPUUtilizationPercentage=70)
    )
    assert (created.api_version, created.spec.min_replicas) == ("autoscaling/v1", 1)
    assert created.spec.target_cpu_utilization_percentage == 70
    (metric,) = v2.read_namespaced_horizontal_pod_autoscaler("web", "default").spec.metrics
    assert metric.resource.target.average_utilization == 70

    change = {"spec": {"metrics": [METRICS[2], of_cpu(60)]}}
    v2.patch_namespaced_horizontal_pod_autoscaler("web", "default", change)
    (shown,) = v1.list_namespaced_horizontal_pod_autoscaler("default").items
    assert shown.spec.target_cpu_utilization_percentage == 60
    assert "memory" in shown.metadata.annotations[f"{PREFIX}/metrics"]

    shown.spec.max_replicas = 9
    replaced = v1.replace_namespaced_horizontal_pod_autoscaler("web", "default", shown)
    assert replaced.spec.max_replicas == 9
    stored = v2.read_namespaced_horizontal_pod_autoscaler("web", "default")
    assert [each.resource.name for each in stored.spec.metrics] == ["memory", "cpu"]
    assert not stored.metadata.annotations

    with pytest.raises(client.ApiException, match="must be greater than 0"):
        v1.patch_namespaced_horizontal_pod_autoscaler("web", "default", {"spec": {"maxReplicas": 0}})
