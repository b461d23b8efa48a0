"""Each suggestion has its predicted result: on a new cluster made from the edited manifests, the scheduler's
attempt has the same outcome. A search that tries each change finds nothing else."""

import copy
from collections.abc import Iterator
from typing import Any

from simulator.framework import snapshot
from simulator.harness.random_clusters import (
    HOSTNAME,
    REQUIRED,
)
from simulator.objects.pod import Pod
from simulator.objects.quantity import milli_value, parse_quantity
from simulator.what_if.answer import Suggestion, WhatIfAnswer
from simulator.what_if.search import GROUPS_AT_MOST
from simulator.what_if.situation import Situation
from tests.simulator.questions import (
    FRAMEWORKS,
    ROOMY,
    Manifest,
    Objects,
    asked,
    attempted,
    by_kind,
    edited,
    of,
    questions,
)


def test_each_applied_suggestion_has_its_predicted_result_and_a_smaller_one_does_not_suffice() -> None:
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
            if said.kind == "request" and not said.further:
                written = new["spec"]["containers"][0]["resources"]["requests"]
                more = parse_quantity(written[said.what]) + parse_quantity(said.unit)
                written[said.what] = f"{more}n"
                assert attempted(changed, new)[0] != "bound", f"{said}: and one {said.unit} more fits, too"
    assert len(seen) >= 10, f"too few kinds of suggestions to tell: {seen}"


# Against trying everything


def single(found: WhatIfAnswer, kind: str) -> list[Suggestion]:
    return [said for said in by_kind(found, kind) if not said.further]


def targets(found: WhatIfAnswer, kind: str) -> set[str]:
    return {name for said in single(found, kind) for name in (said.target, *said.alike)}


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


def test_on_small_clusters_the_search_finds_all_that_an_exhaustive_search_finds() -> None:
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
                if "/" in key and (key == HOSTNAME or key in node["metadata"]["labels"]):
                    continue  # what a component says of a node, it stays
                new = copy.deepcopy(node)
                new["metadata"]["labels"].pop(key, None)
                if value is not None:
                    new["metadata"]["labels"][key] = value
                if accepts(replaced(objects, node, new), pod, name):
                    wanted["label"].add(name)
        for kind, names in wanted.items():
            compared[kind] += len(names)
            if len(single(found, kind)) < GROUPS_AT_MOST:
                assert targets(found, kind) == names, (kind, found)

        for kind in ("selector", "node-affinity", "pod-anti-affinity", "spread"):
            working = [new for k, new in variants(pod) if k == kind and attempted(objects, new)[0] == "bound"]
            assert sum(s.outcome.kind == "bound" for s in single(found, kind)) == len(working), kind

        going = {}
        for other in pods:
            if attempted(without_pod(objects, other, pod), pod)[0] == "bound":
                going[f"default/{other['metadata']['name']}"] = other["spec"]["priority"]
        compared["delete-pod"] += len(going)
        assert bool(going) == bool(single(found, "delete-pod"))
        assert targets(found, "delete-pod") <= going.keys()

        same = [n for n in nodes if attempted([*objects, a_copy(n)], pod)[0] == "bound"]
        compared["node"] += len(same)
        assert bool(same) == bool(single(found, "node"))

        smaller = copy.deepcopy(pod)
        requests = smaller["spec"]["containers"][0]["resources"]["requests"]
        most = milli_value(parse_quantity(requests["cpu"]))
        fits = -1
        for cpu in range(most - 100, -1, -100):
            requests["cpu"] = f"{cpu}m"
            if attempted(objects, smaller)[0] == "bound":
                fits = cpu
                break
        cuts = [milli_value(parse_quantity(s.after)) for s in single(found, "request") if s.what == "cpu"]
        assert cuts == ([fits] if fits >= 0 else [])
        compared["request"] += len(cuts)

        working_priority = None
        for priority in (11, 12, 50, 101, 102, 1001, 1002):
            spec = {**pod["spec"], "priority": priority, "preemptionPolicy": "PreemptLowerPriority"}
            if priority > pod["spec"]["priority"] and preempts_usefully(objects, pod | {"spec": spec}):
                working_priority = priority
                break
        raised = [int(s.after) for s in single(found, "priority")]
        if working_priority in (50, None):
            assert not raised, "between two pods' priorities nothing changes"
        else:
            assert min(raised) == working_priority - (working_priority in (12, 102, 1002))
        compared["priority"] += len(raised)
    assert sum(map(bool, compared.values())) >= 6, f"too little found to tell: {compared}"


def is_replica(other: Manifest, pod: Manifest) -> bool:
    """Whether a constraint of the pod applies to both. In these clusters it selects the app of the pod."""
    constrained = "topologySpreadConstraints" in pod["spec"] or "podAntiAffinity" in pod["spec"].get(
        "affinity", {}
    )
    return constrained and other["metadata"]["labels"] == pod["metadata"]["labels"]


def placed(objects: Objects, pod: Manifest, name: str) -> Objects | None:
    """The objects with a copy of the pod, bound where the scheduler binds it; None if it fits nowhere."""
    again = copy.deepcopy(pod)
    again["metadata"] |= {"name": name, "uid": name}
    outcome, node, _ = attempted(objects, again)
    if outcome != "bound":
        return None
    again["spec"]["nodeName"] = node
    return [*objects, again]


def without_pod(objects: Objects, deleted: Manifest, pod: Manifest) -> Objects:
    """The objects without a pod. A replica of the pod's own workload is created again; the room stays taken
    if it then fits nowhere."""
    left = [manifest for manifest in objects if manifest is not deleted]
    return (placed(left, pod, "again") or objects) if is_replica(deleted, pod) else left


def preempts_usefully(objects: Objects, pod: Manifest) -> bool:
    """Whether the pod is bound, or preempts others, and its own replicas among them get another place."""
    outcome, node, victims = attempted(objects, pod)
    left: Objects | None = [o for o in objects if f"default/{o['metadata']['name']}" not in victims]
    evicted = [o for o in objects if o["kind"] == "Pod" and f"default/{o['metadata']['name']}" in victims]
    if any(is_replica(each, pod) for each in evicted):
        own = copy.deepcopy(pod)
        own["metadata"] |= {"name": "own", "uid": "own"}
        own["spec"]["nodeName"] = node
        assert left is not None
        left.append(own)
        for number, each in enumerate(evicted):
            if left is not None and is_replica(each, pod):
                left = placed(left, pod, f"again-{number}")
    return bool(outcome) and left is not None


def a_copy(node: Manifest) -> Manifest:
    """One more of this kind: not cordoned, and under a name of its own."""
    new = copy.deepcopy(node)
    new["metadata"]["name"] = new["metadata"]["labels"][HOSTNAME] = "one-more"
    new["spec"].pop("unschedulable", None)
    return new
