"""Each suggestion does what it says: on a cluster built anew from manifests with its edits made, the
scheduler's own attempt comes to the same. What is tried one by one here is found there."""

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from simulator.__main__ import main
from simulator.api import Change
from simulator.apiserver.admission import admit, new_cluster
from simulator.apiserver.overlay import CreatedObjects
from simulator.apiserver.patch import apply_json_patch
from simulator.apiserver.resources import BUILT_IN, Resource, find_by_kind
from simulator.apiserver.update import admit_update
from simulator.framework import snapshot
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod
from simulator.objects.quantity import milli_value, parse_quantity
from simulator.plugins.registry import load, profiles
from simulator.random_clusters import (
    HOSTNAME,
    REQUIRED,
    USUAL_MIXTURE,
    ClusterMixture,
    random_cluster,
    random_pending_pod,
)
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import record
from simulator.what_if.answer import Progress, Suggestion, WhatIfAnswer
from simulator.what_if.comparison import compare_nodes, rank_nodes
from simulator.what_if.edit import Edit
from simulator.what_if.eviction import explain_eviction, find_preventions
from simulator.what_if.rivals import with_rivals
from simulator.what_if.search import GROUPS_AT_MOST, search
from simulator.what_if.situation import Situation
from tests.simulator.builders import a_node, a_pod

Manifest = dict[str, Any]
Objects = list[Manifest]
FRAMEWORKS = profiles(load(None))
ROOMY = ClusterMixture(full=(0.3, 0.9), odd=0.35)
"""So that pods are turned away for other reasons than room alone."""


def of(objects: Iterable[Manifest]) -> Iterator[tuple[Resource, Manifest]]:
    for manifest in objects:
        resource = find_by_kind(manifest["apiVersion"], manifest["kind"])
        assert resource is not None
        yield resource, manifest


def key_of(manifest: Manifest) -> tuple[str, str]:
    return manifest["kind"], manifest["metadata"]["name"]


def asked(
    objects: Iterable[Manifest], pod: Manifest, frameworks: Mapping[str, Framework] = FRAMEWORKS
) -> WhatIfAnswer:
    *_, answer = search(Situation.read(of(objects), pod, frameworks))
    assert isinstance(answer, WhatIfAnswer)
    return answer


def attempted(
    objects: Iterable[Manifest], pod: Manifest, frameworks: Mapping[str, Framework] = FRAMEWORKS
) -> tuple[str, str, list[str]]:
    """What the scheduler itself does with the pod: how it ends, where, and with which victims."""
    built, nominated = snapshot.read((o for o in of(objects) if key_of(o[1]) != key_of(pod)), frameworks)
    parsed = Pod.parse(pod)
    framework = frameworks.get(parsed.scheduler_name)
    if framework is None or framework.run_pre_enqueue(parsed) is not None:
        return "", "", []
    made = Attempt(framework, built, parsed, nominated)
    for _ in made.run():
        pass
    decision = record(made)
    if decision.outcome != "preempting" or decision.preemption is None:
        return ("bound" if decision.selected else ""), decision.selected, []
    chosen = next(c for c in decision.preemption.candidates if c.node == decision.preemption.chosen)
    return "nominated", chosen.node, [victim.pod for victim in chosen.victims]


def edited(objects: Sequence[Manifest], pod: Manifest, edits: Iterable[Edit]) -> tuple[Objects, Manifest]:
    """The manifests with the edits made, as whoever applies them would."""
    known = {(str(r.id), r.key("default", m["metadata"]["name"])): m for r, m in of([*objects, pod])}
    for edit in edits:
        at = (edit.resource, edit.key)
        old = known.pop(at, None)
        assert (old is None) == (edit.verb == "create"), edit
        if edit.manifest is not None:
            known[at] = edit.manifest
        if edit.verb == "update":
            assert apply_json_patch(old, edit.patch) == edit.manifest
        elif edit.verb == "recreate":
            assert edit.manifest is not None
            assert apply_json_patch(old, edit.patch)["spec"] == edit.manifest["spec"]
    [changed] = [m for m in known.values() if key_of(m) == key_of(pod)]
    return list(known.values()), changed


