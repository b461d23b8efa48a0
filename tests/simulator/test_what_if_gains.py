"""What a suggestion changes, and what it must not: constraints are relaxed before they are removed, a pod
that is created again is no gain, names are unambiguous, labels of components are kept."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from simulator.__main__ import main
from simulator.what_if.answer import WhatIfAnswer
from tests.simulator.questions import Manifest, Objects, asked, attempted, by_kind, edited, node, pod
from tests.simulator.test_what_if import CLAIM, storage_class

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TAINTED = [{"key": "own", "effect": "NoSchedule"}]
APP = {"matchLabels": {"app": "x"}}


def zoned(name: str, zone: str, **more: Any) -> Manifest:
    return node(name, labels={"zone": zone, **more.pop("labels", {})}, **more)


def replica(name: str, on: str = "", owner: str = "", cpu: str = "", **spec: Any) -> Manifest:
    made = pod(name, cpu, labels={"app": "x"}, **spec, **({"nodeName": on} if on else {}))
    if owner:
        kind = "ReplicaSet" if owner != "node" else "Node"
        reference = {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": owner, "controller": True}
        made["metadata"]["ownerReferences"] = [reference]
    return made


def spread(**fields: Any) -> list[Manifest]:
    return [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": APP}
        | fields
    ]


def changes(found: WhatIfAnswer, *kinds: str) -> list[tuple[str, str, str]]:
    return [(said.kind, said.before, said.after) for said in found.suggestions if said.kind in kinds]


SPREAD_KINDS = ("spread-policy", "spread-domains", "spread-skew", "spread-anyway", "spread")
ANYWAY = ("spread-anyway", "DoNotSchedule", "ScheduleAnyway")
REMOVED = ("spread", "zone", "")
RELAXED: list[tuple[str, Objects, list[Manifest], list[tuple[str, str, str]]]] = [
    (
        "a tainted node's domain counts by default",
        [zoned("a", "a"), zoned("c", "c", taints=TAINTED), replica("x", "a")],
        spread(),
        [
            ("spread-policy", "nodeTaintsPolicy: Ignore", "nodeTaintsPolicy: Honor"),
            ("spread-skew", "1", "2"),
            ANYWAY,
            REMOVED,
        ],
    ),
    (
        "the smallest skew that helps",
        [
            zoned("a", "a"),
            zoned("b", "b", unschedulable=True),
            *(replica(f"x{i}", "a") for i in range(5)),
        ],
        spread(),
        [("spread-skew", "1", "6"), ANYWAY, REMOVED],
    ),
    (
        "more domains are wanted than there are",
        [zoned("a", "a"), zoned("b", "b"), replica("x", "a"), replica("y", "b")],
        spread(minDomains=4),
        [("spread-domains", "4", "2"), ("spread-skew", "1", "2"), ANYWAY, REMOVED],
    ),
    (
        "there is a second constraint that only scores",
        [zoned("a", "a"), zoned("b", "b", unschedulable=True), replica("x", "a")],
        [*spread(), *spread(whenUnsatisfiable="ScheduleAnyway")],
        [("spread-skew", "1", "2"), REMOVED],
    ),
]


@pytest.mark.parametrize(
    ("objects", "constraints", "expected"), [c[1:] for c in RELAXED], ids=[c[0] for c in RELAXED]
)
def test_a_spread_constraint_is_relaxed_before_it_is_removed(
    objects: Objects, constraints: list[Manifest], expected: list[tuple[str, str, str]]
) -> None:
    question = replica("p", topologySpreadConstraints=constraints)
    found = asked(objects, question)
    assert changes(found, *SPREAD_KINDS) == expected
    for said in found.suggestions:
        changed, new = edited([*objects, question], question, said.edits)
        assert attempted(changed, new) == (said.outcome.kind, said.outcome.node, said.outcome.victims)
    for anyway in by_kind(found, "spread-anyway"):
        assert "minDomains" not in str(anyway.edits[0].manifest)


def test_deleting_or_evicting_a_replica_of_the_same_workload_is_no_gain() -> None:
    """The dump does not contain its controller: the constraint selects both."""
    objects = [zoned("a", "a"), zoned("b", "b"), zoned("c", "c", taints=TAINTED)]
    objects += [replica("x", "a"), replica("y", "b")]
    found = asked(objects, replica("p", topologySpreadConstraints=spread()))
    assert by_kind(found, "delete-pod") == []
    assert by_kind(found, "priority") == []
    term = {"topologyKey": "zone", "labelSelector": APP}
    found = asked(objects, replica("p", affinity={"podAntiAffinity": {REQUIRED: [term]}}))
    assert {said.kind for said in found.suggestions} == {"toleration", "taint", "pod-anti-affinity"}


def test_a_pod_that_gets_another_place_is_a_gain() -> None:
    """The replacement prefers the larger node, which the pending pod may not have."""
    objects = [node("n", "2", labels={"own": "yes"}), node("m", "64"), replica("x", "n", "web", "2")]
    [said] = by_kind(asked(objects, pod("p", "2", nodeSelector={"own": "yes"})), "delete-pod")
    assert (said.target, said.outcome.node) == ("default/x", "n")


@pytest.mark.parametrize(
    ("owner", "others", "helps"),
    [
        ("", "2", True),
        ("web", "2", False),
        ("node", "8", False),
    ],
)
def test_a_deleted_pod_counts_with_the_one_that_its_controller_creates(
    owner: str, others: str, *, helps: bool
) -> None:
    """The node has room for one of them."""
    objects = [node("n", "4"), node("m", others, taints=TAINTED), replica("x", "n", owner, "4")]
    found = asked(objects, pod("p", "3"))
    assert bool(by_kind(found, "delete-pod")) is helps


def test_the_command_knows_the_controllers_that_a_dump_does_not_contain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects = [node("n", "4"), replica("x", "n", "web", "4")]
    for each in objects[1:]:
        each["spec"]["containers"][0]["image"] = "app"
    (tmp_path / "dump.json").write_text(json.dumps({"kind": "List", "items": objects}))
    question = pod(
        "p", "1", containers=[{"name": "c", "image": "app", "resources": {"requests": {"cpu": "1"}}}]
    )
    (tmp_path / "pod.json").write_text(json.dumps(question))
    main(["whatif", str(tmp_path / "pod.json"), "--cluster", str(tmp_path / "dump.json"), "-o", "json"])
    found = msgspec.json.decode(capsys.readouterr().out, type=WhatIfAnswer)
    assert "delete-pod" not in {said.kind for said in found.suggestions}
    assert {said.kind for said in found.suggestions} >= {"node", "priority"}


@pytest.mark.parametrize(("owner", "helps"), [("", True), ("web", False)])
def test_a_pair_with_a_deletion_counts_with_the_pod_that_is_created_again(owner: str, *, helps: bool) -> None:
    tolerant = {"tolerations": [{"key": "own", "operator": "Exists"}]}
    objects = [node("n", "4", taints=TAINTED), replica("x", "n", owner, "4", **tolerant)]
    found = asked(objects, pod("p", "3"))
    seconds = [part.kind for said in found.suggestions for part in said.further]
    assert "request" in seconds
    assert ("delete-pod" in seconds) is helps


# Names


def test_terms_of_the_same_topology_key_have_different_names() -> None:
    terms = [
        {"topologyKey": "zone", "labelSelector": {"matchLabels": {"name": "a"}}},
        {"topologyKey": "zone", "labelSelector": {"matchLabels": {"name": "b"}}},
    ]
    objects = [
        zoned("n", "a"),
        *(pod(name, labels={"name": name}, nodeName="n") for name in "ab"),
    ]
    found = asked(objects, pod("p", affinity={"podAffinity": {REQUIRED: terms}}))
    assert [(said.what, said.before, said.alike) for said in found.suggestions] == [
        ("zone", "name=a", []),
        ("zone", "name=b", []),
    ]


def test_the_same_expression_in_two_terms_of_node_affinity_has_two_names() -> None:
    gpu = {"key": "gpu", "operator": "Exists"}
    terms = [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}, gpu]}
        for zone in ("a", "b")
    ]
    required = {"nodeSelectorTerms": terms}
    found = asked(
        [zoned("n", "a"), zoned("m", "b")], pod("p", affinity={"nodeAffinity": {REQUIRED: required}})
    )
    named = [said.what for said in by_kind(found, "node-affinity")]
    assert named == [
        "gpu of the term zone in (a) and gpu",
        "gpu of the term zone in (b) and gpu",
        "zone in (a) and gpu or zone in (b) and gpu",
    ]


@pytest.mark.parametrize(
    ("like", "name"),
    [
        ("ip-10-0-6-120.eu-west-1.compute.internal", "ip-10-0-6-120-2.eu-west-1.compute.internal"),
        ("10.0.6.120", "10.0.6.120-2"),
        ("worker", "worker-2"),
    ],
)
def test_an_added_node_has_the_name_of_another_host(like: str, name: str) -> None:
    labels = {"kubernetes.io/hostname": like}
    found = asked([node(like, "1", labels=labels), pod("x", "1", nodeName=like)], pod("p", "1"))
    [said] = by_kind(found, "node")
    assert (said.what, said.target, said.outcome.node) == (like, name, name)
    made = said.edits[0].manifest
    assert made is not None
    assert made["metadata"]["labels"] == {"kubernetes.io/hostname": name}


def test_an_added_node_differs_by_more_than_a_hyphen() -> None:
    objects = [node(name, "1", pods="1") for name in ("kind-worker", "kind-worker2")]
    objects += [pod(f"x-{name}", nodeName=name) for name in ("kind-worker", "kind-worker2")]
    [said] = by_kind(asked(objects, pod("p", "1")), "node")
    assert said.target == "kind-worker-3"


def test_the_label_of_a_long_host_name_is_short_enough() -> None:
    name = f"{'n' * 50}.{'d' * 20}"
    labels = {"kubernetes.io/hostname": "n" * 50}
    [said] = by_kind(
        asked([node(name, "1", labels=labels), pod("x", "1", nodeName=name)], pod("p", "1")), "node"
    )
    made = said.edits[0].manifest
    assert made is not None
    assert made["metadata"]["labels"] == {"kubernetes.io/hostname": f"{'n' * 50}-2"}


def test_a_list_of_nodes_says_how_many_more_there_are() -> None:
    [said] = by_kind(asked([node(f"n{i:02}", unschedulable=True) for i in range(30)], pod("p")), "uncordon")
    assert (said.target, len(said.alike), said.alike_more) == ("n00", 8, 21)


# What a component owns


@pytest.mark.parametrize(
    "key",
    [
        "topology.kubernetes.io/zone",
        "node.kubernetes.io/instance-type",
        "kubernetes.io/arch",
        "cloud.google.com/gke-nodepool",
        "eks.amazonaws.com/capacityType",
        "karpenter.sh/nodepool",
    ],
)
def test_labels_of_components_are_neither_changed_nor_removed(key: str) -> None:
    objects = [node("n", labels={key: "a"}), node("m", labels={"own": "a"})]
    assert by_kind(asked(objects, pod("p", nodeSelector={key: "b"})), "label")[0].target == "m"
    for operator in ("DoesNotExist", "NotIn"):
        expression = {"key": key, "operator": operator, **({"values": ["a"]} if operator == "NotIn" else {})}
        required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        found = asked([objects[0]], pod("p", affinity={"nodeAffinity": {REQUIRED: required}}))
        assert by_kind(found, "label") == []
    assert by_kind(asked([objects[1]], pod("p", nodeSelector={"own": "b"})), "label")[0].before == "a"


# Storage


def template(size: str) -> Manifest:
    spec = {"accessModes": ["ReadWriteOncePod"], "resources": {"requests": {"storage": size}}}
    return {"metadata": {"name": "data"}, "spec": spec}


STATEFUL_SET = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "db", "namespace": "default"},
    "spec": {"volumeClaimTemplates": [template("20Gi")]},
}


@pytest.mark.parametrize(
    ("objects", "volume", "size", "modes"),
    [
        ([STATEFUL_SET], {"persistentVolumeClaim": {"claimName": "data-db-1"}}, "20Gi", "ReadWriteOncePod"),
        (
            [CLAIM | {"metadata": {"name": "data-db-0", "namespace": "default"}}],
            {"persistentVolumeClaim": {"claimName": "data-db-1"}},
            "5Gi",
            "ReadWriteOnce",
        ),
        ([], {"ephemeral": {"volumeClaimTemplate": template("7Gi")}}, "7Gi", "ReadWriteOncePod"),
        ([STATEFUL_SET], {"persistentVolumeClaim": {"claimName": "other"}}, "1Gi", "ReadWriteOnce"),
    ],
    ids=["StatefulSet", "another ordinal", "ephemeral", "without template"],
)
def test_storage_has_the_size_of_the_template(
    objects: Objects, volume: Manifest, size: str, modes: str
) -> None:
    local = storage_class("WaitForFirstConsumer") | {"provisioner": "example.com/csi"}
    question = pod("db-1", volumes=[{"name": "data", **volume}])
    if "ephemeral" in volume:
        del question["metadata"]["uid"]  # of a stored pod, a controller creates the claim
    [said] = by_kind(asked([node("n"), local, *objects], question), "volume")
    assert (said.after, said.outcome.kind) == (size, "bound")
    claim = said.edits[0].manifest
    assert claim is not None
    assert claim["spec"]["resources"]["requests"]["storage"] == size
    assert claim["spec"]["accessModes"] == [modes]


# Pods with gates


def test_nothing_is_lacking_where_a_node_takes_the_pod() -> None:
    objects = [node("n"), node("m", taints=TAINTED)]
    container = {"name": "c", "image": "app"}
    found = asked(objects, pod("p", containers=[container], schedulingGates=[{"name": "a"}, {"name": "b"}]))
    assert (found.now.kind, found.lacks) == ("gated", [])
    [said] = found.suggestions
    assert said.edits[0].verb == "update"
    found = asked([objects[1]], pod("p", "64", schedulingGates=[{"name": "a"}]))
    assert [lack.node for lack in found.lacks] == ["m"]


def test_a_pod_that_does_not_run_without_its_gates_either_has_the_reason() -> None:
    many = {f"key-{i}": "v" for i in range(4)}
    found = asked([node("n", "1")], pod("p", "2", nodeSelector=many, schedulingGates=[{"name": "a"}]))
    assert (found.now.kind, found.suggestions) == ("gated", [])
    assert found.when_queued is not None
    assert found.when_queued.message.startswith("0/1 nodes are available: 1 node(s) didn't match")
