"""PodTopologySpread against a reference that goes through nodes and pods one by one, and its edge rules."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.cluster.cluster import Cluster
from simulator.framework.node_batch import NodeBatch
from simulator.framework.status import PluginError, Status
from simulator.objects.pod import Pod
from tests.amounts import examples
from tests.simulator.topology_clusters import (
    HOSTNAME,
    KEYS,
    Manifest,
    bound_pods,
    cluster_of,
    default_framework,
    fresh_state,
    nodes,
    pods,
    selectors,
    selects,
)

PLUGIN: Any = default_framework().plugins["PodTopologySpread"]
SKEW = "node(s) didn't match pod topology spread constraints"
NO_KEY = f"{SKEW} (missing required label)"
ZONE = "topology.kubernetes.io/zone"

constraints = st.fixed_dictionaries(
    {
        "maxSkew": st.integers(1, 2),
        "topologyKey": st.sampled_from(KEYS),
        "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": selectors,
    },
    optional={
        "minDomains": st.integers(1, 3),
        "nodeAffinityPolicy": st.sampled_from(["Honor", "Ignore"]),
        "nodeTaintsPolicy": st.sampled_from(["Honor", "Ignore"]),
        "matchLabelKeys": st.just(["tier"]),
    },
)
Found = tuple[list[Manifest], list[Manifest], Manifest]


@st.composite
def clusters(draw: st.DrawFn) -> Found:
    """Nodes, pods on them, and a pod to be scheduled."""
    found = draw(nodes())
    spec: Manifest = {"topologySpreadConstraints": draw(st.lists(constraints, min_size=1, max_size=3))}
    if draw(st.booleans()):
        spec["nodeSelector"] = {"zone": "a"}
    if draw(st.booleans()):
        spec["tolerations"] = [{"key": "k", "operator": "Exists"}]
    return found, draw(bound_pods(len(found))), draw(pods("incoming", **spec))


class Reference:
    """The rules, spelled out node by node and pod by pod."""

    def __init__(self, nodes: list[Manifest], bound: list[Manifest], pod: Manifest, action: str) -> None:
        self.nodes = {node["metadata"]["name"]: node for node in nodes}
        self.bound = bound
        self.pod = pod
        stated = pod["spec"]["topologySpreadConstraints"]
        self.constraints = [c for c in stated if c["whenUnsatisfiable"] == action]
        self.supposed: list[tuple[Manifest, str, int]] = []

    def labels(self, node: str) -> Manifest:
        found: Manifest = self.nodes[node]["metadata"]["labels"]
        return found

    def has_all_keys(self, node: str) -> bool:
        return all(c["topologyKey"] in self.labels(node) for c in self.constraints)

    def selector(self, constraint: Manifest) -> Any:
        selector, own = constraint["labelSelector"], self.pod["metadata"]["labels"]
        merged = [
            {"key": key, "operator": "In", "values": [own[key]]}
            for key in constraint.get("matchLabelKeys", ())
            if key in own
        ]
        if selector is None or not merged:
            return selector
        return {**selector, "matchExpressions": [*selector.get("matchExpressions", ()), *merged]}

    def included(self, constraint: Manifest, node: str) -> bool:
        wanted = self.pod["spec"].get("nodeSelector", {}).items()
        if (
            constraint.get("nodeAffinityPolicy", "Honor") == "Honor"
            and not wanted <= self.labels(node).items()
        ):
            return False
        if constraint.get("nodeTaintsPolicy", "Ignore") == "Honor" and not self.pod["spec"].get(
            "tolerations"
        ):
            return not any(taint["effect"] == "NoSchedule" for taint in self.nodes[node]["spec"]["taints"])
        return True

    def matched(self, constraint: Manifest, other: Manifest) -> bool:
        return other["metadata"]["namespace"] == self.pod["metadata"]["namespace"] and selects(
            self.selector(constraint), other["metadata"]["labels"]
        )

    def count(self, constraint: Manifest, node: str) -> int:
        """Pods on a node that a constraint counts: none that terminate, and none at all by an empty
        selector."""
        selector = self.selector(constraint) or {}
        counting = [p for p in self.bound if "deletionTimestamp" not in p["metadata"]]
        if not (selector.get("matchLabels") or selector.get("matchExpressions")):
            counting = []
        here = [p for p in counting if p["spec"]["nodeName"] == node]
        return sum(self.matched(constraint, other) for other in here) + sum(
            by for other, on, by in self.supposed if on == node and self.matched(constraint, other)
        )

    def verdict(self, node: str) -> str:
        for constraint in self.constraints:
            key = constraint["topologyKey"]
            domains: dict[str, int] = {}
            for other in self.nodes:
                if self.has_all_keys(other) and self.included(constraint, other):
                    value = self.labels(other)[key]
                    domains[value] = domains.get(value, 0) + self.count(constraint, other)
            if key not in self.labels(node):
                return NO_KEY
            lowest = min(domains.values()) if len(domains) >= constraint.get("minDomains", 1) else 0
            own = selects(self.selector(constraint), self.pod["metadata"]["labels"])
            if domains.get(self.labels(node)[key], 0) + own - lowest > constraint["maxSkew"]:
                return SKEW
        return ""

    def scores(self, feasible: list[str]) -> tuple[list[int], list[int]]:
        """Raw and normalized."""
        scored = [node for node in feasible if self.has_all_keys(node)]
        raw = [self.raw(node, scored) if node in scored else 0 for node in feasible]
        seen = [score for score, node in zip(raw, feasible, strict=True) if node in scored]
        low, high = min(seen, default=0), max(seen, default=0)
        return raw, [
            0 if node not in scored else 100 if not high else 100 * (high + low - score) // high
            for score, node in zip(raw, feasible, strict=True)
        ]

    def raw(self, node: str, scored: list[str]) -> int:
        total = 0.0
        for constraint in self.constraints:
            key = constraint["topologyKey"]
            size, counting = len(scored), [node]
            if key != HOSTNAME:
                size = len({self.labels(other)[key] for other in scored})
                counting = [
                    other
                    for other in self.nodes
                    if self.has_all_keys(other)
                    and self.labels(other)[key] == self.labels(node)[key]
                    and self.included(constraint, other)
                ]
            count = sum(self.count(constraint, other) for other in counting)
            total += count * math.log(size + 2) + (constraint["maxSkew"] - 1)
        return math.floor(total + 0.5)


def verdicts(cluster: Cluster, pod: Pod, node: str = "", changes: Any = ()) -> dict[str, str]:
    """The plugin's verdict on each node, or on the node to which supposed pods are added (1) or from which
    they are removed (-1)."""
    state, batch = fresh_state(cluster), NodeBatch(cluster)
    status = PLUGIN.pre_filter(state, pod, batch)
    if isinstance(status, Status):
        assert status.code == "Skip"
        return dict.fromkeys([node] if node else cluster.names(), "")
    if node:
        state, row = state.clone(), cluster.rows[node]
        batch = NodeBatch(cluster, np.array([row]))
        for changed, by in changes:
            (PLUGIN.add_pod if by > 0 else PLUGIN.remove_pod)(state, pod, Pod.parse(changed), row)
    codes, statuses = PLUGIN.filter(state, pod, batch)
    return {
        cluster.node(row).name: statuses[code - 1].message if code else ""
        for row, code in zip(batch.rows.tolist(), codes.tolist(), strict=True)
    }


@pytest.mark.sampled
@settings(deadline=None, max_examples=examples(200))
@given(clusters())
def test_verdicts_are_those_of_the_reference(found: Found) -> None:
    reference = Reference(*found, "DoNotSchedule")
    expected = {name: reference.verdict(name) for name in reference.nodes}
    assert verdicts(cluster_of(found[0], found[1]), Pod.parse(found[2])) == expected


@pytest.mark.sampled
@settings(deadline=None, max_examples=examples(200))
@given(clusters(), st.data())
def test_verdicts_over_supposed_pods_are_those_of_the_reference(found: Found, data: st.DataObject) -> None:
    """Terminating pods, and empty selectors, count in suppositions though they do not in the cluster:
    upstream's quirk, which the reference has too."""
    reference = Reference(*found, "DoNotSchedule")
    node = data.draw(st.sampled_from(sorted(reference.nodes)))
    here = [pod for pod in found[1] if pod["spec"]["nodeName"] == node]
    gone = [pod for pod in here if data.draw(st.booleans())]
    come = [data.draw(pods(f"nominated-{i}")) for i in range(data.draw(st.integers(0, 2)))]
    changes = [(pod, -1) for pod in gone] + [(pod, 1) for pod in come]
    cluster, pod = cluster_of(found[0], found[1]), Pod.parse(found[2])
    before = verdicts(cluster, pod)
    reference.supposed = [(changed, node, by) for changed, by in changes]
    assert verdicts(cluster, pod, node, changes) == {node: reference.verdict(node)}
    assert verdicts(cluster, pod) == before