def questions(
    count: int, nodes: int, seed: int, mixture: ClusterMixture = USUAL_MIXTURE
) -> Iterator[tuple[Objects, Manifest]]:
    for i in range(count):
        random = Random(f"{seed}/{i}")
        yield (
            [*random_cluster(random, random.randint(1, nodes), mixture)],
            random_pending_pod(random, "question", mixture),
        )


def test_each_suggestion_applied_does_what_it_said_and_a_smaller_cut_does_not_do() -> None:
    seen: dict[str, int] = {}
    for objects, pod in questions(100, 7, seed=1, mixture=ROOMY):
        found = asked(objects, pod)
        now = attempted(objects, pod)
        assert (found.now.kind if now[0] else "", found.now.node, found.now.victims) == now
        assert [s.cost for s in found.suggestions] == sorted(s.cost for s in found.suggestions)
        for said in found.suggestions:
            changed, new = edited(objects, pod, said.edits)
            outcome = said.outcome
            assert attempted(changed, new) == (outcome.kind, outcome.node, outcome.victims), said
            seen[said.kind] = seen.get(said.kind, 0) + 1
            if said.kind == "request":
                written = new["spec"]["containers"][0]["resources"]["requests"]
                more = parse_quantity(written[said.what]) + parse_quantity(said.unit)
                written[said.what] = f"{more}n"
                assert attempted(changed, new)[0] != "bound", f"{said}: and one {said.unit} more fits, too"
    assert len(seen) >= 10, f"too few kinds of suggestions to tell: {seen}"


# Against trying everything


def by_kind(found: WhatIfAnswer, kind: str) -> list[Suggestion]:
    return [said for said in found.suggestions if said.kind == kind]


def targets(found: WhatIfAnswer, kind: str) -> set[str]:
    return {name for said in by_kind(found, kind) for name in (said.target, *said.alike)}


