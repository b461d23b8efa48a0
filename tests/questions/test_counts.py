"""How many more, which nodes can be removed, and how many are needed: each compared with an exhaustive
search, or with what a running sandbox does."""

from decimal import Decimal
from itertools import combinations
from random import Random

import pytest

from simulator.api import Manifest
from simulator.questions.add_nodes import AddAnswer, AddParameters, NodeShape
from simulator.questions.answer import AskedCluster, BadQuestion
from simulator.questions.ask import begin
from simulator.questions.drain import DrainAnswer, DrainParameters
from simulator.questions.fits import FitsParameters
from simulator.questions.how_many_more import MoreAnswer, MoreParameters
from simulator.questions.node_selection import NodeChoice
from simulator.questions.removable import RemovableAnswer, RemovableParameters
from tests.amounts import long_but_first
from tests.questions.clusters import (
    ask,
    asked,
    budget,
    make_node,
    make_pod,
    make_workload,
    random_objects,
    said,
)

SPREAD = {
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
}
NOT_TWO_ON_A_NODE = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
            ]
        }
    }
}


def more(
    cluster: AskedCluster, *manifests: Manifest, sizes: tuple[int, ...] = (), at_most: int = 1000
) -> MoreAnswer:
    answer = ask(cluster, MoreParameters(manifests, sizes, at_most))
    assert isinstance(answer, MoreAnswer)
    return answer


@pytest.mark.parametrize("rules", [{}, SPREAD, pytest.param(NOT_TWO_ON_A_NODE, marks=pytest.mark.long)])
def test_as_many_more_fit_as_a_running_scheduler_binds(rules: Manifest) -> None:
    """A Deployment of two more than the answer has two pending pods."""
    cluster = asked(random_objects(Random(4), 4))
    web = make_workload("Deployment", "web", "700m", 1, **rules)
    count = more(cluster, web).figure
    web["spec"]["replicas"] = count + 2
    assert ask(cluster, FitsParameters([web])).figure == count > 0


def test_each_node_names_what_it_lacks_and_the_histogram_counts_the_nodes() -> None:
    tainted = make_node("node-2", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    answer = more(asked([make_node("node-0"), make_node("node-1", "2"), tainted]), make_pod("web", "1500m"))
    assert [(place.node, place.count, place.limit) for place in answer.places] == [
        ("node-0", 2, "cpu"),
        ("node-1", 1, "cpu"),
        ("node-2", 0, ""),
    ]
    assert [(each.reason, each.nodes) for each in answer.reasons] == [
        ("Insufficient cpu", 2),
        ("node(s) had untolerated taint(s)", 1),
    ]
    assert said(answer) == (
        "3 more of Pod web fit, on 2 of 3 nodes. cpu is what most nodes lack for one more: 2 of 3."
    )


def test_a_mix_is_counted_in_whole_sets() -> None:
    """A set is three cores: two of the eight are left."""
    answer = more(asked([make_node("node-0", "8")]), make_pod("a"), make_pod("b", "2"), sizes=(1, 1))
    assert (answer.figure, answer.what, answer.places[0].count) == (2, ["Pod a", "Pod b"], 4)


def test_the_pod_of_a_mix_that_fits_nowhere_is_refused_beside_the_others_of_its_set() -> None:
    """Two cores are left: for one of the two, but not for both."""
    answer = more(asked([make_node("node-0", "8")]), make_pod("a"), make_pod("b", "2"))
    assert said(answer).endswith("cpu is what most nodes lack for one more: 1 of 1.")


def test_counting_ends_where_it_is_told_to() -> None:
    answer = more(asked([make_node("node-0")]), make_pod("a", "100m"), at_most=7)
    assert (answer.figure, answer.at_least) == (7, True)
    assert said(answer).startswith("At least 7 more of Pod a fit")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (MoreParameters([make_node("a")]), r"manifests\[0\]: Node has no pod template"),
        (MoreParameters([make_pod("a", "x")]), r"manifests\[0\]: .*requests"),
        (MoreParameters([make_pod("a", node="n")]), r"manifests\[0\]: spec.nodeName"),
        (MoreParameters([make_pod("a")], [1, 2]), "sizes: there must be a number from 1 for each pod"),
        (MoreParameters([make_pod("a")], [0]), "sizes: "),
        (MoreParameters([make_pod("a")], at_most=0), "at_most: from 1"),
        (AddParameters([]), "shapes: from 1"),
    ],
)
def test_wrong_parameters_are_named(parameters: MoreParameters | AddParameters, message: str) -> None:
    with pytest.raises(BadQuestion, match=message):
        begin(asked([make_node("node-0")]), parameters)


def test_where_nodes_of_equal_score_matter_several_seeds_give_a_range() -> None:
    """Two sets of pods want the same node, which is drawn."""
    cluster = asked([make_node("node-0", "2"), make_node("node-1", "2")])
    mix = MoreParameters([make_pod("a"), make_pod("b")])
    answer = ask(cluster, mix, seeds=3)
    assert answer.range is not None
    assert (answer.range.seeds, answer.range.least, answer.range.most) == (3, 2, 2)
    assert answer == ask(cluster, mix, seeds=3)


# Which nodes can be removed


def leaves_nothing(cluster: AskedCluster, nodes: tuple[str, ...]) -> bool:
    """Whether a running sandbox in which these nodes are drained has all of their pods elsewhere."""
    answer = ask(cluster, DrainParameters(NodeChoice(nodes)))
    assert isinstance(answer, DrainAnswer)
    return not answer.kept and all(pod.after == "runs" for pod in answer.pods)