@pytest.mark.sampled
@settings(deadline=None, max_examples=examples(200))
@given(clusters(), st.data())
def test_scores_are_those_of_the_reference(found: Found, data: st.DataObject) -> None:
    reference = Reference(*found, "ScheduleAnyway")
    feasible = data.draw(st.lists(st.sampled_from(sorted(reference.nodes)), min_size=1, unique=True))
    cluster, pod = cluster_of(found[0], found[1]), Pod.parse(found[2])
    batch = NodeBatch(cluster, np.array([cluster.rows[name] for name in feasible]))
    state = fresh_state(cluster)
    if PLUGIN.pre_score(state, pod, batch) is not None:
        assert not reference.constraints
        return
    raw = PLUGIN.score(state, pod, batch)
    normalized = PLUGIN.normalize(state, pod, batch, raw)
    assert (raw.tolist(), normalized.tolist()) == reference.scores(feasible)


# Default constraints


def zoned(i: int, zone: str | None) -> Manifest:
    own = {HOSTNAME: f"node-{i}"} | ({} if zone is None else {ZONE: zone})
    return {"metadata": {"name": f"node-{i}", "labels": own}}


ZONES = [zoned(0, "a"), zoned(1, "a"), zoned(2, "b")]
NO_ZONE = zoned(3, None)