def variants(pod: Manifest) -> Iterator[tuple[str, Manifest]]:
    """The pod with one of its demands left out."""
    spec = pod["spec"]

    def without(*path: Any) -> Manifest:
        new = copy.deepcopy(pod)
        holder = new["spec"]
        for part in path[:-1]:
            holder = holder[part]
        del holder[path[-1]]
        return new

    for key in spec.get("nodeSelector", {}):
        yield "selector", without("nodeSelector", key)
    affinity = spec.get("affinity", {})
    if "nodeAffinity" in affinity:
        yield "node-affinity", without("affinity", "nodeAffinity")
        [term] = affinity["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
        if len(term["matchExpressions"]) > 1:
            for i in range(len(term["matchExpressions"])):
                path = ("affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms", 0, "matchExpressions", i)
                yield "node-affinity", without(*path)
    if "podAntiAffinity" in affinity:
        yield "pod-anti-affinity", without("affinity", "podAntiAffinity")
    for i in range(len(spec.get("topologySpreadConstraints", ()))):
        yield "spread", without("topologySpreadConstraints", i)


def replaced(objects: Objects, old: Manifest, new: Manifest) -> Objects:
    return [new if manifest is old else manifest for manifest in objects]


def accepts(objects: Objects, pod: Manifest, name: str) -> bool:
    """Whether this very node takes the pod."""
    built, nominated = snapshot.read(of(objects), FRAMEWORKS)
    situation = Situation(built, Pod.parse(pod), FRAMEWORKS, nominated)
    return bool(situation.passing()[built.rows[name]])


def test_on_small_clusters_nothing_is_missed_that_trying_everything_finds() -> None:
    compared = dict.fromkeys(("uncordon", "taint", "label", "delete-pod", "node", "request", "priority"), 0)
    for objects, pod in questions(24, 5, seed=1, mixture=ROOMY):
        pod["spec"].pop("schedulingGates", None)
        found = asked(objects, pod)
        if found.now.kind != "unschedulable":
            continue
        nodes = [manifest for manifest in objects if manifest["kind"] == "Node"]
        pods = [manifest for manifest in objects if manifest["kind"] == "Pod"]

        wanted: dict[str, set[str]] = {"uncordon": set(), "taint": set(), "label": set()}
        terms = pod["spec"].get("affinity", {}).get("nodeAffinity", {}).get(REQUIRED, {})
        demands = [e for term in terms.get("nodeSelectorTerms", ()) for e in term["matchExpressions"]]
        pairs = {*pod["spec"].get("nodeSelector", {}).items(), *((e["key"], "true") for e in demands)}
        pairs |= {(e["key"], value) for e in demands for value in e.get("values", ())}
        for constraint in pod["spec"].get("topologySpreadConstraints", ()):
            key = constraint["topologyKey"]
            pairs |= {(key, n["metadata"]["labels"][key]) for n in nodes if key in n["metadata"]["labels"]}
        for node in nodes:
            name = node["metadata"]["name"]
            if accepts(objects, pod, name):
                continue
            if node["spec"].get("unschedulable"):
                new = node | {"spec": {k: v for k, v in node["spec"].items() if k != "unschedulable"}}
                if accepts(replaced(objects, node, new), pod, name):
                    wanted["uncordon"].add(name)
            for i in range(len(node["spec"].get("taints", ()))):
                new = copy.deepcopy(node)
                del new["spec"]["taints"][i]
                if accepts(replaced(objects, node, new), pod, name):
                    wanted["taint"].add(name)
            for key, value in [*pairs, *((key, None) for key, _ in pairs)]:
                if "kubernetes.io" in key and (key == HOSTNAME or key in node["metadata"]["labels"]):
                    continue  # what a node is, it stays
                new = copy.deepcopy(node)
                new["metadata"]["labels"].pop(key, None)
                if value is not None:
                    new["metadata"]["labels"][key] = value
                if accepts(replaced(objects, node, new), pod, name):
                    wanted["label"].add(name)
        for kind, names in wanted.items():
            compared[kind] += len(names)
            if len(by_kind(found, kind)) < GROUPS_AT_MOST:
                assert targets(found, kind) == names, (kind, found)

        for kind in ("selector", "node-affinity", "pod-anti-affinity", "spread"):
            working = [new for k, new in variants(pod) if k == kind and attempted(objects, new)[0] == "bound"]
            assert sum(s.outcome.kind == "bound" for s in by_kind(found, kind)) == len(working), kind

        going = {}
        for other in pods:
            if attempted([o for o in objects if o is not other], pod)[0] == "bound":
                going[f"default/{other['metadata']['name']}"] = other["spec"]["priority"]
        compared["delete-pod"] += len(going)
        assert bool(going) == bool(by_kind(found, "delete-pod"))
        assert targets(found, "delete-pod") <= going.keys()

        same = [n for n in nodes if attempted([*objects, a_copy(n)], pod)[0] == "bound"]
        compared["node"] += len(same)
        assert bool(same) == bool(by_kind(found, "node"))

        smaller = copy.deepcopy(pod)
        requests = smaller["spec"]["containers"][0]["resources"]["requests"]
        most = milli_value(parse_quantity(requests["cpu"]))
        fits = -1
        for cpu in range(most - 100, -1, -100):
            requests["cpu"] = f"{cpu}m"
            if attempted(objects, smaller)[0] == "bound":
                fits = cpu
                break
        cuts = [milli_value(parse_quantity(s.after)) for s in by_kind(found, "request") if s.what == "cpu"]
        assert cuts == ([fits] if fits >= 0 else [])
        compared["request"] += len(cuts)

        working_priority = None
        for priority in (11, 12, 50, 101, 102, 1001, 1002):
            spec = {**pod["spec"], "priority": priority, "preemptionPolicy": "PreemptLowerPriority"}
            if priority > pod["spec"]["priority"] and attempted(objects, pod | {"spec": spec})[0]:
                working_priority = priority
                break
        raised = [int(s.after) for s in by_kind(found, "priority")]
        if working_priority in (50, None):
            assert not raised, "between two pods' priorities nothing changes"
        else:
            assert min(raised) == working_priority - (working_priority in (12, 102, 1002))
        compared["priority"] += len(raised)
    assert sum(map(bool, compared.values())) >= 6, f"too little found to tell: {compared}"


def a_copy(node: Manifest) -> Manifest:
    """One more of this kind: not cordoned, and under a name of its own."""
    new = copy.deepcopy(node)
    new["metadata"]["name"] = new["metadata"]["labels"][HOSTNAME] = "one-more"
    new["spec"].pop("unschedulable", None)
    return new


# One by one

NODE, POD = {"apiVersion": "v1", "kind": "Node"}, {"apiVersion": "v1", "kind": "Pod"}


def node(name: str, cpu: str = "4", **more: Any) -> Manifest:
    return NODE | a_node(name, cpu, **more)


def pod(name: str, cpu: str = "", **more: Any) -> Manifest:
    return POD | a_pod(name, cpu, **more)


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
        "two gates are two changes",
        [node("n")],
        pod("p", schedulingGates=[{"name": "a"}, {"name": "b"}]),
        [],
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
            ("preemption-policy", "preemptionPolicy", "Never", "PreemptLowerPriority", "n"),
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
            ("pod-anti-affinity", "zone", "zone", "", "n"),
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


def test_the_api_server_takes_every_edit_as_it_is() -> None:
    """Of objects as it stores them, and in the order given."""
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
                    assert change.object == edit.manifest
                elif edit.manifest is not None:
                    there = [change for change in there if change is not old or edit.verb == "create"]
                    there += admit([edit.manifest], CreatedObjects(there), 0, source="again").changes
                taken.add(f"{edit.verb} {edit.resource}")
    assert taken >= {
        "update nodes", "update pods", "recreate pods", "create nodes", "delete pods",
        "create priorityclasses.scheduling.k8s.io",
    }  # fmt: skip


def test_nodes_of_one_fix_are_one_suggestion_and_no_more_kinds_of_it_than_are_read() -> None:
    cordoned = [node(f"n{i}", unschedulable=True) for i in range(30)]
    found = asked(cordoned, pod("p", "1"))
    [said] = by_kind(found, "uncordon")
    assert (said.target, said.alike) == ("n0", [f"n{i}" for i in range(1, 9)])
    tainted = [node(f"n{i}", taints=[{"key": f"k{i}", "effect": "NoSchedule"}]) for i in range(30)]
    found = asked(tainted, pod("p", "1"))
    assert [len(by_kind(found, kind)) for kind in ("toleration", "taint", "node")] == [GROUPS_AT_MOST] * 2 + [
        0
    ]


def test_what_more_than_one_thing_would_take_is_said_of_the_nodes_that_lack_least() -> None:
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


def test_a_search_that_is_stopped_leaves_everything_as_it_was() -> None:
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


# Why


def test_the_other_pods_that_fit_the_same_node_are_rivals() -> None:
    tainted = node("n2", taints=[{"key": "a", "value": "b", "effect": "NoSchedule"}])
    low = pod("low", "3", nodeName="n1")
    twins = [pod("twin-1", "2"), pod("twin-2", "2")]
    others = [*twins, pod("huge", "99"), pod("elsewhere", "1", nodeSelector={"disk": "ssd"})]
    objects: Objects = [node("n1"), tainted, low, *others]
    situation = Situation.read(of(objects), pod("web", "2"), FRAMEWORKS)
    *_, answer = search(situation)
    assert isinstance(answer, WhatIfAnswer)
    own = situation.pod
    found = {
        each.kind: each.rivals
        for each in with_rivals(situation, answer.suggestions, [*others, low, pod("web", "2")])
    }
    room = ["default/twin-1", "default/twin-2"]
    assert found == {
        "toleration": [],
        "taint": room,
        "request": [],
        "priority": [],
        "delete-pod": room,
        "node": room,
    }
    assert situation.pod is own
    assert situation.outcome() == answer.now, "the situation is as it was"


def test_two_nodes_are_set_side_by_side_by_what_each_plugin_gave_them() -> None:
    expression = {"key": "zone", "operator": "In", "values": ["a"]}
    term = {"weight": 1, "preference": {"matchExpressions": [expression]}}
    zone = {"preferredDuringSchedulingIgnoredDuringExecution": [term]}
    objects = [
        node("near", labels={"zone": "a"}), node("empty"), node("twin"), node("small", "1"),
        pod("x", "1", nodeName="near"),
    ]  # fmt: skip
    built, nominated = snapshot.read(of(objects), FRAMEWORKS)
    made = Situation(built, Pod.parse(pod("p", "2", affinity={"nodeAffinity": zone})), FRAMEWORKS, nominated)
    decision = record(made.attempt(exhaustive=True))
    found = compare_nodes(decision, "empty")
    assert (found.node, found.how) == ("near", "scores")
    assert found.totals is not None
    assert sum(d.difference for d in found.differences) == found.totals[0] - found.totals[1] > 0
    first, last = found.differences[0], found.differences[-1]
    assert (first.plugin, first.raw, first.weighted, first.decides) == (
        "NodeAffinity",
        (1, 0),
        (200, 0),
        True,
    )
    assert (last.plugin, last.decides) == ("NodeResourcesBalancedAllocation", False)
    assert compare_nodes(decision, "twin", "empty").how == "lot"
    refused = compare_nodes(decision, "small")
    assert refused.failure is not None
    assert (refused.how, refused.failure.reasons) == ("refused", ["Insufficient cpu"])
    assert rank_nodes(decision)[0] == "near"
    with pytest.raises(LookupError):
        compare_nodes(decision, "elsewhere")


def test_a_victim_hears_who_evicted_it_by_which_rule_and_what_would_have_saved_it() -> None:
    objects = [
        node("n", "4"),
        pod(
            "old",
            "1",
            nodeName="n",
            priority=5,
            labels={"app": "old"},
            status={"startTime": "2025-01-01T00:00:00Z"},
        ),
        pod(
            "victim",
            "2",
            nodeName="n",
            priority=5,
            labels={"app": "v"},
            status={"startTime": "2025-01-02T00:00:00Z"},
        ),
        node("m", "4"),
        pod("grand", "2", nodeName="m", priority=50),
    ]
    question = pod("p", "3", priority=100)
    situation = Situation.read(of(objects), question, FRAMEWORKS)
    said = explain_eviction(record(situation.attempt(exhaustive=True)), "default/victim")
    assert (said.preemptor, said.node, said.rule, said.candidates) == ("default/p", "n", 2, 2)
    assert (said.spared, said.tried, said.turn) == (
        ["default/old"], ["default/old", "default/victim"], 2,
    )  # fmt: skip
    found = {s.kind: s for s in find_preventions(situation, "default/victim")}
    assert {kind: (s.what, s.before, s.after, s.outcome.node) for kind, s in found.items()} == {
        "priority": ("default/victim", "5", "50", "m"),
        "budget": ("app=v", "", "0", "m"),
        "request": ("cpu", "3", "2", "m"),
        "preemptor-priority": ("default/p", "100", "5", ""),
    }
    assert [*find_preventions(situation, "default/grand")] == []
    with pytest.raises(LookupError):
        explain_eviction(record(situation.attempt()), "default/grand")


# The command


def test_the_command_says_what_would_help_as_a_table_and_as_json(
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
        ("one more node like m", "bound to m-2"),
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
