"""InterPodAffinity against a reference that goes through nodes and pods one by one, and its edge rules."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.cluster.cluster import Cluster
from simulator.framework.node_batch import NodeBatch
from simulator.framework.status import PluginError, Status
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from tests.amounts import examples
from tests.simulator.topology_clusters import (
    HOSTNAME,
    NAMESPACE_MANIFESTS,
    PREFERRED,
    REQUIRED,
    Manifest,
    bound_pods,
    cluster_of,
    default_framework,
    fresh_state,
    nodes,
    pods,
    selects,
    term,
)

AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"
NAMESPACE_LABELS = {m["metadata"]["name"]: m["metadata"].get("labels", {}) for m in NAMESPACE_MANIFESTS}
Found = tuple[list[Manifest], list[Manifest], Manifest]


def plugin_with(**args: Any) -> Any:
    return default_framework(args, "InterPodAffinity").plugins["InterPodAffinity"]


PLUGIN = plugin_with()
BY_HARD_WEIGHT = {1: PLUGIN, 0: plugin_with(hardPodAffinityWeight=0), 7: plugin_with(hardPodAffinityWeight=7)}
IGNORING = plugin_with(ignorePreferredTermsOfExistingPods=True)


@st.composite
def clusters(draw: st.DrawFn) -> Found:
    """Nodes, pods on them, and a pod to be scheduled."""
    found = draw(nodes())
    return found, draw(bound_pods(len(found))), draw(pods("incoming"))


class Reference:
    """The rules, computed node by node and pod by pod."""

    def __init__(self, nodes: list[Manifest], bound: list[Manifest], pod: Manifest) -> None:
        self.labels: dict[str, Manifest] = {n["metadata"]["name"]: n["metadata"]["labels"] for n in nodes}
        self.bound = [other for other in bound if other["spec"]["nodeName"] in self.labels]
        self.pod = pod

    def terms(self, pod: Manifest, kind: str, when: str) -> list[Any]:
        found: list[Any] = pod["spec"]["affinity"].get(kind, {}).get(when, [])
        return found

    def named(self, term: Manifest, holder: Manifest) -> set[str]:
        if not term.get("namespaces") and term.get("namespaceSelector") is None:
            return {holder["metadata"]["namespace"]}
        return set(term.get("namespaces") or ())

    def mine_matches(self, term: Manifest, other: Manifest) -> bool:
        """A term of the incoming pod: its namespaceSelector means the namespaces that it selects now, and all
        of them if it selects one without labels."""
        selector, namespaces = term.get("namespaceSelector"), self.named(term, self.pod)
        namespaces |= {name for name, own in NAMESPACE_LABELS.items() if selects(selector, own)}
        among = other["metadata"]["namespace"] in namespaces or selects(selector, {})
        return among and selects(term["labelSelector"], other["metadata"]["labels"])

    def theirs_matches(self, term: Manifest, holder: Manifest) -> bool:
        """A term of an existing pod, against the incoming one and the labels of its Namespace."""
        namespace = self.pod["metadata"]["namespace"]
        own = NAMESPACE_LABELS.get(namespace, {})
        among = namespace in self.named(term, holder) or selects(term.get("namespaceSelector"), own)
        return among and selects(term["labelSelector"], self.pod["metadata"]["labels"])

    def together(self, key: str, node: str, other: Manifest) -> bool:
        """Whether another pod is in the node's domain."""
        here, there = self.labels[node], self.labels[other["spec"]["nodeName"]]
        return key in here and key in there and here[key] == there[key]

    def verdict(self, node: str) -> str:
        affinity = self.terms(self.pod, "podAffinity", REQUIRED)

        def meets_all(other: Manifest) -> bool:
            return all(self.mine_matches(t, other) for t in affinity)

        keys = [t["topologyKey"] for t in affinity]
        alike = [other for other in self.bound if meets_all(other)]
        if not all(any(self.together(key, node, other) for other in alike) for key in keys):
            known = [key in self.labels[other["spec"]["nodeName"]] for other in alike for key in keys]
            has_all_keys = all(key in self.labels[node] for key in keys)
            if any(known) or not has_all_keys or not meets_all(self.pod):
                return AFFINITY
        for t in self.terms(self.pod, "podAntiAffinity", REQUIRED):
            if any(self.mine_matches(t, p) and self.together(t["topologyKey"], node, p) for p in self.bound):
                return ANTI_AFFINITY
        for p in self.bound:
            for t in self.terms(p, "podAntiAffinity", REQUIRED):
                if self.theirs_matches(t, p) and self.together(t["topologyKey"], node, p):
                    return EXISTING
        return ""

    def matches(self, hard_weight: int) -> Iterator[tuple[str, int, Manifest]]:
        """Topology key, weight and pod of everything that counts in scoring."""
        for other in self.bound:
            for kind, sign in (("podAffinity", 1), ("podAntiAffinity", -1)):
                for weighted in self.terms(self.pod, kind, PREFERRED):
                    if self.mine_matches(weighted["podAffinityTerm"], other):
                        yield weighted["podAffinityTerm"]["topologyKey"], sign * weighted["weight"], other
                for weighted in self.terms(other, kind, PREFERRED):
                    if self.theirs_matches(weighted["podAffinityTerm"], other):
                        yield weighted["podAffinityTerm"]["topologyKey"], sign * weighted["weight"], other
            for t in self.terms(other, "podAffinity", REQUIRED) if hard_weight else ():
                if self.theirs_matches(t, other):
                    yield t["topologyKey"], hard_weight, other

    def scores(self, feasible: list[str], hard_weight: int) -> tuple[list[int], list[int]] | None:
        """Raw and normalized; None where nothing counts."""
        counted = [m for m in self.matches(hard_weight) if m[0] in self.labels[m[2]["spec"]["nodeName"]]]
        if not counted:
            return None
        raw = [sum(weight for key, weight, p in counted if self.together(key, node, p)) for node in feasible]
        low, high = min(raw), max(raw)
        return raw, [int(100 * ((score - low) / (high - low))) if high > low else 0 for score in raw]