def labelled(name: str, own: Manifest, node: str = "", owner: str = "") -> Manifest:
    metadata: Manifest = {"name": name, "namespace": "default", "labels": own}
    if owner:
        version = "v1" if owner == "ReplicationController" else "apps/v1"
        controller = {"apiVersion": version, "kind": owner, "name": "mine", "controller": True}
        metadata["ownerReferences"] = [controller]
    return {"metadata": metadata, "spec": {"nodeName": node}}


def selecting(name: str, selector: Manifest | None) -> Manifest:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"selector": selector}}


def raw_scores(cluster: Cluster, pod: Manifest) -> list[int] | None:
    state, batch = fresh_state(cluster), NodeBatch(cluster)
    if PLUGIN.pre_score(state, Pod.parse(pod), batch) is not None:
        return None
    found: list[int] = PLUGIN.score(state, Pod.parse(pod), batch).tolist()
    return found


def rounded(total: float) -> int:
    return math.floor(total + 0.5)


X = {"app": "x"}
WEB = labelled("web", X, "node-0")


@pytest.mark.parametrize(
    ("resource", "manifest", "owner"),
    [
        ("services", selecting("any", X), ""),
        ("replicationcontrollers", selecting("mine", X), "ReplicationController"),
        ("replicasets.apps", selecting("mine", {"matchLabels": X}), "ReplicaSet"),
        ("statefulsets.apps", selecting("mine", {"matchLabels": X}), "StatefulSet"),
    ],
)
def test_the_system_spreads_what_a_service_or_controller_selects(
    resource: str, manifest: Manifest, owner: str
) -> None:
    """Four hosts; three zones, as having none is one too, but only by hostname do nodes without zone
    score."""
    cluster = cluster_of([*ZONES, NO_ZONE], [WEB], **{resource: [manifest]})
    by_zone = math.log(3 + 2) + 4
    expected = [rounded(math.log(4 + 2) + 2 + by_zone), rounded(2 + by_zone), 2 + 4, 2]
    assert raw_scores(cluster, labelled("new", X, owner=owner)) == expected


def test_without_service_or_controller_nothing_is_spread_by_default() -> None:
    others = [selecting("none", None), selecting("empty", {}), selecting("other", {"app": "y"})]
    assert raw_scores(cluster_of(ZONES, [WEB], services=others), labelled("new", X)) is None


