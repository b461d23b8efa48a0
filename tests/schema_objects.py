"""Hypothesis strategies for objects that fit the API's types, one kind at a time.

What is drawn fits the type that admission decodes with: every optional field may be absent, null, empty, or
any value of its type. Texts come from a small vocabulary, and a kind that needs more than its schema says
begins from a minimal object, so that most objects pass validation and refer to each other.
"""

import copy
import os
from typing import Any, Final

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import BUILT_IN
from simulator.apiserver.types.model import Anything, ListType, MapType, OwnType, Scalar, StructType, Type
from simulator.apiserver.types.schema_types import decoded_type
from tests import amounts

KINDS: Final = BUILT_IN
"""Every kind that is stored. (An Event of events.k8s.io/v1 is stored as one of v1.)"""

MAX_DEPTH: Final = 9
"""Deeper fields are left out unless they are required; recursive schemas end here."""
NAMES: Final = ("a", "b", "c")
KEYS: Final = ("app", "kubernetes.io/hostname", "topology.kubernetes.io/zone")
RESOURCES: Final = (
    "cpu",
    "memory",
    "pods",
    "storage",
    "ephemeral-storage",
    "example.com/gpu",
    "hugepages-2Mi",
)
TIMES: Final = (
    "2025-01-01T00:00:00Z",
    "2025-01-01T00:10:00.5Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
)
INTEGERS: Final = (0, 1, 2, 3, 5, 30, 100, -1, (1 << 31) - 1, -(1 << 31))
LARGE: Final = (1_000_000_000_000, (1 << 63) - 1, -(1 << 63))
AMOUNTS: Final = (
    "0",
    "1",
    "100m",
    "2",
    "1Gi",
    "1.5",
    "1n",
    "-1",
    "8E",
    1,
    0.5,
    "123456789012345678901234567890",
)
SHARES: Final = (0, 1, 2, "0%", "50%", "100%", -1, "150%", "x", "")

WORDS: Final[dict[str, tuple[str, ...]]] = {
    "accessModes": ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteOncePod"),
    "action": ("Count", "FailJob", "Ignore", "FailIndex"),
    "apiVersion": ("v1", "apps/v1", "batch/v1", "example.com/v1", "a/b/c"),
    "completionMode": ("Indexed", "NonIndexed"),
    "concurrencyPolicy": ("Allow", "Forbid", "Replace"),
    "at": ("0s", "1s", "x"),
    "effect": ("NoSchedule", "NoExecute", "PreferNoSchedule", ""),
    "every": ("1m", "10s", "1us", "x"),
    "finalizers": ("example.com/a", "foregroundDeletion", "orphan"),
    "group": ("example.com",),
    "image": ("app:1", "app:2"),
    "key": (*KEYS, "metadata.name", "node.kubernetes.io/not-ready", ""),
    "kind": ("Pod", "Node", "Deployment", "ReplicaSet", "Job", "Widget", ""),
    "mode": ("All", "Exactly"),
    "namespace": ("default", "kube-system", ""),
    "namespaces": ("default", "kube-system"),
    "nodeAffinityPolicy": ("Honor", "Ignore"),
    "nodeTaintsPolicy": ("Honor", "Ignore"),
    "nodeName": ("a", "n1", ""),
    "nominatedNodeName": ("n1", "a/b", "none"),
    "operator": ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal", ""),
    "persistentVolumeReclaimPolicy": ("Retain", "Delete", "Recycle"),
    "phase": ("Pending", "Running", "Succeeded", "Failed", "Bound", "Available", "Released", "Unknown"),
    "plural": ("widgets",),
    "podManagementPolicy": ("OrderedReady", "Parallel"),
    "podReplacementPolicy": ("TerminatingOrFailed", "Failed"),
    "policy": ("Honor", "Ignore"),
    "preemptionPolicy": ("PreemptLowerPriority", "Never"),
    "priorityClassName": ("a", "system-cluster-critical", "system-node-critical", ""),
    "protocol": ("TCP", "UDP", "SCTP"),
    "reason": ("NewReplicaSetAvailable", "ContainersNotReady", "PreemptionByScheduler", ""),
    "reclaimPolicy": ("Retain", "Delete"),
    "resourceVersion": ("", "0", "1"),
    "restartPolicy": ("Always", "OnFailure", "Never"),
    "schedule": ("* * * * *", "@hourly", "0 0 31 2 *", ""),
    "schedulerName": ("default-scheduler", "other"),
    "scope": ("Namespaced", "Cluster"),
    "status": ("True", "False", "Unknown", ""),
    "storageClassName": ("a", ""),
    "succeededIndexes": ("0", "0,2-4", "4-2", "x"),
    "timeZone": ("Europe/Berlin", "UTC", "", "Local", "x"),
    "topologyKey": (*KEYS, ""),
    "type": (
        *("RollingUpdate", "Recreate", "OnDelete"),
        *("Ready", "PodScheduled", "DisruptionTarget", "MemoryPressure"),
        *("Progressing", "Available", "Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"),
    ),
    "unhealthyPodEvictionPolicy": ("IfHealthyBudget", "AlwaysAllow"),
    "uid": ("a", "b", ""),
    "until": ("10s", "x"),
    "values": ("a", "b", "1", ""),
    "volumeBindingMode": ("Immediate", "WaitForFirstConsumer"),
    "volumeMode": ("Filesystem", "Block"),
    "volumeName": ("a", "b", "a/b"),
    "whenDeleted": ("Retain", "Delete"),
    "whenScaled": ("Retain", "Delete"),
    "whenUnsatisfiable": ("DoNotSchedule", "ScheduleAnyway"),
}
"""Texts by the name of their field; other texts are names."""

