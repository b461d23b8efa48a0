"""The older queues: the FIFO of before 1.9, and the PriorityQueue of 1.10."""

from typing import Any

import msgspec
import pytest

from simulator.api import SECOND
from simulator.queueing.queue_version import QueueVersion
from simulator.scenario import ScenarioError, load_scenario
from simulator.simulation import Options
from simulator.trace import CycleStarted
from tests.simulator.lab import Lab, node, pod, priority_class


def test_the_name_that_the_queue_had_while_v1_34_was_the_only_version_is_read() -> None:
    text = "apiVersion: schedviz/v1\nkind: Scenario\nmetadata: {name: a}\nspec: {queue: %s}\n"
    assert load_scenario(text % "v1.34").queue is QueueVersion.KUBERNETES
    recorded = {**msgspec.to_builtins(Options()), "queue": "v1.34"}
    assert msgspec.convert(recorded, Options).queue is QueueVersion.KUBERNETES
    with pytest.raises(ScenarioError, match=r"spec\.queue: must be one of kubernetes, v1\.10, fifo"):
        load_scenario(text % "v1.11")


def lab(queue: QueueVersion, pace: int = 0) -> Lab:
    made = Lab(Options(queue=queue, pace=pace))
    made.create(priority_class("high", 1000), priority_class("low", 10))
    return made


def popped(made: Lab) -> list[str]:
    return [event.pod.removeprefix("default/") for event in made.of(CycleStarted)]


def attempts(made: Lab, name: str) -> list[float]:
    return [made.seconds(e) for e in made.of(CycleStarted) if e.pod == f"default/{name}"]


def test_the_fifo_ignores_priorities_and_the_heap_does_not() -> None:
    pods = [pod("first", priorityClassName="low"), pod("second", priorityClassName="high")]
    for queue, order in ((QueueVersion.FIFO, ["first", "second"]), (QueueVersion.V1_10, ["second", "first"])):
        made = lab(queue)  # type: ignore[arg-type]  # one of the literals
        made.create(node("n1"), *pods)
        assert popped(made.run(1)) == order


def test_in_the_fifo_the_backoff_doubles_up_to_a_minute() -> None:
    made = lab(QueueVersion.FIFO)
    made.create(node("n1", cpu="1"), pod("big", "2"))
    made.run(190)
    # The first failure is written into the pod's status, and that change brings it back at once.
    assert attempts(made, "big") == [0, 0, 1, 3, 7, 15, 31, 63, 123, 183]
    assert made.moves("big")[2:5] == [
        ("inFlight", "backoffQ", "ScheduleAttemptFailure"),
        ("backoffQ", "activeQ", "UnschedulablePodUpdate"),
        ("activeQ", "inFlight", "Pop"),
    ]


def test_a_changed_pod_keeps_its_place_in_the_fifo() -> None:
    made = lab(QueueVersion.FIFO, pace=SECOND)
    made.create(node("n1"), pod("a"), pod("b"), pod("c"))
    made.run(0.5)
    made.update("pods", "default/b", lambda p: {**p, "spec": {**p["spec"], "tolerations": [{"key": "x"}]}})
    made.run(0.1)
    places = [made.lanes[f"default/{name}"].place for name in "abc"]
    assert places == sorted(places)
    assert popped(made.run(5)) == ["a", "b", "c"]


def test_in_the_fifo_no_event_moves_a_pod() -> None:
    made = lab(QueueVersion.FIFO)
    made.create(node("n1", cpu="1"), pod("big", "2"))
    made.run(4)
    made.create(node("n2", cpu="2"))
    made.run(2)
    assert made.lane("big") == "backoffQ"
    made.run(2)
    assert attempts(made, "big")[-1] == 7
    assert made.node_of("big") == "n2"


def test_of_1_10_any_event_moves_all_pods_at_once_without_backoff() -> None:
    made = lab(QueueVersion.V1_10)
    made.create(node("n1", cpu="1"), pod("big", "2"), pod("elsewhere", nodeSelector={"disk": "ssd"}))
    made.run(3600)
    assert attempts(made, "big") == attempts(made, "elsewhere") == [0], "it would wait for ever"
    made.create(node("n2", cpu="1"))
    made.run(0)
    assert (
        made.moves("big")[-3:]
        == made.moves("elsewhere")[-3:]
        == [
            ("unschedulable", "activeQ", "NodeAdd"),
            ("activeQ", "inFlight", "Pop"),
            ("inFlight", "unschedulable", "ScheduleAttemptFailure"),
        ]
    )


@pytest.mark.parametrize(
    ("happening", "back"),
    [
        ([], ("unschedulable", "ScheduleAttemptFailure")),
        ([node("n2", cpu="1")], ("activeQ", "ReceivedMoveRequest")),
        ([pod("other", nodeName="n1", cpu="100m")], ("activeQ", "ReceivedMoveRequest")),
        ([pod("waiting", "2")], ("unschedulable", "ScheduleAttemptFailure")),
    ],
    ids=["nothing", "a node", "a bound pod", "a pending pod"],
)
def test_of_1_10_one_flag_records_events_during_an_attempt(
    happening: list[Any], back: tuple[str, str]
) -> None:
    made = lab(QueueVersion.V1_10, pace=SECOND)
    made.create(node("n1", cpu="1"), pod("big", "2"))
    made.run(0.5)
    assert made.lane("big") == "inFlight"
    made.create(*happening)
    made.run(0.5)
    assert made.moves("big")[2] == ("inFlight", *back)


@pytest.mark.parametrize("queue", [QueueVersion.FIFO, QueueVersion.V1_10])
def test_gated_pods_wait_outside_of_the_queue_until_the_gate_is_removed(queue: QueueVersion) -> None:
    made = lab(queue)
    made.create(node("n1"), pod("gated", schedulingGates=[{"name": "example.com/gate"}]))
    made.run(60)
    assert made.lane("gated") == "gated"
    spec = {field: value for field, value in made.pod("gated")["spec"].items() if field != "schedulingGates"}
    made.update("pods", "default/gated", lambda p: {**p, "spec": spec})
    made.run(1)
    assert made.node_of("gated") == "n1"
