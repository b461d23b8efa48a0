"""Each bundled scenario shows what its summary says."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest

from simulator.api import SECOND
from simulator.commands.run import START, finish_scenario
from simulator.queueing.queue_version import QueueVersion
from simulator.scenario import load_scenario
from simulator.trace import Bound, Event, NodeChanged, Nominated, PodFinished, PodRemoved, Unschedulable

SCENARIOS = Path(__file__).parents[2] / "schedviz" / "scenarios"
E = TypeVar("E", bound=Event)


def play(name: str, seconds: int) -> list[Event]:
    return finish_scenario(load_scenario((SCENARIOS / f"{name}.yaml").read_text()), seconds * SECOND).trace


def of(kind: type[E], trace: Iterable[Event]) -> list[E]:
    return [event for event in trace if isinstance(event, kind)]


def seconds(event: Event) -> float:
    return (event.t - START) / SECOND


def test_online_pods_evict_batch_pods_within_seconds_and_again_later() -> None:
    trace = play("online-vs-offline", 240)
    nominations = of(Nominated, trace)
    assert seconds(nominations[0]) < 5
    assert any(seconds(nomination) > 180 for nomination in nominations)
    assert all("/checkout-" in n.pod or "/report-" in n.pod for n in nominations)
    victims = {victim for nomination in nominations for victim in nomination.victims}
    assert victims
    assert not any("/checkout-" in victim for victim in victims)
    bound = {event.pod: event.node for event in of(Bound, trace)}
    assert all(bound[n.pod] == n.node for n in nominations[:3]), "a preemptor gets the room it made"


def test_the_large_pod_of_low_priority_starves() -> None:
    trace = play("priority-starvation", 600)
    assert not [event for event in of(Bound, trace) if event.pod == "default/archive"]
    assert [event for event in of(Unschedulable, trace) if event.pod == "default/archive"]
    assert len(of(Bound, trace)) > 100, "others get their turn"
    assert not of(Nominated, trace)


def test_taints_and_affinity_keep_pods_apart_until_a_node_joins() -> None:
    trace = play("taints-and-affinity", 120)
    bound = {event.pod.removeprefix("default/"): event for event in of(Bound, trace)}
    joined = next(
        event for event in of(NodeChanged, trace) if event.node == "edge-1" and event.change == "added"
    )
    assert bound["edge"].node == "edge-1"
    assert bound["edge"].t >= joined.t
    assert "train-no-toleration" not in bound
    homes = {
        name: {b.node for pod, b in bound.items() if pod.startswith(name)} for name in ("train", "database")
    }
    assert homes["train"] <= {"gpu-1", "gpu-2"}
    assert homes["database"] <= {"ssd-1", "ssd-2"}
    assert "plain-2" not in {event.node for event in bound.values()}, "it is cordoned"


def test_budgets_are_honoured_while_possible_and_then_broken() -> None:
    trace = play("disruption-budgets", 60)
    nominations = of(Nominated, trace)
    assert [n.pod for n in nominations] == [f"default/urgent-{i}" for i in (1, 2, 3, 4)]
    assert nominations[0].victims == ["default/scratch-1"]
    assert nominations[0].rule == 1
    assert all(victim != "default/scratch-1" for n in nominations[1:] for victim in n.victims)
    assert {event.pod for event in of(Bound, trace)} == {n.pod for n in nominations}
    assert {v for n in nominations for v in n.victims} == {event.pod for event in of(PodRemoved, trace)}


def test_a_preemptor_starves_in_the_fifo_while_lower_pods_take_the_freed_resources() -> None:
    trace = play("queue-starvation", 600)
    urgent = "default/urgent"
    nominations = [event for event in of(Nominated, trace) if event.pod == urgent]
    assert len(nominations) > 5, "it makes room again and again"
    bound = of(Bound, trace)
    assert urgent not in {event.pod for event in bound}
    for nomination, following in pairwise(nominations):
        taken = [event for event in bound if nomination.t < event.t <= following.t]
        assert len(taken) == len(nomination.victims), "batch pods take all of it"


@pytest.mark.parametrize("queue", [QueueVersion.V1_10, QueueVersion.KUBERNETES])
def test_a_preemptor_gets_the_freed_resources_in_a_queue_with_priorities(queue: QueueVersion) -> None:
    scenario = load_scenario((SCENARIOS / "queue-starvation.yaml").read_text())
    trace = finish_scenario(msgspec.structs.replace(scenario, queue=queue), 600 * SECOND).trace
    [nomination] = of(Nominated, trace)
    [bound] = [event for event in of(Bound, trace) if event.pod == "default/urgent"]
    assert bound.node == nomination.node
    assert seconds(bound) - seconds(nomination) < 5


def test_a_gang_is_bound_together_and_half_a_gang_frees_its_resources() -> None:
    trace = play("gang", 120)
    bound = {event.pod.removeprefix("default/"): seconds(event) for event in of(Bound, trace)}
    gang = [bound.pop(f"train-{i}") for i in (1, 2, 3, 4)]
    assert min(gang) == max(gang)
    assert 13 < gang[0] < 15, "not before the last of them came"
    rejected = [event for event in of(Unschedulable, trace) if "/render-" in event.pod]
    assert {event.pod for event in rejected[:2]} == {"default/render-1", "default/render-2"}
    assert seconds(rejected[0]) == seconds(rejected[1]) > 85, "a minute after the first began to wait"
    assert next(iter(of(Unschedulable, trace))).pod == "default/web"
    assert list(bound) == ["web"]
    assert bound["web"] >= seconds(rejected[0])


def test_a_gang_on_permit_keeps_room_and_a_pod_group_keeps_none() -> None:
    bound = {event.pod.removeprefix("default/"): event for event in of(Bound, play("two-ways-for-gangs", 60))}
    assert bound["web"].node == "node-2"
    assert seconds(bound["web"]) < 24
    assert {"render-1", "render-2", "render-3", "paint-1", "paint-2", "paint-3"} == {*bound} - {"web"}
    assert min(seconds(event) for name, event in bound.items() if name != "web") > 24


@pytest.mark.parametrize("name", sorted(path.stem for path in SCENARIOS.glob("*.yaml")))
def test_the_same_scenario_gives_the_same_trace(name: str) -> None:
    assert play(name, 60) == play(name, 60)


def test_a_pod_waits_for_large_gpus_until_a_claim_is_released() -> None:
    trace = play("gpus", 120)
    bound = {event.pod.removeprefix("default/"): event for event in of(Bound, trace)}
    assert {name: event.node for name, event in bound.items()} == {
        "train-0": "gpu-a",
        "train-1": "gpu-a",
        "train-2": "gpu-a",
        "any-0": "gpu-b",
        "any-1": "gpu-b",
    }
    waiting = [event.message for event in of(Unschedulable, trace) if event.pod == "default/train-2"]
    assert "3 cannot allocate all claims" in waiting[-1]
    assert 30 < seconds(bound["train-2"]) < 60


def test_a_shared_claim_is_deallocated_when_its_last_pod_has_ended() -> None:
    trace = play("shared-claim", 120)
    bound = {event.pod.removeprefix("default/"): event.node for event in of(Bound, trace)}
    assert bound == {"read-0": "gpu-a", "read-1": "gpu-a", "write": "gpu-b"}
    messages = [event.message for event in of(Unschedulable, trace) if event.pod == "default/write"]
    assert "1 resourceclaim not available on the node" in messages[0]


def test_a_whole_gpu_is_free_when_no_partition_is_used_and_the_other_way_round() -> None:
    trace = play("mig", 120)
    bound = {event.pod.removeprefix("default/"): seconds(event) for event in of(Bound, trace)}
    assert [*bound] == [*(f"small-{number}" for number in range(7)), "whole", "late"]
    ended = {event.pod.removeprefix("default/"): seconds(event) for event in of(PodFinished, trace)}
    assert bound["small-6"] < 8
    assert ended["small-6"] <= bound["whole"] < ended["whole"] <= bound["late"]
    for pod in ("whole", "late"):
        waiting = next(event for event in of(Unschedulable, trace) if event.pod == f"default/{pod}")
        assert "1 cannot allocate all claims" in waiting.message


def test_four_pods_share_a_network_card_and_others_wait_for_its_bandwidth() -> None:
    trace = play("nic", 120)
    bound = {event.pod.removeprefix("default/"): seconds(event) for event in of(Bound, trace)}
    assert [*bound] == ["stream-0", "stream-1", "stream-2", "stream-3", "stream-4", "video"]
    ended = {event.pod.removeprefix("default/"): seconds(event) for event in of(PodFinished, trace)}
    assert ended["stream-0"] <= bound["stream-4"] < ended["stream-2"] <= bound["video"]
