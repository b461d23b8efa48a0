"""The ranking of one scheduling cycle is used for the next pod of the same kind (OpportunisticBatching)."""

from typing import Any

import msgspec
import pytest

from simulator.api import SECOND, Manifest
from simulator.simulation import Options
from tests.simulator.lab import Lab, node, pod

WITHOUT_SPREADING: Manifest = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultingType": "List"}}]},
    ],
}
BATCHING = Options(seed=3, kubernetes="v1.36", config=WITHOUT_SPREADING)


def scheduled(options: Options, **spec: Any) -> Lab:
    """Four pods that are alike, each of which fills a node, on three nodes."""
    lab = Lab(options)
    lab.create(*(node(f"n{cpus}", cpu=str(cpus)) for cpus in range(4, 7)))
    pods = [pod(f"p{i}", cpu="3500m") for i in range(4)]
    for each in pods:
        each["metadata"]["labels"] = {"app": "web"}
        each["spec"] |= spec
    lab.create(*pods)
    lab.run(10)
    assert [decision.selected for decision in lab.decisions] == ["n6", "n5", "n4", ""]
    return lab


def hints(lab: Lab) -> list[bool]:
    return [decision.hinted is True for decision in lab.decisions]


def test_a_pod_gets_the_next_best_node_where_the_node_of_the_pod_before_is_full() -> None:
    lab = scheduled(BATCHING)
    assert hints(lab) == [False, True, True, False]
    assert [len(decision.scores) > 0 for decision in lab.decisions] == [True, False, False, False]


SPREAD = {"maxSkew": 9, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}


@pytest.mark.parametrize(
    ("options", "spec"),
    [
        ({"config": None}, {}),
        ({"feature_gates": {"OpportunisticBatching": False}}, {}),
        ({"kubernetes": "v1.34"}, {}),
        ({"pace": SECOND}, {}),
        ({}, {"affinity": {"podAntiAffinity": {}}}),
        ({}, {"topologySpreadConstraints": [SPREAD]}),
    ],
    ids=["default constraints", "gate", "version", "age", "affinity", "constraints"],
)
def test_nodes_are_scored_where_there_is_no_ranking_to_use(
    options: dict[str, Any], spec: dict[str, Any]
) -> None:
    lab = scheduled(msgspec.structs.replace(BATCHING, **options), **spec)
    assert hints(lab) == [False] * 4
