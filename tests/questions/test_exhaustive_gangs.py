"""All questions about gangs in tiny clusters, compared with all placements that
:mod:`tests.questions.exhaustive` finds."""

from itertools import combinations
from random import Random

import pytest

from simulator.api import Manifest
from simulator.questions.add_nodes import AddAnswer, AddParameters, NodeShape
from simulator.questions.drain import DrainAnswer, DrainParameters
from simulator.questions.fits import FitsAnswer, FitsParameters
from simulator.questions.how_many_more import MoreAnswer, MoreParameters
from simulator.questions.node_selection import NodeChoice
from simulator.questions.removable import RemovableAnswer, RemovableParameters
from tests.amounts import long_but_first
from tests.questions.clusters import ask, asked, make_node, make_pod, make_workload, said
from tests.questions.exhaustive import Placement, Search, Unit, copies
from tests.questions.gangs import GANGS, IN_GANG, pod_group
from tests.questions.random_clusters import pod_of, running, search_of

SEEDS = long_but_first(range(8))


def nodes_of(random: Random) -> list[Manifest]:
    return [make_node(f"node-{i}", random.choice(("1", "2", "3"))) for i in range(3)]


def ends_of_gang(
    search: Search, there: list[tuple[Manifest, str]], pod: Manifest, waiting: int, least: int
) -> set[Placement]:
    """Return what may run: the pods that wait get nodes if so many of the gang have one then."""
    found: set[Placement] = set()
    for end in search.ends(there, copies(pod, waiting)):
        found.add(end if len(end) >= least else tuple(sorted(("train", node) for _, node in there)))
    return found


def train(replicas: int, cpu: str = "1") -> Manifest:
    return make_workload("ReplicaSet", "train", cpu, replicas, **IN_GANG)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_gang_fits_as_a_whole_or_not_at_all(seed: int) -> None:
    random = Random(seed)
    size, least, nodes = random.randint(2, 5), random.randint(2, 4), nodes_of(random)
    cluster = asked(nodes, features=GANGS)
    work = train(size)
    answer = ask(cluster, FitsParameters([pod_group(least), work]))
    assert isinstance(answer, FitsAnswer)
    where = tuple(sorted(("train", each.node) for each in answer.pods if each.node))
    assert where in ends_of_gang(Search(nodes), [], pod_of(work), size if size >= least else 0, least)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_set_of_pods_is_a_gang_when_they_are_enough(seed: int) -> None:
    """The pods of further sets join the group."""
    random = Random(seed)
    size, least, nodes = random.randint(1, 3), random.randint(2, 3), nodes_of(random)
    pod = make_pod("train", "1", **IN_GANG)
    cluster = asked([*nodes, pod_group(least)], features=GANGS)
    answer = ask(cluster, MoreParameters([pod], [size]))
    assert isinstance(answer, MoreAnswer)
    room = sum(int(node["status"]["allocatable"]["cpu"]) for node in nodes)
    assert answer.figure == (room // size if size >= least else 0)
    if size < least:
        assert "waiting for minCount pods from a gang" in said(answer)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_pods_of_a_gang_that_leave_run_again_with_the_others(seed: int) -> None:
    random = Random(seed)
    size, nodes = random.randint(2, 4), nodes_of(random)
    least, chosen = random.randint(2, size), (f"node-{random.randrange(3)}",)
    work = train(size)
    cluster = asked([*nodes, pod_group(least), work], features=GANGS)
    before = running(cluster)
    answer = ask(cluster, DrainParameters(NodeChoice(chosen)))
    assert isinstance(answer, DrainAnswer)
    search = search_of(cluster)
    for name in chosen:
        search.nodes[name] = {**search.nodes[name], "spec": {"unschedulable": True}}
    staying = [(pod, node) for pod, node in before if node not in chosen]
    ends = ends_of_gang(search, staying, pod_of(work), size - len(staying), least)
    after = sorted([*(node for _, node in staying), *(each.to for each in answer.pods if each.to)])
    assert any(sorted(node for _, node in end) == after for end in ends)


@pytest.mark.parametrize("seed", SEEDS)
def test_nodes_of_a_gang_can_be_removed_if_all_of_its_pods_have_others(seed: int) -> None:
    random = Random(seed)
    size, nodes = random.randint(2, 4), nodes_of(random)
    cluster = asked([*nodes, pod_group(random.randint(2, size)), train(size)], features=GANGS)
    answer = ask(cluster, RemovableParameters())
    assert isinstance(answer, RemovableAnswer)
    pods, fine = running(cluster), []
    for count in (1, 2, 3):
        for names in combinations(cluster.objects["nodes"], count):
            search = search_of(cluster)
            for name in names:
                search.nodes[name] = {**search.nodes[name], "spec": {"unschedulable": True}}
            staying = [(pod, node) for pod, node in pods if node not in names]
            leaving = [Unit([pod]) for pod, node in pods if node in names]
            if max(map(len, search.ends(staying, leaving))) == len(pods):
                fine.append(names)
    assert {each.node for each in answer.tried if each.removable != "no"} == {
        names[0] for names in fine if len(names) == 1
    }
    assert answer.figure == max(map(len, fine), default=0)


@pytest.mark.parametrize("case", long_but_first([(3, "2"), (2, "2"), (3, "1"), (4, "2")]))
def test_a_gang_gets_as_many_nodes_as_it_needs_together(case: tuple[int, str]) -> None:
    size, cpu = case
    pods = [make_pod(f"train-{i}", cpu, **IN_GANG) for i in range(size)]
    node = make_node("node-0", "3")
    cluster = asked([node, pod_group(3), *pods], features=GANGS)
    answer = ask(cluster, AddParameters([NodeShape("s", make_node("s", "2"))]))
    assert isinstance(answer, AddAnswer)
    waits = not running(cluster)
    best = {}
    for count in range(size + 1):
        nodes = [node, *(make_node(f"s-{i}", "2") for i in range(count))]
        unit = Unit(pods, together=True)
        best[count] = max(map(len, Search(nodes).ends([], [unit]))) if size >= 3 and waits else 0
    needed = min(count for count, run in best.items() if run == max(best.values()))
    assert (answer.figure, answer.shapes[0].run if answer.shapes else 0) == (needed, max(best.values()))
