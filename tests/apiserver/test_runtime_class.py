"""A pod gets the overhead, the node selector and the tolerations of its RuntimeClass."""

from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver import admission
from simulator.apiserver.admission_plugins.runtime_class import covers, merge_tolerations
from simulator.apiserver.status import Forbidden
from tests.apiserver.cluster import NOW, Cluster, pod

TOLERATION = {"key": "sandbox", "operator": "Exists", "effect": "NoSchedule"}
GVISOR: Manifest = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "gvisor"},
    "handler": "runsc",
    "overhead": {"podFixed": {"cpu": "250m", "memory": "120Mi"}},
    "scheduling": {"nodeSelector": {"runtime": "gvisor"}, "tolerations": [TOLERATION]},
}
OTHER = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
CONFLICT = (
    "conflict: runtimeClass.scheduling.nodeSelector[runtime] = gvisor; pod.spec.nodeSelector[runtime] = runc"
)
OWN = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster()
    cluster.create([GVISOR])
    return cluster


def spec_of(cluster: Cluster, **spec: Any) -> Manifest:
    """The spec of a pod that is created by the API."""
    admitted = admission.admit([pod(**spec)], cluster, NOW, source="s", entry="api")
    [change] = admitted.changes
    assert change.object
    made: Manifest = change.object["spec"]
    return made


def test_a_pod_gets_what_its_class_says(cluster: Cluster) -> None:
    made = spec_of(cluster, runtimeClassName="gvisor", nodeSelector={"disk": "ssd"})
    assert made["overhead"] == {"cpu": "250m", "memory": "120Mi"}
    assert made["nodeSelector"] == {"disk": "ssd", "runtime": "gvisor"}
    assert TOLERATION in made["tolerations"]
    assert spec_of(cluster, runtimeClassName="gvisor", overhead={"cpu": "0.25", "memory": "120Mi"})[
        "overhead"
    ]


@pytest.mark.parametrize(
    ("spec", "detail"),
    [
        ({"runtimeClassName": "kata"}, 'pod rejected: RuntimeClass "kata" not found'),
        ({"runtimeClassName": "gvisor", "overhead": {"cpu": "1"}}, OTHER),
        ({"overhead": {"cpu": "250m", "memory": "120Mi"}}, OWN),
        (
            {"runtimeClassName": "gvisor", "nodeSelector": {"runtime": "runc"}},
            CONFLICT,
        ),
    ],
)
def test_fields_that_contradict_the_class_are_forbidden(
    cluster: Cluster, spec: dict[str, Any], detail: str
) -> None:
    with pytest.raises(Forbidden) as refused:
        spec_of(cluster, **spec)
    assert str(refused.value) == f'pods "web" is forbidden: {detail}'


def test_a_page_accepts_a_pod_whose_class_was_not_exported(cluster: Cluster) -> None:
    [made] = cluster.create([pod(runtimeClassName="kata", overhead={"cpu": "1"})])
    assert made["spec"]["overhead"] == {"cpu": "1"}


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ({"operator": "Exists"}, TOLERATION, True),
        ({"key": "sandbox", "operator": "Exists"}, TOLERATION, True),
        (TOLERATION, {"key": "sandbox", "operator": "Exists"}, False),
        (
            {"key": "a", "operator": "Equal", "value": "b"},
            {"key": "a", "operator": "Equal", "value": "b"},
            True,
        ),
        (
            {"key": "a", "operator": "Equal", "value": "b"},
            {"key": "a", "operator": "Equal", "value": "c"},
            False,
        ),
        (
            {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10},
            {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5},
            True,
        ),
        (
            {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10},
            {"key": "a", "operator": "Exists", "effect": "NoExecute"},
            False,
        ),
    ],
)
def test_one_toleration_covers_another(wide: Manifest, narrow: Manifest, expected: bool) -> None:
    assert covers(wide, narrow) == expected


def test_a_toleration_that_covers_another_one_is_kept() -> None:
    everything, other = {"operator": "Exists"}, {"key": "a", "operator": "Exists"}
    assert merge_tolerations([TOLERATION, other], [everything]) == [everything]
    assert merge_tolerations([everything], [TOLERATION]) == [everything]
    assert merge_tolerations([TOLERATION], [other, TOLERATION]) == [TOLERATION, other]
