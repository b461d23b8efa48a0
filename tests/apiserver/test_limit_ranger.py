"""LimitRanges give containers requests and limits, and bound those of new pods and claims."""

from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.status import Forbidden
from tests.apiserver.cluster import Cluster, pod


def limit_range(name: str, *limits: dict[str, Any], namespace: str = "default") -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"limits": [*limits]},
    }


def claim(storage: str) -> Manifest:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": spec}


def container(requests: dict[str, str], limits: dict[str, str], name: str = "main") -> Manifest:
    return {"name": name, "image": "web:1", "resources": {"requests": requests, "limits": limits}}


MINIMUM = "minimum cpu usage per Container is 200m, but request is 100m"
RATIO = "memory max limit to request ratio per Container is 2"
DEFAULTS = limit_range(
    "defaults",
    {
        "type": "Container",
        "default": {"cpu": "500m", "memory": "256Mi"},
        "defaultRequest": {"cpu": "100m", "memory": "128Mi"},
    },
)


def test_containers_get_default_requests_and_limits_and_an_annotation_says_so() -> None:
    cluster = Cluster()
    cluster.create([DEFAULTS])
    containers = [{"name": "main", "image": "web:1"}, container({"cpu": "50m"}, {"cpu": "50m"}, "side")]
    [made] = cluster.create([pod(containers=containers, initContainers=[{"name": "init", "image": "i"}])])
    main, side = (each["resources"] for each in made["spec"]["containers"])
    assert main == {
        "requests": {"cpu": "100m", "memory": "128Mi"},
        "limits": {"cpu": "500m", "memory": "256Mi"},
    }
    assert side == {
        "requests": {"cpu": "50m", "memory": "128Mi"},
        "limits": {"cpu": "50m", "memory": "256Mi"},
    }
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: cpu, memory request for container main; "
        "cpu, memory limit for container main; "
        "memory request for container side; memory limit for container side; "
        "cpu, memory request for init container init; cpu, memory limit for init container init"
    )
    assert made["status"]["qosClass"] == "Burstable"


def test_a_limit_range_is_for_its_namespace_alone() -> None:
    cluster = Cluster()
    cluster.create([{**DEFAULTS, "metadata": {"name": "defaults", "namespace": "kube-system"}}])
    [made] = cluster.create([pod()])
    assert "requests" not in made["spec"]["containers"][0].get("resources", {})


@pytest.mark.parametrize(
    ("item", "requests", "limits", "detail"),
    [
        (
            {"min": {"cpu": "200m"}},
            {"cpu": "100m"},
            {"cpu": "300m"},
            MINIMUM,
        ),
        (
            {"min": {"cpu": "200m"}, "max": {"cpu": "1"}},
            {"cpu": "100m"},
            {"cpu": "2"},
            f"[{MINIMUM}, maximum cpu usage per Container is 1, but limit is 2]",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"cpu": "100m"},
            {"cpu": "500m"},
            "cpu max limit to request ratio per Container is 2, but provided ratio is 5.000000",
        ),
        (
            {"maxLimitRequestRatio": {"memory": "2"}},
            {"cpu": "100m"},
            {"cpu": "100m"},
            f"{RATIO}, but no request is specified or request is 0",
        ),
        ({"max": {"cpu": "1"}}, {"cpu": "1"}, {"cpu": "1"}, ""),
    ],
)
def test_containers_are_bounded(
    item: dict[str, Any], requests: dict[str, str], limits: dict[str, str], detail: str
) -> None:
    cluster = Cluster()
    cluster.create([limit_range("r", {"type": "Container", **item})])
    made = pod(containers=[container(requests, limits)])
    if not detail:
        cluster.create([made])
        return
    with pytest.raises(Forbidden) as refused:
        cluster.create([made])
    assert str(refused.value) == f'pods "web" is forbidden: {detail}'


def test_the_sum_of_a_pod_is_bounded() -> None:
    cluster = Cluster()
    cluster.create([limit_range("r", {"type": "Pod", "max": {"cpu": "1"}, "min": {"memory": "1Gi"}})])
    each = container({"cpu": "600m", "memory": "256Mi"}, {"cpu": "600m", "memory": "256Mi"})
    with pytest.raises(Forbidden) as refused:
        cluster.create([pod(containers=[each, {**each, "name": "side"}])])
    assert str(refused.value) == (
        'pods "web" is forbidden: [minimum memory usage per Pod is 1Gi, but request is 512Mi, '
        "maximum cpu usage per Pod is 1, but limit is 1200m]"
    )


@pytest.mark.parametrize(
    ("storage", "detail"),
    [
        ("500Mi", "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi"),
        ("20Gi", "maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 20Gi"),
        ("5Gi", ""),
    ],
)
def test_claims_are_bounded(storage: str, detail: str) -> None:
    cluster = Cluster()
    bounds = {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "10Gi"}}
    cluster.create([limit_range("r", bounds)])
    if not detail:
        cluster.create([claim(storage)])
        return
    with pytest.raises(Forbidden) as refused:
        cluster.create([claim(storage)])
    assert str(refused.value) == f'persistentvolumeclaims "c" is forbidden: {detail}'


def test_a_pod_with_a_node_name_is_stored_unchanged() -> None:
    cluster = Cluster()
    cluster.create([limit_range("r", {"type": "Container", "min": {"cpu": "1"}})])
    each = container({"cpu": "100m"}, {"cpu": "2"})
    [made] = cluster.create([pod(containers=[each], nodeName="n")])
    assert made["spec"]["nodeName"] == "n"