MAP_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "allocatable": RESOURCES,
    "annotations": (
        "schedviz/run-seconds",
        "schedviz/fail-after-seconds",
        "schedviz/ready-after-seconds",
        "schedviz/stop-seconds",
        "schedviz/provision-seconds",
        "schedviz/fail-at",
        "deployment.kubernetes.io/revision",
        "storageclass.kubernetes.io/is-default-class",
        "pv.kubernetes.io/bind-completed",
        "volume.kubernetes.io/selected-node",
        "batch.kubernetes.io/job-completion-index",
        "example.com/a",
    ),
    "capacity": RESOURCES,
    "labels": KEYS,
    "limits": RESOURCES,
    "matchLabels": KEYS,
    "nodeSelector": KEYS,
    "overhead": RESOURCES,
    "requests": RESOURCES,
}
"""Keys of maps by the name of the field; other maps have the keys "a" and "b"."""

_TEMPLATE: Final = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {"containers": [{"name": "a", "image": "app:1"}]},
}
_FINITE: Final = {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "app:1"}]}}
_WORKLOAD: Final = {"spec": {"selector": {"matchLabels": {"app": "a"}}, "template": _TEMPLATE}}
_CONFIG_MAP: Final = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "a-"}}
BASES: Final[dict[str, Manifest]] = {
    "Pod": {"spec": _TEMPLATE["spec"]},
    "Deployment": _WORKLOAD,
    "ReplicaSet": _WORKLOAD,
    "StatefulSet": _WORKLOAD,
    "DaemonSet": _WORKLOAD,
    "ReplicationController": {"spec": {"selector": {"app": "a"}, "template": _TEMPLATE}},
    "PodTemplate": {"template": _TEMPLATE},
    "Job": {"spec": {"template": _FINITE}},
    "CronJob": {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": _FINITE}}}},
    "PodDisruptionBudget": {"spec": {"selector": {}}},
    "PersistentVolume": {
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/a"},
        }
    },
    "PersistentVolumeClaim": {
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    },
    "PriorityClass": {"value": 5},
    "CustomResourceDefinition": {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    },
    "Timetable": {"spec": {"entries": [{"at": "1s", "object": _CONFIG_MAP}]}},
}
"""The least that validation accepts, by kind; the other kinds need no more than their schema."""


def examples(number: int) -> settings:
    """So many examples, or a part of them (tests/amounts.py), always the same ones. With the variable
    OBJECTS, the long form: as many as it says, and others each time."""
    asked = os.environ.get("OBJECTS")
    return settings(
        max_examples=int(asked) if asked else amounts.examples(number),
        derandomize=asked is None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
        print_blob=False,
    )


