"""The smallest changes with which a pod would run, one by one, and the command that prints them."""

import json
from pathlib import Path
from random import Random

import msgspec
import pytest

from simulator.__main__ import main
from simulator.api import Change
from simulator.apiserver.admission import admit
from simulator.apiserver.generation import set_next_generation
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.overlay import CreatedObjects
from simulator.apiserver.resources import BUILT_IN
from simulator.apiserver.update import admit_update
from simulator.harness.random_clusters import (
    REQUIRED,
    random_cluster,
    random_pending_pod,
)
from simulator.what_if.answer import Progress, WhatIfAnswer
from simulator.what_if.search import GROUPS_AT_MOST, search
from simulator.what_if.situation import Situation
from tests.simulator.questions import (
    FRAMEWORKS,
    NODE,
    POD,
    ROOMY,
    Manifest,
    Objects,
    asked,
    attempted,
    by_kind,
    edited,
    node,
    of,
    pod,
    questions,
)


def containers(*requests: Manifest) -> list[Manifest]:
    return [{"name": f"c{i}", "resources": {"requests": r}} for i, r in enumerate(requests)]


def storage_class(mode: str) -> Manifest:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "local"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": mode,
    }


CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default", "uid": "data"},
    "spec": {
        "storageClassName": "local",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "5Gi"}},
    },
}
DATA = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
NEVER = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "polite"},
    "value": 7,
}
APART = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}
Expected = tuple[str, str, str, str, str]
"""Kind, what, before, after, and the node."""

CASES: list[tuple[str, Objects, Manifest, list[Expected]]] = [
    (
        "a gate is the only thing in the way",
        [node("n")],
        pod("p", schedulingGates=[{"name": "example.com/wait"}]),
        [("gate", "example.com/wait", "example.com/wait", "", "n")],
    ),
    (
        "all gates have to go",
        [node("n")],
        pod("p", schedulingGates=[{"name": "a"}, {"name": "b"}]),
        [("gate", "a, b", "a, b", "", "n")],
    ),
    (
        "nobody schedules it",
        [node("n")],
        pod("p", schedulerName="other"),
        [("scheduler", "schedulerName", "other", "default-scheduler", "n")],
    ),
    (
        "the largest request is cut, and no more than need be",
        [node("n", "4")],
        pod("p", containers=containers({"cpu": "3"}, {"cpu": "1500m"})),
        [("request", "cpu", "3", "2500m", "n")],
    ),
    (
        "memory is cut in the units it is written in",
        [NODE | {"metadata": {"name": "n"}, "status": {"allocatable": {"memory": "3000000Ki", "pods": "9"}}}],
        pod("p", containers=containers({"memory": "4Gi"})),
        [("request", "memory", "4Gi", "2929Mi", "n")],
    ),
    (
        "an init container is what asks for too much",
        [node("n", "4")],
        pod("p", "1", initContainers=containers({"cpu": "5"})),
        [("request", "cpu", "5", "4", "n")],
    ),
    (
        "two requests must go down for there to be room",
        [node("n", "1")],
        pod("p", containers=containers({"cpu": "3"}, {"cpu": "2"})),
        [("request", "cpu", "5", "1", "n")],
    ),
    (
        "what the pod as a whole requests is cut with its containers' part",
        [node("n", "4")],
        pod("p", containers=containers({"cpu": "4500m"}), resources={"requests": {"cpu": "5"}}),
        [("request", "cpu", "5", "4", "n")],
    ),
    (
        "what a runtime class adds is not the pod's to cut",
        [node("n", "4"), node("m", "400m")],
        pod("p", containers=containers({"cpu": "5"}), overhead={"cpu": "500m"}),
        [("request", "cpu", "5", "3500m", "n")],
    ),
    (
        "one toleration for two taints of one key",
        [node("n", taints=[{"key": "k", "value": "a", "effect": e} for e in ("NoSchedule", "NoExecute")])],
        pod("p"),
        [("toleration", "k=a", "", "k=a", "n")],
    ),
    (
        "a pod that only hopes for its room keeps it free",
        [node("n", "4"), pod("hopes", "3", priority=5, status={"nominatedNodeName": "n"})],
        pod("p", "2"),
        [
            ("request", "cpu", "2", "1", "n"),
            ("priority", "priority-6", "0", "6", "n"),
            ("delete-pod", "", "5", "", "n"),
            ("node", "n", "", "n-2", "n-2"),
        ],
    ),
    (
        "a class that never preempts",
        [node("n", "4"), pod("low", "3", nodeName="n"), NEVER | {"preemptionPolicy": "Never"}],
        pod("p", "4", priority=7, priorityClassName="polite", preemptionPolicy="Never"),
        [
            ("request", "cpu", "4", "1", "n"),
            ("preemption-policy", "priority-7", "Never", "PreemptLowerPriority", "n"),
            ("delete-pod", "", "0", "", "n"),
            ("node", "n", "", "n-2", "n-2"),
        ],
    ),
    (
        "a pod elsewhere in the zone is the one in the way",
        [
            node("n", labels={"zone": "a"}),
            node("m", "0", labels={"zone": "a"}),
            pod("x", labels={"app": "x"}, nodeName="m", priority=3),
        ],
        pod("p", "1", affinity={"podAntiAffinity": {REQUIRED: [APART]}}),
        [
            ("pod-anti-affinity", "zone", "app=x", "", "n"),
            ("delete-pod", "", "3", "", "n"),
        ],
    ),
    (
        "a claim that is not there",
        [node("n"), storage_class("WaitForFirstConsumer") | {"provisioner": "example.com/csi"}],
        pod("p", volumes=DATA),
        [("drop-volume", "data", "data", "", "n"), ("volume", "local", "", "1Gi", "n")],
    ),
    (
        "a claim that waits for a volume",
        [node("n"), storage_class("WaitForFirstConsumer"), CLAIM],
        pod("p", volumes=DATA),
        [("drop-volume", "data", "data", "", "n"), ("volume", "local", "", "5Gi", "n")],
    ),
]


