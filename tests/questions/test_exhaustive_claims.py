"""All questions about pods with claims, of devices and of volumes that wait for their first consumer, in tiny
clusters: compared with all placements that :mod:`tests.questions.exhaustive` finds."""

from itertools import combinations
from random import Random
from typing import NamedTuple

import pytest

from simulator.api import Manifest
from simulator.questions.add_nodes import AddAnswer, AddParameters
from simulator.questions.answer import AskedCluster
from simulator.questions.drain import DrainAnswer, DrainParameters
from simulator.questions.fits import FitsAnswer, FitsParameters
from simulator.questions.how_many_more import MoreAnswer, MoreParameters
from simulator.questions.node_selection import NodeChoice
from simulator.questions.removable import RemovableAnswer, RemovableParameters
from simulator.questions.shape_text import parse_shapes
from simulator.versions.features import read_features
from tests.amounts import long_but_first
from tests.questions.clusters import ask, asked, make_node, make_pod, make_workload, said
from tests.questions.exhaustive import Search, Unit, copies
from tests.questions.random_clusters import pod_of, running
from tests.questions.slots import KINDS, STORAGE, seen_by_search, slot_objects, slot_spec, with_slot

CASES = long_but_first([(kind, seed) for seed in range(4) for kind in KINDS])


class Slots(NamedTuple):
    nodes: list[Manifest]
    counts: dict[str, int]
    objects: list[Manifest]
    """The nodes, and what they have."""
    web: Manifest
    """A ReplicaSet whose pods need a slot each."""
    pod: Manifest
    """A pod of it, as the search sees it."""


def slots(kind: str, random: Random, replicas: int) -> Slots:
    nodes = [make_node(f"node-{i}", random.choice(("1", "2", "3")), "ab"[i % 2]) for i in range(3)]
    counts = {node["metadata"]["name"]: random.randint(0, 2) for node in nodes}
    web = make_workload("ReplicaSet", "web", "1", replicas, **slot_spec(kind))
    return Slots(nodes, counts, [*nodes, *slot_objects(kind, counts)], web, with_slot(pod_of(web)))


def search_in(kind: str, case: Slots, cordoned: tuple[str, ...] = ()) -> Search:
    nodes = seen_by_search(kind, case.counts, case.nodes)
    for node in nodes:
        if node["metadata"]["name"] in cordoned:
            node["spec"]["unschedulable"] = True
    return Search(nodes)


def placed(cluster: AskedCluster, case: Slots) -> list[tuple[Manifest, str]]:
    return [(case.pod, node) for _, node in running(cluster)]


@pytest.mark.parametrize("case", CASES)
def test_claims_are_served_as_far_as_they_go(case: tuple[str, int]) -> None:
    kind, seed = case
    found = slots(kind, Random(seed), 4)
    answer = ask(asked(found.objects), FitsParameters([found.web]))
    assert isinstance(answer, FitsAnswer)
    where = tuple(sorted(("web", each.node) for each in answer.pods if each.node))
    assert where in search_in(kind, found).ends([], copies(found.pod, 4))


@pytest.mark.parametrize("case", CASES)
def test_as_many_more_with_claims_fit_as_no_further_one_does(case: tuple[str, int]) -> None:
    kind, seed = case
    found = slots(kind, Random(seed), 1)
    cluster = asked([*found.objects, found.web])
    answer = ask(cluster, MoreParameters([found.web]))
    assert isinstance(answer, MoreAnswer)
    there = placed(cluster, found)
    more = [("web", each.node) for each in answer.places for _ in range(each.count)]
    ends = search_in(kind, found).ends(there, copies(found.pod, 10))
    assert tuple(sorted([*more, *(("web", node) for _, node in there)])) in ends
    assert answer.figure == len(more)


@pytest.mark.parametrize("case", CASES)
def test_added_nodes_have_what_the_node_has_that_they_are_like(case: tuple[str, int]) -> None:
    """Its devices, but not its local volumes."""
    kind, seed = case
    found = slots(kind, Random(seed), 4)
    cluster = asked([*found.objects, found.web])
    shapes = parse_shapes(["like=node-0,name=s"], cluster.objects["nodes"])
    answer = ask(cluster, AddParameters(shapes))
    assert isinstance(answer, AddAnswer)
    there = placed(cluster, found)
    best = []
    for count in range(5):
        added = [{**found.nodes[0], "metadata": {**found.nodes[0]["metadata"]}} for _ in range(count)]
        for number, node in enumerate(added):
            node["metadata"]["name"] = f"s-{number}"
        own = found.counts["node-0"] if kind == "devices" else 0
        counts = {**found.counts, **{node["metadata"]["name"]: own for node in added}}
        search = Search(seen_by_search(kind, counts, [*found.nodes, *added]))
        best.append(max(map(len, search.ends(there, copies(found.pod, 4 - len(there))))))
    assert answer.figure == best.index(max(best))
    if answer.shapes:
        assert answer.shapes[0].run == max(best) - len(there)


