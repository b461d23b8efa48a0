"""What the API server refuses of Deployments, Jobs and the other workloads, and what it fills in."""

from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.patches.json_patch import apply_merge_patch
from simulator.apiserver.status import Invalid
from tests.apiserver.cluster import Cluster

CONTAINERS = [{"name": "main", "image": "web:1"}]
LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": CONTAINERS}}
SELECTING = {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
FINITE = {"template": {"spec": {"restartPolicy": "Never", "containers": CONTAINERS}}}
GOOD: dict[str, Manifest] = {
    "Deployment": {"apiVersion": "apps/v1", "spec": SELECTING},
    "ReplicaSet": {"apiVersion": "apps/v1", "spec": SELECTING},
    "StatefulSet": {"apiVersion": "apps/v1", "spec": SELECTING},
    "DaemonSet": {"apiVersion": "apps/v1", "spec": SELECTING},
    "ReplicationController": {"apiVersion": "v1", "spec": {"template": TEMPLATE}},
    "Job": {"apiVersion": "batch/v1", "spec": FINITE},
    "CronJob": {"apiVersion": "batch/v1", "spec": {"schedule": "@daily", "jobTemplate": {"spec": FINITE}}},
}


def workload(kind: str, spec: Manifest | None) -> Manifest:
    """A good one with changes to its spec (a JSON merge patch); None leaves it none at all."""
    good: Manifest = {**GOOD[kind], "kind": kind, "metadata": {"name": "a"}}
    return {**good, "spec": None} if spec is None else {**good, "spec": apply_merge_patch(good["spec"], spec)}


def rolling(**fields: Any) -> Manifest:
    return {"strategy": {"rollingUpdate": fields}}


def updated(**fields: Any) -> Manifest:
    return {"updateStrategy": {"rollingUpdate": fields}}


UNAVAILABLE = "spec.strategy.rollingUpdate.maxUnavailable"
UPDATED = "spec.updateStrategy.rollingUpdate"
RUN_SECONDS = {"metadata": {"annotations": {"schedviz/run-seconds": "soon"}}}
RESTARTS = 'Required value: valid values: "OnFailure", "Never"'


@pytest.mark.parametrize(
    ("kind", "spec", "field", "message"),
    [
        ("Job", None, "spec.template.spec.containers", "Required value"),
        ("Job", None, "spec.template.spec.restartPolicy", RESTARTS),
        ("Job", {"template": {"spec": None}}, "spec.template.spec.containers", "Required value"),
        ("Job", {"activeDeadlineSeconds": -1}, "spec.activeDeadlineSeconds", "greater than or equal to 0"),
        (
            "Job",
            {"completionMode": "Indexed", "completions": 1 << 30},
            "spec.completions",
            "must be less than or equal to 100000 when completion mode is Indexed",
        ),
        ("Job", {"selector": {"matchLabels": LABELS}}, "spec.selector", "`selector` not auto-generated"),
        (
            "Job",
            {"manualSelector": True, "selector": {"matchLabels": LABELS}},
            "spec.template.metadata.labels",
            "`selector` does not match template `labels`",
        ),
        ("Job", {"podReplacementPolicy": "X"}, "spec.podReplacementPolicy", 'Unsupported value: "X"'),
        ("Job", {"backoffLimitPerIndex": 1}, "spec.backoffLimitPerIndex", "requires indexed completion mode"),
        ("CronJob", None, "spec.schedule", "Required value"),
        ("CronJob", None, "spec.jobTemplate.spec.template.spec.containers", "Required value"),
        ("CronJob", {"schedule": ""}, "spec.schedule", "Required value"),
        ("Deployment", None, "spec.selector", "Required value"),
        ("Deployment", None, "spec.template.spec.containers", "Required value"),
        (
            "Deployment",
            {"minReadySeconds": 600},
            "spec.progressDeadlineSeconds",
            "must be greater than minReadySeconds",
        ),
        (
            "DaemonSet",
            {"template": {"spec": {"activeDeadlineSeconds": 5}}},
            "spec.template.spec.activeDeadlineSeconds",
            "activeDeadlineSeconds in DaemonSet is not Supported",
        ),
        ("Deployment", {"strategy": {"type": "Blue"}}, "spec.strategy", 'Unsupported value: {"Type":"Blue"'),
        (
            "Deployment",
            {"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}},
            "spec.strategy.rollingUpdate",
            "may not be specified when strategy `type` is 'Recreate'",
        ),
        ("Deployment", rolling(maxUnavailable="120%"), UNAVAILABLE, "must not be greater than 100%"),
        (
            "Deployment",
            rolling(maxUnavailable=0, maxSurge=0),
            UNAVAILABLE,
            "may not be 0 when `maxSurge` is 0",
        ),
        ("Deployment", rolling(maxUnavailable="x"), UNAVAILABLE, "a valid percent string must be"),
        (
            "Deployment",
            {"template": RUN_SECONDS},
            "spec.template.annotations[schedviz/run-seconds]",
            "must be a whole number of seconds",
        ),
        (
            "Deployment",
            {"template": {"metadata": None}},
            "spec.template.metadata.labels",
            "`selector` does not match template `labels`",
        ),
        ("ReplicaSet", {"selector": {"matchLabels": None}}, "spec.selector", "empty selector is invalid"),
        ("StatefulSet", {"ordinals": {"start": -1}}, "spec.ordinals.start", "greater than or equal to 0"),
        ("StatefulSet", updated(partition=-1), f"{UPDATED}.partition", "greater than or equal to 0"),
        (
            "DaemonSet",
            updated(maxUnavailable=0),
            f"{UPDATED}.maxUnavailable",
            "cannot be 0 when maxSurge is 0",
        ),
        (
            "DaemonSet",
            updated(maxSurge=1),
            f"{UPDATED}.maxSurge",
            "may not be set when maxUnavailable is non-zero",
        ),
        ("ReplicationController", None, "spec.selector", "Required value"),
        ("ReplicationController", None, "spec.template", "Required value"),
        ("ReplicationController", {"replicas": -1}, "spec.replicas", "greater than or equal to 0"),
        (
            "ReplicationController",
            {"selector": {"app": "other"}},
            "spec.template.metadata.labels",
            "`selector` does not match template `labels`",
        ),
    ],
)
def test_an_error_of_a_workload_names_its_field(
    kind: str, spec: Manifest | None, field: str, message: str
) -> None:
    with pytest.raises(Invalid) as refused:
        Cluster().create([workload(kind, spec)])
    assert any(cause.field == field and message in cause.message for cause in refused.value.causes)


@pytest.mark.parametrize("kind", GOOD)
def test_a_good_one_is_created(kind: str) -> None:
    (created,) = Cluster().create([workload(kind, {})])
    assert created["spec"].get("replicas", 1) == 1


def test_the_status_of_a_failure_policy_pattern_defaults_to_true() -> None:
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    (created,) = Cluster().create([workload("Job", {"podFailurePolicy": {"rules": [rule]}})])
    [kept] = created["spec"]["podFailurePolicy"]["rules"]
    assert kept["onPodConditions"] == [{"type": "DisruptionTarget", "status": "True"}]


def test_an_update_strategy_of_another_type_needs_no_numbers() -> None:
    strategy = {"type": "OnDelete", "rollingUpdate": {"maxUnavailable": 0}}
    (created,) = Cluster().create([workload("DaemonSet", {"updateStrategy": strategy})])
    assert created["spec"]["updateStrategy"] == strategy


def test_a_template_may_have_no_metadata() -> None:
    selector = {"matchLabels": None, "matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}
    claims = [{"metadata": {"name": "data"}, "spec": CLAIM}]
    spec = {"selector": selector, "template": {"metadata": None}, "volumeClaimTemplates": claims}
    (created,) = Cluster().create([workload("StatefulSet", spec)])
    assert created["spec"]["template"]["metadata"] == {}


def test_a_stateful_set_may_mount_the_volumes_of_its_claims() -> None:
    mount = [{"name": "data", "mountPath": "/data"}]
    container = {"name": "main", "image": "redis:7", "volumeMounts": mount}
    claims = [{"metadata": {"name": "data"}, "spec": CLAIM}]
    template = {"spec": {"containers": [container]}}
    Cluster().create([workload("StatefulSet", {"template": template, "volumeClaimTemplates": claims})])
    labels = {"template": {"metadata": {"labels": {"app": "web", "a b": "c"}}}}
    with pytest.raises(Invalid, match=r"spec.template.labels: Invalid value"):
        Cluster().create([workload("StatefulSet", labels)])
    never = {"template": {"spec": {"restartPolicy": "Never"}}}
    with pytest.raises(Invalid, match=r'restartPolicy: Unsupported value: "Never"'):
        Cluster().create([workload("StatefulSet", never)])