def test_a_pod_with_constraints_of_its_own_gets_no_default_ones() -> None:
    pod = labelled("new", X)
    hard = {"maxSkew": 9, "topologyKey": HOSTNAME, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    pod["spec"]["topologySpreadConstraints"] = [hard]
    assert raw_scores(cluster_of(ZONES, [WEB], services=[selecting("any", X)]), pod) is None


def test_by_default_an_absent_zone_counts_as_an_empty_one() -> None:
    """Upstream looks the label up in a map, which gives "" where it is not there."""
    nodes = [zoned(0, ""), zoned(1, None), zoned(2, "b")]
    cluster = cluster_of(nodes, [labelled("web", X, "node-1")], services=[selecting("any", X)])
    by_zone = math.log(2 + 2) + 4
    assert raw_scores(cluster, labelled("new", X)) == [rounded(2 + by_zone), rounded(math.log(5) + 2), 6]


def test_the_domain_with_fewest_pods_is_computed_again_with_supposed_pods() -> None:
    pod = labelled("new", X)
    hard = {"maxSkew": 1, "topologyKey": HOSTNAME, "whenUnsatisfiable": "DoNotSchedule"}
    pod["spec"]["topologySpreadConstraints"] = [{**hard, "labelSelector": {"matchLabels": X}}]
    bound = [labelled("a", X, "node-1"), labelled("b", X, "node-2")]
    cluster = cluster_of(ZONES, bound)
    assert verdicts(cluster, Pod.parse(pod)) == {"node-0": "", "node-1": SKEW, "node-2": SKEW}
    assert verdicts(cluster, Pod.parse(pod), "node-0", [(labelled("c", X), 1)]) == {"node-0": ""}
    assert verdicts(cluster, Pod.parse(pod), "node-1", [(bound[0], -1)]) == {"node-1": ""}


def test_the_first_of_several_failed_constraints_is_named() -> None:
    by_zone = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    by_host = {**by_zone, "topologyKey": HOSTNAME, "minDomains": 9, "labelSelector": {"matchLabels": X}}
    hosts_first, zones_first = labelled("new", X), labelled("new", X)
    hosts_first["spec"]["topologySpreadConstraints"] = [by_host, by_zone]
    zones_first["spec"]["topologySpreadConstraints"] = [by_zone, by_host]
    same_host = {"metadata": {"name": "node-3", "labels": {HOSTNAME: "node-0"}}}
    cluster = cluster_of([zoned(0, "a"), same_host], [WEB])
    assert verdicts(cluster, Pod.parse(hosts_first))["node-3"] == SKEW
    assert verdicts(cluster, Pod.parse(zones_first))["node-3"] == NO_KEY


def test_by_hostname_a_node_scores_its_pods_even_if_policies_exclude_it() -> None:
    pod = labelled("new", X)
    soft = {"maxSkew": 1, "topologyKey": HOSTNAME, "whenUnsatisfiable": "ScheduleAnyway"}
    pod["spec"]["topologySpreadConstraints"] = [{**soft, "labelSelector": {"matchLabels": X}}]
    pod["spec"]["nodeSelector"] = {ZONE: "b"}
    assert raw_scores(cluster_of(ZONES, [WEB]), pod) == [rounded(math.log(3 + 2)), 0, 0]


def test_selectors_of_service_and_controller_are_merged_and_follow_the_objects() -> None:
    tiers = selecting("mine", {"matchExpressions": [{"key": "tier", "operator": "Exists"}]})
    pod = labelled("new", {**X, "tier": "1"}, owner="ReplicaSet")
    bound = [WEB, labelled("both", pod["metadata"]["labels"], "node-2")]
    cluster = cluster_of(ZONES, bound, services=[selecting("any", X)], **{"replicasets.apps": [tiers]})
    assert raw_scores(cluster, pod) == [6, 6, rounded(math.log(5) + 2 + math.log(4) + 4)]
    cluster.set_object("replicasets.apps", "default/mine", None)
    cluster.set_object("services", "default/any", selecting("any", {"app": "y"}))
    assert raw_scores(cluster, pod) is None


def test_listed_defaults_ask_for_all_keys_and_may_be_hard() -> None:
    actions = ("DoNotSchedule", "ScheduleAnyway")
    listed = [{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": action} for action in actions]
    args = {"defaultingType": "List", "defaultConstraints": listed}
    plugin: Any = default_framework(args, "PodTopologySpread").plugins["PodTopologySpread"]
    cluster = cluster_of([*ZONES, NO_ZONE], [WEB], services=[selecting("any", X)])
    pod, state, batch = Pod.parse(labelled("new", X)), fresh_state(cluster), NodeBatch(cluster)
    assert plugin.pre_filter(state, pod, batch) is None
    codes, statuses = plugin.filter(state, pod, batch)
    assert [statuses[code - 1].message if code else "" for code in codes] == [SKEW, SKEW, "", NO_KEY]
    assert plugin.pre_score(state, pod, batch) is None
    raw = plugin.score(state, pod, batch)
    assert raw.tolist() == [rounded(math.log(2 + 2))] * 2 + [0, 0]
    assert plugin.normalize(state, pod, batch, raw).tolist() == [0, 0, 100, 0]


def test_missing_cycle_state_is_an_error_with_upstreams_message() -> None:
    cluster = cluster_of(ZONES)
    pod, state, batch = Pod.parse(WEB), fresh_state(cluster), NodeBatch(cluster)
    with pytest.raises(PluginError) as filtering:
        PLUGIN.filter(state, pod, batch)
    assert str(filtering.value) == 'reading "PreFilterPodTopologySpread" from cycleState: not found'
    with pytest.raises(PluginError) as scoring:
        PLUGIN.score(state, pod, batch)
    assert str(scoring.value) == 'error reading "PreScorePodTopologySpread" from cycleState: not found'