def verdicts(
    cluster: Cluster, pod: Pod, node: str = "", gone: Any = (), come: Any = ()
) -> dict[str, str] | None:
    """The plugin's verdict on each node, or on the node from which supposed pods are removed or to which they
    are added; None if it skips filtering."""
    state, batch = fresh_state(cluster), NodeBatch(cluster)
    status = PLUGIN.pre_filter(state, pod, batch)
    if isinstance(status, Status):
        assert status.code == "Skip"
        return None
    if node:
        state, row = state.clone(), cluster.rows[node]
        batch = NodeBatch(cluster, np.array([row]))
        for other in gone:
            PLUGIN.remove_pod(state, pod, Pod.parse(other), row)
        for other in come:
            PLUGIN.add_pod(state, pod, Pod.parse(other), row)
    codes, statuses = PLUGIN.filter(state, pod, batch)
    return {
        cluster.node(row).name: statuses[code - 1].message if code else ""
        for row, code in zip(batch.rows.tolist(), codes.tolist(), strict=True)
    }


@pytest.mark.sampled
@settings(deadline=None, max_examples=examples(200))
@given(clusters())
def test_verdicts_are_those_of_the_reference(found: Found) -> None:
    reference = Reference(*found)
    expected = {name: reference.verdict(name) for name in reference.labels}
    said = verdicts(cluster_of(found[0], found[1]), Pod.parse(found[2]))
    assert (said or dict.fromkeys(expected, "")) == expected


@pytest.mark.sampled
@settings(deadline=None, max_examples=examples(200))
@given(clusters(), st.data())
def test_a_verdict_with_supposed_pods_is_that_of_a_cluster_that_has_them(
    found: Found, data: st.DataObject
) -> None:
    manifests, bound, incoming = found
    node = data.draw(st.sampled_from([n["metadata"]["name"] for n in manifests]))
    here = [pod for pod in bound if pod["spec"]["nodeName"] == node]
    gone = [pod for pod in here if data.draw(st.booleans())]
    come = [data.draw(pods(f"nominated-{i}", node)) for i in range(data.draw(st.integers(0, 2)))]
    cluster, pod = cluster_of(manifests, bound), Pod.parse(incoming)
    before = verdicts(cluster, pod)
    if before is None:
        return  # a plugin that skipped is not called for supposed pods
    after = Reference(manifests, [p for p in bound if p not in gone] + come, incoming)
    assert verdicts(cluster, pod, node, gone, come) == {node: after.verdict(node)}
    assert verdicts(cluster, pod) == before


@pytest.mark.sampled
@settings(deadline=None, max_examples=examples(200))
@given(clusters(), st.data(), st.sampled_from(sorted(BY_HARD_WEIGHT)))
def test_scores_are_those_of_the_reference(found: Found, data: st.DataObject, hard_weight: int) -> None:
    plugin = BY_HARD_WEIGHT[hard_weight]
    reference = Reference(*found)
    feasible = data.draw(st.lists(st.sampled_from(sorted(reference.labels)), min_size=1, unique=True))
    cluster, pod = cluster_of(found[0], found[1]), Pod.parse(found[2])
    batch = NodeBatch(cluster, np.array([cluster.rows[name] for name in feasible]))
    state = fresh_state(cluster)
    expected = reference.scores(feasible, hard_weight)
    if plugin.pre_score(state, pod, batch) is not None:
        assert expected is None
        return
    raw = plugin.score(state, pod, batch)
    assert (raw.tolist(), plugin.normalize(state, pod, batch, raw).tolist()) == expected