@pytest.mark.parametrize("seed", long_but_first([18, 1, 3, 16, 24, 27]))
def test_as_many_nodes_can_be_removed_as_draining_all_sets_of_nodes_shows(seed: int) -> None:
    cluster = asked(random_objects(Random(seed), 3 if seed == 18 else 4))
    answer = ask(cluster, RemovableParameters())
    assert isinstance(answer, RemovableAnswer)
    names = [*cluster.objects["nodes"]]
    possible = {
        each
        for size in range(1, len(names))
        for each in combinations(names, size)
        if leaves_nothing(cluster, each)
    }
    alone = {node.node for node in answer.tried if node.removable != "no"}
    assert alone == {each[0] for each in possible if len(each) == 1}
    assert answer.figure == max(map(len, possible), default=0)
    assert not answer.together or tuple(sorted(answer.together)) in possible


def test_a_node_that_stays_names_the_pod_and_the_reason() -> None:
    objects = [
        make_node("node-0", "2"),
        make_workload("ReplicaSet", "web", "2"),
        budget("web", "web", minAvailable=1),
    ]
    cluster = asked(objects)
    cluster.objects["nodes"]["node-1"] = make_node("node-1", "2")
    answer = ask(cluster, RemovableParameters())
    assert isinstance(answer, RemovableAnswer)
    kept = {node.node: (node.removable, node.because) for node in answer.tried}
    assert kept == {"node-0": ("no", "budget"), "node-1": ("together", "")}
    assert "Kept by a disruption budget: 1, such as node-0 by default/web-" in said(answer)


def test_the_first_nodes_are_named_and_the_others_counted() -> None:
    answer = ask(asked([make_node(f"node-{i}") for i in range(8)]), RemovableParameters())
    names = "node-0, node-1, node-2, node-3, node-4 and 3 more."
    assert said(answer) == f"8 of 8 nodes can be removed together: {names}"


def test_a_pod_that_no_other_node_takes_keeps_its_node() -> None:
    answer = ask(asked([make_node("node-0"), make_workload("ReplicaSet", "web")]), RemovableParameters())
    assert said(answer).startswith("None of 1 nodes can be removed. Kept, as a pod has no other node: 1")


# How many nodes are needed


def add(cluster: AskedCluster, *shapes: NodeShape) -> AddAnswer:
    answer = ask(cluster, AddParameters(shapes))
    assert isinstance(answer, AddAnswer)
    return answer


def test_the_number_of_nodes_is_the_smallest_with_which_a_running_scheduler_binds_all() -> None:
    pending = make_workload("Deployment", "web", "1500m", 7)
    objects = [make_node("node-0", "2"), pending]
    answer = add(asked(objects), NodeShape("like", make_node("like", "4")))
    bound = []
    for count in range(answer.figure + 2):
        more_nodes = [make_node(f"added-{i}", "4") for i in range(count)]
        bound.append(ask(asked([objects[0], *more_nodes]), FitsParameters([pending])).figure)
    assert bound.index(max(bound)) == answer.figure == 3
    assert said(answer) == ("Nodes like like that are needed: 3. With them, 6 of 6 pending pods run.")


def test_the_cheapest_shape_is_that_of_the_lowest_sum() -> None:
    cluster = asked([make_node("node-0", "1"), make_workload("Deployment", "web", "1500m", 4)])
    answer = add(
        cluster,
        NodeShape("small", make_node("small", "2"), Decimal("0.3")),
        NodeShape("large", make_node("large", "6"), Decimal("1.3")),
        NodeShape("tiny", make_node("tiny", "1"), Decimal("0.1")),
    )
    assert [(each.shape, each.nodes, each.run, each.cost) for each in answer.shapes] == [
        ("small", 4, 4, "1.2"),
        ("large", 1, 4, "1.3"),
        ("tiny", 0, 0, "0.0"),
    ]
    assert [each.shape for each in answer.shapes if each.cheapest] == ["small"]


def test_many_nodes_are_found_by_halves_and_no_smaller_number_suffices() -> None:
    cluster = asked([make_node("node-0", "1")])
    pods = [make_pod(f"pod-{i}", "2") for i in range(34)]
    cluster.objects["pods"] = {f"default/{pod['metadata']['name']}": pod for pod in pods}
    shape = NodeShape("two", make_node("two", "4"))
    assert add(cluster, shape).figure == 17
    fewer = ask(cluster, AddParameters([shape], at_most=16))
    assert isinstance(fewer, AddAnswer)
    assert fewer.shapes[0].pending == 2


def test_pods_that_no_number_of_nodes_helps_are_counted_with_the_reason() -> None:
    selected = make_workload("Deployment", "web", "1", 2, nodeSelector={"disk": "ssd"})
    answer = add(asked([make_node("node-0"), selected]), NodeShape("like", make_node("like")))
    assert (answer.figure, answer.shapes[0].pending) == (0, 2)
    assert said(answer).startswith(
        "No number of nodes of these shapes lets a pending pod run. 2 stay pending"
    )


def test_a_removal_that_is_stopped_says_how_many_nodes_there_are() -> None:
    question = begin(asked([make_node(f"node-{i}") for i in range(3)]), RemovableParameters(), 1)
    for done in question.run():
        if done:
            break
    answer = question.answer()
    assert not answer.complete
    assert said(answer).startswith("1 of 3 nodes can be removed together: node-0.")