@pytest.mark.parametrize("case", CASES)
def test_drained_pods_get_new_claims(case: tuple[str, int]) -> None:
    kind, seed = case
    random = Random(seed)
    found = slots(kind, random, 3)
    cluster = asked([*found.objects, found.web])
    chosen = (f"node-{random.randrange(3)}",)
    answer = ask(cluster, DrainParameters(NodeChoice(chosen)))
    assert isinstance(answer, DrainAnswer)
    staying = [each for each in placed(cluster, found) if each[1] not in chosen]
    ends = search_in(kind, found, chosen).ends(staying, copies(found.pod, 3 - len(staying)))
    assert len(answer.pods) == len(placed(cluster, found)) - len(staying)
    # Those that were pending have the nodes that are left, too.
    after = sorted([*(node for _, node in staying), *(each.to for each in answer.pods if each.to)])
    assert any(sorted(node for _, node in end) == after for end in ends)


@pytest.mark.parametrize("case", CASES)
def test_nodes_can_be_removed_whose_pods_get_their_claims_elsewhere(case: tuple[str, int]) -> None:
    kind, seed = case
    found = slots(kind, Random(seed), 2)
    cluster = asked([*found.objects, found.web])
    answer = ask(cluster, RemovableParameters())
    assert isinstance(answer, RemovableAnswer)
    pods, fine = placed(cluster, found), []
    for size in (1, 2, 3):
        for names in combinations(cluster.objects["nodes"], size):
            staying = [each for each in pods if each[1] not in names]
            leaving = [Unit([pod]) for pod, node in pods if node in names]
            ends = search_in(kind, found, names).ends(staying, leaving)
            if max(map(len, ends)) == len(pods):
                fine.append(names)
    assert {each.node for each in answer.tried if each.removable != "no"} == {
        names[0] for names in fine if len(names) == 1
    }
    assert answer.figure == max(map(len, fine), default=0)


def test_pods_that_share_a_device_move_together() -> None:
    """The claim is allocated again once both have left."""
    share = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]}
    nodes = [make_node("node-0", "2"), make_node("node-1", "2")]
    web = make_workload("ReplicaSet", "web", "1", 2, **share)
    for count in (1, 0):
        devices = slot_objects("devices", {"node-0": 1, "node-1": 0})
        cluster = asked([*nodes, *devices, web])
        cluster.objects["resourceslices.resource.k8s.io"] |= {
            "node-1": slot_objects("devices", {"node-1": count})[-1]
        }
        assert [node for _, node in running(cluster)] == ["node-0", "node-0"]
        answer = ask(cluster, RemovableParameters())
        assert isinstance(answer, RemovableAnswer)
        tried = {each.node: (each.removable, each.because) for each in answer.tried}
        assert tried["node-0"] == (("alone", "") if count else ("no", "pending"))
        assert "cannot allocate all claims" in said(answer) or count


def test_each_pod_of_a_stateful_set_gets_claims_of_its_own() -> None:
    """As many as a running StatefulSet gets."""
    claim = {"metadata": {"name": "data"}, "spec": {**STORAGE, "storageClassName": "slots"}}
    counts = {"node-0": 1, "node-1": 2}
    nodes = [make_node(node) for node in counts]
    cluster = asked([*nodes, *slot_objects("local volumes", counts)])
    db = make_workload("StatefulSet", "db", "1", 5)
    db["spec"]["volumeClaimTemplates"] = [claim]
    db["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    assert ask(cluster, FitsParameters([db])).figure == 3
    answer = ask(cluster, MoreParameters([db]))
    assert answer.figure == 3
    assert "didn't find available persistent volumes to bind" in said(answer)


def test_pods_that_share_a_volume_are_where_it_can_be_mounted() -> None:
    """It is provisioned in the zone of the first of them."""
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {**STORAGE, "storageClassName": "slots"},
    }
    nodes = [make_node(f"node-{i}", "1", "aab"[i]) for i in range(3)]
    cluster = asked([*nodes, *slot_objects("zonal volumes", {}), claim])
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    answer = ask(cluster, MoreParameters([make_pod("web", "1", volumes=[volume])]))
    assert answer.figure == 2


def test_devices_that_are_requested_as_extended_resources_are_counted() -> None:
    """The scheduler creates the claims, and removed nodes give their devices back."""
    counts = {"node-0": 2, "node-1": 1}
    device_class, *others = slot_objects("devices", counts)
    device_class["spec"]["extendedResourceName"] = "example.com/gpu"
    nodes = [make_node(node) for node in counts]
    web = make_workload("ReplicaSet", "web", "1", 1)
    web["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"] = {"example.com/gpu": "1"}
    features = read_features("v1.36", {"DRAExtendedResource": True})
    cluster = asked([*nodes, device_class, *others, web], features=features)
    assert ask(cluster, MoreParameters([web])).figure == 2
    answer = ask(cluster, RemovableParameters())
    assert isinstance(answer, RemovableAnswer)
    assert {each.removable for each in answer.tried} == {"together", "alone"}
