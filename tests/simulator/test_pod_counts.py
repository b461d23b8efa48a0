"""The indices of pods equal a new count after any history."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.cluster import row_counts
from simulator.cluster.cluster import Cluster
from simulator.cluster.pod_counts import PodCounts, PodQuery, PodTerm
from simulator.cluster.selector_index import SelectorIndex
from simulator.objects.labels import Selector, label_selector
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.plugins.inter_pod_affinity.terms import ExistingTerms
from tests.amounts import examples
from tests.simulator.topology_clusters import NAMESPACES, labels, pods, selectors

queries = st.builds(
    PodQuery,
    st.lists(
        st.builds(
            PodTerm,
            st.one_of(st.none(), st.frozensets(st.sampled_from(NAMESPACES))),
            st.builds(label_selector, selectors),
        ),
        min_size=1,
        max_size=2,
    ).map(tuple),
    st.booleans(),
)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, Any]]:
    """Nodes and pods that are added, changed and deleted, with reads in between."""
    steps: list[tuple[str, Any]] = []
    for i in range(draw(st.integers(1, 25))):
        name = draw(st.sampled_from(["n0", "n1", "n2"]))
        step = draw(
            st.sampled_from(["node", "no node", "pod", "pod", "pod", "no pod", "ask", "ask", "many nodes"])
        )
        if step == "pod":
            steps.append((step, draw(pods(f"p{draw(st.integers(0, 5))}", name))))
        elif step == "ask":
            steps.append((step, draw(queries)))
        elif step == "many nodes":
            steps.append((step, range(i * 100, i * 100 + 70)))
        else:
            steps.append((step, name if "node" in step else f"p{draw(st.integers(0, 5))}"))
    return steps


def take(cluster: Cluster, step: str, what: Any) -> None:
    match step:
        case "node":
            cluster.add_node(Node.parse({"metadata": {"name": what}}))
        case "many nodes":
            for i in what:
                cluster.add_node(Node.parse({"metadata": {"name": f"many-{i}"}}))
        case "no node":
            if what in cluster.rows:
                cluster.remove_node(what)
        case "pod":
            cluster.add_pod(Pod.parse(what))
        case "no pod":
            for pod in [p for p in cluster.pods.values() if p.name == what]:
                cluster.remove_pod(pod)


def recount(cluster: Cluster, query: PodQuery) -> list[int]:
    return [
        sum(
            query.matches(pod.namespace, pod.labels) and (query.terminating or not pod.terminating)
            for pod in cluster.pods_on(row).values()
        )
        for row in range(cluster.width)
    ]


@pytest.mark.sampled
@settings(deadline=None, max_examples=examples(150))
@given(histories(), st.integers(1, 3))
def test_counts_equal_a_recount_after_any_history_however_few_columns_are_kept(
    history: list[tuple[str, Any]], kept: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_counts, "MAX_COUNT_COLUMNS", kept)
        cluster = Cluster()
        index = cluster.index(PodCounts)
        asked: list[PodQuery] = []
        for step, what in history:
            if step == "ask":
                asked.append(what)
            else:
                take(cluster, step, what)
            for query in asked[-3:]:
                column = index.count(query)
                assert column.counts[: cluster.width].tolist() == recount(cluster, query)
                assert column.total == sum(recount(cluster, query))
            assert len(index._columns) <= kept
            assert all(len(group.columns) <= kept for group in index._groups.values())


@pytest.mark.sampled
@settings(deadline=None, max_examples=examples(150))
@given(histories(), labels, st.sampled_from(NAMESPACES))
def test_existing_terms_equal_a_recount_after_any_history(
    history: list[tuple[str, Any]], own: dict[str, str], namespace: str
) -> None:
    cluster = Cluster()
    index = cluster.index(ExistingTerms)
    pod = Pod.parse({"metadata": {"name": "asking", "namespace": namespace, "labels": own}, "spec": {}})
    team = {"team": "a"}
    for step, what in history:
        if step != "ask":
            take(cluster, step, what)
        found = {
            ("required anti", holders.term, row): count
            for holders in index.matching("required anti", pod, team)
            for row, count in enumerate(index.count(holders).counts[: cluster.width].tolist())
            if count
        }
        found |= {
            ("preferred", (holders.weight, holders.term), row): count
            for holders in index.matching("preferred", pod, team)
            for row, count in enumerate(index.count(holders).counts[: cluster.width].tolist())
            if count
        }
        counted: dict[Any, int] = {}
        for row in range(cluster.width):
            for other in cluster.pods_on(row).values():
                held: list[tuple[str, Any, Any]] = [
                    ("required anti", t, t) for t in other.affinity.required_anti
                ]
                held += [("preferred", (w, t), t) for w, t in other.affinity.preferred]
                held += [("preferred", (-w, t), t) for w, t in other.affinity.preferred_anti]
                for role, key, term in held:
                    if term.matches(pod, team):
                        counted[role, key, row] = counted.get((role, key, row), 0) + 1
        assert found == counted


def test_a_new_index_has_the_existing_pods() -> None:
    cluster = Cluster()
    take(cluster, "node", "n0")
    take(cluster, "pod", {"metadata": {"name": "p", "labels": {"app": "x"}}, "spec": {"nodeName": "n0"}})
    everything = PodQuery((PodTerm(None, Selector(())),), terminating=True)
    assert cluster.index(PodCounts).count(everything).counts[: cluster.width].tolist() == [1]


@given(st.lists(st.builds(label_selector, selectors.filter(lambda s: s is not None)), max_size=6), labels)
def test_a_selector_index_finds_every_selector_that_matches(
    found: list[Selector], own: dict[str, str]
) -> None:
    table: SelectorIndex[int] = SelectorIndex()
    for i, selector in enumerate(found):
        table.add(selector, i)
    matching = {i for i, selector in enumerate(found) if selector.matches(own)}
    assert {i for i in table.candidates(own) if found[i].matches(own)} == matching
    for i, selector in enumerate(found):
        table.remove(selector, i)
    assert not list(table.candidates(own))