# Edges

NODE = {"metadata": {"name": "node-0", "labels": {HOSTNAME: "node-0"}}}
X = {"matchLabels": {"app": "x"}}


def labelled(name: str, node: str = "", namespace: str = "default", **affinity: Any) -> Manifest:
    return {
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": "x"}},
        "spec": {"nodeName": node, "affinity": affinity},
    }


NEW = Pod.parse(labelled("new"))
HOLDER = labelled("p", "node-0", podAntiAffinity={REQUIRED: [term(HOSTNAME, X)]})


def test_filtering_is_skipped_where_no_pod_has_terms() -> None:
    cluster = cluster_of([NODE], [labelled("p", "node-0")])
    assert verdicts(cluster, NEW) is None
    assert PLUGIN.pre_score(fresh_state(cluster), NEW, NodeBatch(cluster)).code == "Skip"


def test_terms_count_only_while_their_holder_is_on_a_node_that_exists() -> None:
    cluster = cluster_of([NODE], [HOLDER])
    assert verdicts(cluster, NEW) == {"node-0": EXISTING}
    cluster.remove_pod(cluster.pods["default/p"])
    assert verdicts(cluster, NEW) is None
    cluster.add_pod(Pod.parse(HOLDER))
    assert verdicts(cluster, NEW) == {"node-0": EXISTING}
    cluster.remove_node("node-0")
    assert verdicts(cluster, NEW) is None
    cluster.add_node(Node.parse(NODE))
    assert verdicts(cluster, NEW) == {"node-0": EXISTING}


def test_a_namespace_with_changed_labels_is_selected_by_the_new_labels() -> None:
    teams = {"namespaceSelector": {"matchLabels": {"team": "a"}}}
    pod = Pod.parse(labelled("new", podAntiAffinity={REQUIRED: [term(HOSTNAME, X, **teams)]}))
    cluster = cluster_of([NODE], [labelled("p", "node-0", namespace="green")])
    assert verdicts(cluster, pod) == {"node-0": ""}
    green = {"metadata": {"name": "green", "labels": {"team": "a"}}}
    cluster.set_object("namespaces", "green", green)
    assert verdicts(cluster, pod) == {"node-0": ANTI_AFFINITY}


def test_weights_whose_sum_is_zero_still_count_as_a_match() -> None:
    weighted = [{"weight": 5, "podAffinityTerm": term(HOSTNAME, X)}]
    pod = Pod.parse(labelled("new", podAffinity={PREFERRED: weighted}, podAntiAffinity={PREFERRED: weighted}))
    cluster = cluster_of([NODE], [labelled("p", "node-0")])
    state, batch = fresh_state(cluster), NodeBatch(cluster)
    assert PLUGIN.pre_score(state, pod, batch) is None
    assert PLUGIN.score(state, pod, batch).tolist() == [0]


def test_preferences_of_existing_pods_may_be_ignored_for_pods_that_prefer_nothing() -> None:
    weighted = [{"weight": 5, "podAffinityTerm": term(HOSTNAME, X)}]
    cluster = cluster_of([NODE], [labelled("p", "node-0", podAffinity={PREFERRED: weighted})])
    batch = NodeBatch(cluster)
    assert IGNORING.pre_score(fresh_state(cluster), NEW, batch).code == "Skip"
    assert PLUGIN.pre_score(fresh_state(cluster), NEW, batch) is None
    preferring, state = Pod.parse(labelled("new", podAffinity={PREFERRED: weighted})), fresh_state(cluster)
    assert IGNORING.pre_score(state, preferring, batch) is None
    assert IGNORING.score(state, preferring, batch).tolist() == [10]


def test_missing_cycle_state_is_an_error_with_upstreams_message() -> None:
    cluster = cluster_of([NODE])
    state, batch = fresh_state(cluster), NodeBatch(cluster)
    with pytest.raises(PluginError) as filtering:
        PLUGIN.filter(state, NEW, batch)
    assert str(filtering.value) == 'error reading "PreFilterInterPodAffinity" from cycleState: not found'
    with pytest.raises(PluginError) as scoring:
        PLUGIN.score(state, NEW, batch)
    assert str(scoring.value) == 'failed to read "PreScoreInterPodAffinity" from cycleState: not found'
