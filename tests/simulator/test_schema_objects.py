"""Any object that fits the API's schemas is refused with a Status, or no component fails on it.

The long form: ``OBJECTS=5000 pytest tests/simulator/test_schema_objects.py``."""

import re
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import hypothesis.strategies as st
import pytest
from hypothesis import given

from simulator.api import ApiError, Manifest
from simulator.apiserver.admission import resource_of
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.patches.json_patch import apply_merge_patch
from simulator.apiserver.resource import Resource
from simulator.apiserver.table import build_table
from simulator.apiserver.update import admit_update
from simulator.dumps.exported import manifests_to_apply
from simulator.dumps.imported import Import
from simulator.plugins.registry import load, profiles
from simulator.trace import ControllerFailed
from simulator.what_if.answer import WhatIfAnswer
from simulator.what_if.search import search
from simulator.what_if.situation import Situation
from tests.apiserver.cluster import refusal
from tests.schema_objects import KINDS, any_object, examples, objects
from tests.simulator.controllers.workloads import template, workload
from tests.simulator.lab import Lab, node, pod

PROFILES = profiles(load(None))
RUNS = {"schedviz/run-seconds": "20"}
FINITE = template("job", annotations=RUNS, restartPolicy="Never")
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
CLUSTER: list[Manifest] = [
    node("n1"),
    node("n2"),
    workload("Deployment", "deployment", replicas=2),
    workload("StatefulSet", "set", volumeClaimTemplates=[CLAIM]),
    workload("DaemonSet", "daemons"),
    pod("crashes", annotations={"schedviz/fail-after-seconds": "3"}),
    {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job"},
        "spec": {"completions": 3, "completionMode": "Indexed", "template": FINITE},
    },
    {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "cron"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": FINITE}}},
    },
    {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "budget"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "deployment"}}},
    },
    {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "example.com/disks",
        "volumeBindingMode": "WaitForFirstConsumer",
    },
]
"""A cluster with one workload of each kind."""

KEPT = (
    "controllerrevisions.apps",
    "cronjobs.batch",
    "daemonsets.apps",
    "deployments.apps",
    "events",
    "jobs.batch",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "poddisruptionbudgets.policy",
    "pods",
    "replicasets.apps",
    "statefulsets.apps",
    "storageclasses.storage.k8s.io",
)
"""The resources of that cluster's objects."""


class Edit(NamedTuple):
    resource: Resource
    verb: str
    fields: Manifest
    """Merged into the object."""
    which: int


edits = st.sampled_from([kind for kind in KINDS if kind.id in KEPT]).flatmap(
    lambda kind: st.builds(
        Edit,
        st.just(kind),
        st.sampled_from(["update", "status", "status", "delete"]),
        objects(kind),
        st.integers(0, 5),
    )
)


@pytest.mark.sampled
@examples(40)
@given(st.lists(any_object(), min_size=2, max_size=6))
def test_any_object_is_refused_with_a_status_or_stops_no_component(manifests: list[Manifest]) -> None:
    lab = Lab()
    lab.create(node("n1"), node("n2"), pod("canary"), pod("huge", "100"))
    for manifest in manifests:
        with suppress(ApiError):  # it exists
            refused = refusal(partial(lab.create, manifest))
            assert refused is None or 400 <= refused.code < 500
    lab.run(30)
    assert_sound(lab)
    if lab.exists("huge"):
        items = [(resource_of(manifest, lab.api), manifest) for manifest in everything(lab)]
        *_, answer = search(Situation.read(items, lab.pod("huge"), PROFILES))
        assert isinstance(answer, WhatIfAnswer)
        assert answer.tried >= 0


@pytest.mark.sampled
@examples(12)
@given(st.lists(edits, min_size=2, max_size=6))
def test_any_edit_is_refused_with_a_status_or_stops_no_component(made: list[Edit]) -> None:
    lab = Lab()
    lab.create(*CLUSTER)
    lab.run(30)
    for edit in made:
        refused = refusal(partial(apply, lab, edit))
        assert refused is None or 400 <= refused.code < 500
        lab.run(5)
    lab.run(120)
    assert_sound(lab)


def apply(lab: Lab, edit: Edit) -> None:
    """Change one of the objects of a kind. Raises StatusError."""
    resource = edit.resource
    there = [*lab.api.objects.get(resource.id, {}).values()]
    if not there:
        return
    old = there[edit.which % len(there)]
    if edit.verb == "delete":
        change = admit_delete(resource, old, lab.now)
        changes = [change] if change else []
    else:
        identity = {field: old["metadata"].get(field) for field in ("name", "namespace", "uid")}
        metadata = {**(edit.fields.get("metadata") or {}), **identity, "resourceVersion": None}
        new = apply_merge_patch(old, {**edit.fields, "metadata": metadata})
        subresource = "status" if edit.verb == "status" and resource.has_status else ""
        changes = admit_update(resource, old, new, lab.api, subresource=subresource).changes
    lab.api.commit(changes)
    lab.simulation.observe(lab.api.take_events())


def everything(lab: Lab) -> list[Manifest]:
    return [manifest for stored in lab.api.objects.values() for manifest in stored.values()]


def assert_sound(lab: Lab) -> None:
    """Every object can be shown, exported and imported, and no controller met data that it could not read."""
    for resource in KINDS:
        stored = [*lab.api.objects.get(resource.id, {}).values()]
        assert len(build_table(resource, stored, {}, lab.now)["rows"]) == len(stored)
    assert all(manifest["metadata"]["name"] for manifest in manifests_to_apply(everything(lab)))
    taken = Import(lab.now, b"salt")
    for manifest in everything(lab):
        taken.take(manifest)
    assert taken.report.refused == []
    unreadable = [event for event in lab.of(ControllerFailed) if re.match(r"\w+Error: ", event.message)]
    assert unreadable == []


def test_no_component_needs_the_time_at_which_an_object_was_created() -> None:
    """The API server sets it, but the store may have objects that came another way."""
    lab = Lab()
    lab.create(*CLUSTER, pod("other", schedulerName="other"))
    lab.run(5)
    for stored in lab.api.objects.values():
        for manifest in stored.values():
            manifest["metadata"].pop("creationTimestamp", None)
    later = Lab(api=lab.api, now=lab.now)
    later.run(60)
    assert later.of(ControllerFailed) == []
    assert later.lanes["default/other"].since == lab.now