@st.composite
def objects(draw: st.DrawFn, resource: Resource) -> Manifest:
    """An object of a kind. About one in sixteen does not begin from the minimal object, and about
    one in sixteen has no name; about one field in thirty-two is null, which means that it is not set."""
    drawn = _object(draw, decoded_type(resource), 0)
    base = BASES.get(resource.kind, {}) if draw(st.integers(0, 15)) < 15 else {}
    manifest: Manifest = _laid_over(base, drawn)
    manifest["apiVersion"], manifest["kind"] = resource.api_version, resource.kind
    if draw(st.integers(0, 15)) < 15 and isinstance(manifest.setdefault("metadata", {}), dict):
        manifest["metadata"].setdefault("name", draw(st.sampled_from(NAMES)))
    return manifest


def any_object() -> st.SearchStrategy[Manifest]:
    """An object of any kind."""
    return st.sampled_from(KINDS).flatmap(objects)


def _laid_over(base: Any, drawn: Any) -> Any:
    """What was drawn, with the fields of ``base`` where none was: lists item by item, the first for all."""
    if isinstance(base, dict) and isinstance(drawn, dict):
        both = {key: _laid_over(base[key], drawn[key]) for key in base.keys() & drawn.keys()}
        return copy.deepcopy(base) | drawn | both
    if isinstance(base, list) and isinstance(drawn, list) and drawn:
        return [_laid_over(base[0], item) for item in drawn]
    return copy.deepcopy(base) if drawn == [] else drawn


def _object(draw: st.DrawFn, of: StructType, depth: int) -> Manifest:
    chosen = {field.name for field in of.fields.values() if field.is_required}
    if depth < MAX_DEPTH:
        optional = sorted(of.fields.keys() - chosen)
        if optional:
            chosen |= set(draw(st.lists(st.sampled_from(optional), max_size=4 if depth < 5 else 2)))
    return {
        name: _field(draw, of, name, depth + 1) if draw(st.integers(0, 31)) < 31 else None
        for name in sorted(chosen)
    }


def _field(draw: st.DrawFn, of: StructType, name: str, depth: int) -> Any:
    if of.kinds and name in ("apiVersion", "kind"):
        return draw(st.sampled_from([kind[name == "kind"] for kind in of.kinds]))
    return _value(draw, of.fields[name].type, name, depth)


def _value(draw: st.DrawFn, of: Type, field: str, depth: int) -> Any:
    match of:
        case MapType(values=Anything()):
            return {}
        case MapType():
            keys = st.sampled_from(MAP_KEYS.get(field, ("a", "b")))
            chosen = draw(st.lists(keys, max_size=2, unique=True))
            return {key: _value(draw, of.values, key, depth + 1) for key in chosen}
        case StructType():
            return _object(draw, of, depth)
        case ListType():
            count = draw(st.sampled_from((0, 1, 1, 1, 2)))
            return [_value(draw, of.items, field, depth + 1) for _ in range(count)]
        case OwnType():
            return draw(st.sampled_from(_OWN_VALUES.get(of.short_name, ({}, {"a": None}, [], "a", 1, False))))
        case Scalar(kind="bool"):
            return draw(st.booleans())
        case Scalar(kind="float64"):
            return draw(st.sampled_from((0, 0.5, -1, 1e300)))
        case Scalar(kind=("int32" | "int64") as kind):
            return draw(st.sampled_from((*INTEGERS, *(LARGE if kind == "int64" else ()))))
        case Scalar(kind="bytes"):
            return "YQ=="
    return draw(_texts(field))


_OWN_VALUES: Final = {
    "FieldsV1": ({},),
    "IntOrString": SHARES,
    "MicroTime": TIMES,
    "Quantity": AMOUNTS,
    "Time": TIMES,
}
"""Values of the types that decode themselves; of the others, any."""


def _texts(field: str) -> st.SearchStrategy[str]:
    if field.startswith("schedviz/") or "storageclass" in field or "completion" in field:
        return st.sampled_from(("1", "0", "true", "x", "Filter"))
    return st.sampled_from(WORDS.get(field, (*NAMES, "")))
