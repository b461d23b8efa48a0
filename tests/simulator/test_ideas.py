"""Each idea's example shows what its page says."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from simulator.api import SECOND, Manifest
from simulator.apiserver.resources import NODES
from simulator.commands.run import finish_scenario
from simulator.memory_sandbox import MemorySandbox, SandboxOptions
from simulator.questions.answer import AskedCluster
from simulator.questions.drain import DrainAnswer, DrainParameters
from simulator.questions.fits import FitsAnswer, FitsParameters
from simulator.questions.how_many_more import MoreAnswer, MoreParameters
from simulator.questions.node_selection import NodeChoice
from simulator.questions.removable import RemovableAnswer, RemovableParameters
from simulator.scenario import load_scenario
from simulator.trace import (
    Bound,
    CycleStarted,
    Event,
    Filtered,
    Nominated,
    PodFinished,
    PodGroupTried,
    PodRemoved,
    QueueMoved,
    Unschedulable,
    VictimDeleted,
)
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import V1_34, V1_34_1
from tests.questions.clusters import ask

from .test_scenarios import SCENARIOS, of, seconds

IDEAS = SCENARIOS / "ideas"
LONGEST = 600
"""Seconds after which every example has ended."""


def play(name: str, features: Features | None = None) -> list[Event]:
    scenario = load_scenario((IDEAS / f"{name}.yaml").read_text())
    return finish_scenario(scenario, LONGEST * SECOND, features=features).trace


def bound(trace: list[Event]) -> dict[str, Bound]:
    return {event.pod.removeprefix("default/"): event for event in of(Bound, trace)}


def test_queue_a_pod_waits_for_the_event_that_may_help_it() -> None:
    trace = play("queue")
    moves = [event for event in of(QueueMoved, trace) if event.pod == "default/big"]
    [back] = [event for event in moves if event.source == "unschedulable"]
    assert (back.event, back.plugin, seconds(back)) == ("NodeAdd", "NodeResourcesFit", 20)
    assert bound(trace)["big"].node == "node-2"
    assert [event.target for event in of(QueueMoved, trace) if event.pod == "default/gated"] == ["gated"]


def test_filter_free_room_is_not_added_up() -> None:
    trace = play("filter")
    [rejected] = of(Unschedulable, trace)
    assert "3 Insufficient cpu" in rejected.message
    assert "1 node(s) had untolerated taint" in rejected.message
    web = bound(trace)["web"]
    assert (web.node, int(seconds(web))) == ("node-5", 15)


def test_score_a_lone_preference_of_weight_1_outweighs_the_emptier_node() -> None:
    homes = {name: event.node for name, event in bound(play("score")).items()}
    assert homes == {"plain": "node-2", "wish": "node-1"}


def test_preemption_evicts_as_few_pods_as_possible_and_the_pod_waits_for_its_victim() -> None:
    trace = play("preemption")
    [nominated] = of(Nominated, trace)
    assert (nominated.node, nominated.victims) == ("node-3", ["default/batch-4"])
    assert (nominated.candidates, nominated.rule) == (3, 3)
    assert bound(trace)["urgent"].node == "node-3"
    assert bound(trace)["urgent"].t > of(PodRemoved, trace)[0].t > nominated.t


def test_budgets_are_avoided_where_possible_and_then_violated() -> None:
    trace = play("budgets")
    first, second = of(Nominated, trace)
    assert (first.victims, first.rule) == (["default/scratch"], 1)
    assert second.victims == ["default/shop"]
    assert set(bound(trace)) == {"urgent-1", "urgent-2"}


def test_requests_fill_an_idle_node_and_no_request_always_fits() -> None:
    trace = play("requests")
    rejected, *_ = of(Unschedulable, trace)
    assert rejected.pod == "default/web"
    assert "1 Insufficient cpu" in rejected.message
    assert set(bound(trace)) == {"nothing"}


def test_taints_a_toleration_does_not_attract_a_pod() -> None:
    trace = play("taints")
    homes = {name: event.node for name, event in bound(trace).items()}
    assert homes == {"tolerant": "plain-1", "train": "gpu-1"}
    assert "had untolerated taint" in of(Unschedulable, trace)[0].message


def test_spreading_holds_when_a_pod_is_scheduled_and_moves_none_later() -> None:
    trace = play("spreading")
    [rejected] = of(Unschedulable, trace)
    assert rejected.pod == "default/web-4"
    assert "1 node(s) didn't match pod topology spread constraints" in rejected.message
    homes = {name: event.node for name, event in bound(trace).items()}
    assert homes == {"web-1": "node-1", "web-2": "node-2", "web-3": "node-1", "web-4": "node-3"}
    assert not of(PodRemoved, trace)


def test_binding_waits_on_permit_with_its_resources_reserved() -> None:
    trace = play("binding")
    rejected, *_ = of(Unschedulable, trace)
    assert (rejected.pod, int(seconds(rejected))) == ("default/web", 4)
    both = bound(trace)
    assert set(both) == {"train-1", "train-2"}
    assert rejected.t < both["train-1"].t == both["train-2"].t


def test_informers_bring_each_change_to_the_queue() -> None:
    trace = play("informers")
    moves = of(QueueMoved, trace)
    assert [int(seconds(move)) for move in moves if move.event == "UnschedulablePodAdd"] == [3, 6, 9]
    [move] = [move for move in moves if move.event == "NodeAdd"]
    assert (move.pod, seconds(move)) == ("default/web-3", 15)


def test_priority_is_tried_first_and_need_not_run_first() -> None:
    trace = play("priority")
    assert [event.pod for event in of(CycleStarted, trace)][:3] == [
        "default/high",
        "default/middle",
        "default/low",
    ]
    assert list(bound(trace)) == ["middle", "low", "high"]
    assert not of(Nominated, trace)


def test_sampling_misses_the_best_node_and_finds_it_in_the_next_cycle() -> None:
    first, second = of(Filtered, (trace := play("sampling")))
    assert (first.nodes, first.feasible, second.feasible) == (120, 100, 100)
    homes = {name: event.node for name, event in bound(trace).items()}
    assert homes["second"] == "node-115"
    assert int(homes["first"].removeprefix("node-")) <= 100


def example(name: str, second: int) -> tuple[AskedCluster, Sequence[Manifest]]:
    """Return the cluster of an example as it is after some seconds, and what its timetable creates later."""
    scenario = load_scenario((IDEAS / f"{name}.yaml").read_text())
    sandbox = MemorySandbox(SandboxOptions(name, scenario.manifests, seed=scenario.seed))
    sandbox.run(f"time {sandbox.now() + second * SECOND}")
    entries = [
        each for made in scenario.manifests if made["kind"] == "Timetable" for each in made["spec"]["entries"]
    ]
    later = [each["object"] for each in entries]
    return AskedCluster(sandbox.list_all(), now=sandbox.now(), seed=scenario.seed), later


def test_victims_one_is_created_again_and_waits_and_the_other_is_lost() -> None:
    trace = play("victims")
    victims = {event.pod.removeprefix("default/") for event in of(VictimDeleted, trace)}
    assert "single" in victims
    assert len(victims) == 2
    again = [event for event in of(Bound, trace) if event.node == "node-3"]
    assert [int(seconds(event)) for event in again] == [20]
    assert again[0].pod.startswith("default/batch-")
    cluster, (urgent, _) = example("victims", 2)
    answer = ask(cluster, FitsParameters([urgent]))
    assert isinstance(answer, FitsAnswer)
    assert {(each.owner, each.after) for each in answer.evicted} == {
        ("ReplicaSet batch", "pending"),
        ("", "not created"),
    }


def test_removing_neither_node_can_be_removed_before_a_third_one_is_there() -> None:
    before = ask(example("removing", 10)[0], RemovableParameters())
    assert isinstance(before, RemovableAnswer)
    assert {(node.node, node.removable, node.because) for node in before.tried} == {
        ("node-1", "no", "pending"),
        ("node-2", "no", "pending"),
    }
    assert "anti-affinity" in before.tried[0].why
    cluster, _ = example("removing", 16)
    after = ask(cluster, RemovableParameters())
    assert isinstance(after, RemovableAnswer)
    assert (after.figure, len(cluster.objects[NODES.id])) == (1, 3)
    drained = ask(cluster, DrainParameters(NodeChoice(["node-1"])))
    assert isinstance(drained, DrainAnswer)
    assert [(pod.after, pod.to) for pod in drained.pods] == [("runs", "node-3")]


def test_replica_one_more_fits_where_free_cpu_would_be_enough_for_six() -> None:
    trace = play("replica")
    assert bound(trace)["web-3"].node == "node-1"
    refused = [event for event in of(Unschedulable, trace) if event.pod == "default/web-4"]
    assert "didn't match pod topology spread constraints" in refused[0].message
    assert (bound(trace)["web-4"].node, int(seconds(bound(trace)["web-4"]))) == ("node-3", 20)
    cluster, (web, *_) = example("replica", 2)
    answer = ask(cluster, MoreParameters([web]))
    assert isinstance(answer, MoreAnswer)
    assert answer.figure == 1
    assert {place.node: place.limit for place in answer.places} == {"node-1": "", "node-2": "cpu"}


@pytest.mark.parametrize("path", sorted(IDEAS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_idea_has_a_test_in_this_file(path: Path) -> None:
    assert any(name.startswith(f"test_{path.stem}_") for name in globals())


def test_devices_two_free_ones_are_not_always_a_pair() -> None:
    trace = play("devices")
    homes = bound(trace)
    assert {name: event.node for name, event in homes.items()} == {
        "pair": "node-2",
        "large": "node-1",
        "next-pair": "node-2",
    }
    [rejected] = of(Unschedulable, trace)
    assert (rejected.pod, "2 cannot allocate all claims" in rejected.message) == ("default/next-pair", True)
    [first, *_] = of(Filtered, trace)
    assert first.feasible == 1
    # The pod that has ended stays; its claim was deleted.
    [ended] = of(PodFinished, trace)
    assert ended.pod == "default/pair"
    assert seconds(homes["next-pair"]) > seconds(ended)


def test_versions_the_same_pods_are_decided_otherwise() -> None:
    newest, older = play("versions"), play("versions", Features(V1_34))
    assert {name: event.node for name, event in bound(newest).items()} == {"web": "node-1"}
    assert {name: event.node for name, event in bound(older).items()} == {
        "web": "node-2",
        "restarts": "node-3",
    }
    messages = {event.pod: event.message for event in of(Unschedulable, newest)}
    assert "1 node(s) didn't match Pod's required features" in messages["default/restarts"]
    assert "1 node(s) had untolerated taint(s)" in messages["default/plain"]
    oldest = {event.pod: event.message for event in of(Unschedulable, play("versions", Features(V1_34_1)))}
    assert "untolerated taint {maintenance: }" in oldest["default/plain"]


def test_sharing_a_device_that_no_claim_has_is_not_always_free() -> None:
    trace = play("sharing")
    homes = bound(trace)
    assert {name: event.node for name, event in homes.items()} == {
        "small": "gpu-node",
        **{f"flow-{number}": "net-node" for number in range(1, 6)},
        "diagnose": "old-node",
        "whole": "gpu-node",
    }
    assert {event.pod for event in of(Unschedulable, trace)} == {
        "default/whole",
        "default/flow-5",
        "default/train",
    }
    ended = {event.pod.removeprefix("default/"): seconds(event) for event in of(PodFinished, trace)}
    assert seconds(homes["flow-4"]) < ended["small"] < seconds(homes["whole"]) < ended["flow-1"]
    assert ended["flow-1"] < seconds(homes["flow-5"])


def test_gangs_all_pods_or_none() -> None:
    trace = play("gangs")
    homes = bound(trace)
    assert {name for name in homes if name.startswith("alone")} == {"alone-1", "alone-2", "alone-3"}
    team = {seconds(homes[f"team-{number}"]) for number in range(1, 5)}
    assert len(team) == 1, "all at once"
    assert seconds(homes["web-1"]) < team.pop()


def test_placements_the_fuller_rack_that_holds_the_whole_group() -> None:
    trace = play("placements")
    assert {event.node for event in bound(trace).values()} == {"b-node1", "b-node2"}
    verdicts = {event.placement: event.verdict for event in of(PodGroupTried, trace)}
    assert verdicts == {"rack-a": "unschedulable", "rack-b": "scheduled", "rack-c": "scheduled"}