@pytest.mark.parametrize(
    ("objects", "question", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_the_smallest_changes_are(objects: Objects, question: Manifest, expected: list[Expected]) -> None:
    found = asked(objects, question)
    assert [(s.kind, s.what, s.before, s.after, s.outcome.node) for s in found.suggestions] == expected
    for said in found.suggestions:
        changed, new = edited([*objects, question], question, said.edits)
        assert attempted(changed, new) == (said.outcome.kind, said.outcome.node, said.outcome.victims)


def test_the_api_server_accepts_every_edit_unchanged() -> None:
    """It gets objects as it stores them, and edits in the given order."""
    taken: set[str] = set()
    for objects, question in questions(25, 5, seed=5, mixture=ROOMY):
        stored = new_cluster([*objects, question], now=0)
        manifests = [change.object for change in stored if change.object is not None]
        [asking] = [m for m in manifests if m["metadata"]["name"] == "question"]
        for said in asked(manifests, asking).suggestions:
            there = stored
            for edit in said.edits:
                resource = next(r for r in BUILT_IN if r.id == edit.resource)
                old = next((c for c in there if (c.resource, c.key) == (edit.resource, edit.key)), None)
                if edit.verb == "update" and edit.manifest is not None and old and old.object:
                    [change] = admit_update(
                        resource, old.object, edit.manifest, CreatedObjects(there)
                    ).changes
                    assert change.object is not None
                    set_next_generation(strategy_of(resource), old.object, edit.manifest)
                    assert change.object == edit.manifest
                elif edit.manifest is not None:
                    there = [change for change in there if change is not old or edit.verb == "create"]
                    there += admit([edit.manifest], CreatedObjects(there), 0, source="again").changes
                taken.add(f"{edit.verb} {edit.resource}")
    assert taken >= {
        "update nodes", "update pods", "recreate pods", "create nodes", "delete pods",
        "create priorityclasses.scheduling.k8s.io",
    }  # fmt: skip


def test_nodes_with_the_same_fix_share_a_suggestion_and_the_number_of_suggestions_is_bounded() -> None:
    cordoned = [node(f"n{i}", unschedulable=True) for i in range(30)]
    found = asked(cordoned, pod("p", "1"))
    [said] = by_kind(found, "uncordon")
    assert (said.target, said.alike) == ("n0", [f"n{i}" for i in range(1, 9)])
    tainted = [node(f"n{i}", taints=[{"key": f"k{i}", "effect": "NoSchedule"}]) for i in range(30)]
    found = asked(tainted, pod("p", "1"))
    assert [len(by_kind(found, kind)) for kind in ("toleration", "taint", "node")] == [GROUPS_AT_MOST] * 2 + [
        0
    ]


def test_combined_changes_are_suggested_for_the_nodes_that_lack_least() -> None:
    taints = [{"key": "k", "value": v, "effect": "NoSchedule"} for v in "ab"]
    objects = [node("far", "1", taints=taints, unschedulable=True), node("near", "1500m", unschedulable=True)]
    found = asked(objects, pod("p", "4", nodeSelector={"gpu": "yes"}))
    assert found.suggestions == []
    assert [(lack.node, [(o.plugin, o.short_by) for o in lack.obstacles]) for lack in found.lacks] == [
        ("near", [("NodeUnschedulable", ""), ("NodeAffinity", ""), ("NodeResourcesFit", "2500m")]),
        (
            "far",
            [
                ("NodeUnschedulable", ""),
                *[("TaintToleration", "")] * 2,
                ("NodeAffinity", ""),
                ("NodeResourcesFit", "3"),
            ],
        ),
    ]


def test_a_stopped_search_changes_nothing() -> None:
    objects = [*random_cluster(Random(3), 9, ROOMY)]
    question = random_pending_pod(Random(4), "question", ROOMY)
    situation = Situation.read(of(objects), question, FRAMEWORKS)
    whole = list(search(situation))
    assert isinstance(whole[-1], WhatIfAnswer)
    assert sum(isinstance(said, Progress) for said in whole) > 10
    for steps in range(1, len(whole), 3):
        stopped = search(situation)
        for _ in range(steps):
            next(stopped)
        stopped.close()
    assert list(search(situation)) == whole


def test_changes_restore_the_order_of_pods_and_objects() -> None:
    claims = [
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": {}}
        for name in ("first", "second")
    ]
    waiting = [pod(name, "1") | {"status": {"nominatedNodeName": "a"}} for name in ("n1", "n2")]
    objects = [node("a"), *(pod(name, "1", nodeName="a") for name in ("p1", "p2", "p3")), *claims, *waiting]
    situation = Situation.read(of(objects), pod("q", "1"), FRAMEWORKS)

    def order() -> tuple[list[str], list[str], list[str]]:
        return (
            situation.cluster.pod_order("a"),
            [*situation.cluster.objects("persistentvolumeclaims")],
            [each.key for each in situation.nominated.get("a", ())],
        )

    before = order()
    deleted = [("pods", "default/p1"), ("persistentvolumeclaims", "default/first"), ("pods", "default/n1")]
    with situation.with_changes(Change(resource, key, None, 1) for resource, key in deleted):
        assert [len(left) for left in order()] == [2, 1, 1]
    assert order() == before
    assert [len(kept) for kept in before] == [3, 2, 2]


# The command


def test_the_command_prints_the_suggestions_as_a_table_and_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dump.json").write_text(
        json.dumps({"items": [node("n", "1"), node("m", "2", unschedulable=True)]})
    )

    def said(cpu: str, *options: str) -> str:
        container = {"name": "c", "image": "app", "resources": {"requests": {"cpu": cpu}}}
        written = POD | {"metadata": {"name": "web"}, "spec": {"containers": [container]}}
        (tmp_path / "pod.yaml").write_text(json.dumps(written))
        arguments = [str(tmp_path / "pod.yaml"), "--cluster", str(tmp_path / "dump.json"), *options]
        assert main(["whatif", *arguments]) == 0
        return capsys.readouterr().out

    lines = [line.split("  ") for line in said("1500m").splitlines()]
    assert [(line[0], line[-1].strip()) for line in lines[3:]] == [
        ("uncordon m", "bound to m"),
        ("tolerate node.kubernetes.io/unschedulable=*:NoSchedule", "bound to m"),
        ("request cpu 1500m -> 1", "bound to n"),
        ("one more node like m: m-2", "bound to m-2"),
    ]  # fmt: skip
    assert msgspec.json.decode(said("1500m", "-o", "json"), type=WhatIfAnswer).suggestions[0].target == "m"
    assert "fits as it is: it would be bound to n" in said("1")
    hopeless = said("1500m", "--config", str(_no_cordons(tmp_path)))
    assert "bound to m" in hopeless


def _no_cordons(folder: Path) -> Path:
    """A profile that does not look at cordons."""
    path = folder / "config.yaml"
    path.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{plugins: {filter: {disabled: [{name: NodeUnschedulable}]}}}]"
    )
    return path
