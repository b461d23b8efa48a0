"""The decisions of a scheduler about pod groups, which it tries as a whole."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from simulator.api import SECOND, Manifest, WatchEvent
from simulator.memory_sandbox import SandboxOptions
from simulator.objects.conditions import condition, with_condition
from simulator.trace import BindingJudged, FailureJudged
from tests.amounts import WHOLE
from tests.simulator.test_pod_groups import group
from tests.verdicts.source import GANG_FEATURES, RandomSource, Source, as_a_mirror_reads
from tests.verdicts.stream import bare, node, pod
from tests.verdicts.test_random_decisions import check

WAITING = (
    "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, one or more plugins "
    "asked to wait and no plugin rejected pod"
)


def gangs(order: Callable[[list[WatchEvent]], list[WatchEvent]] = list) -> Source:
    """A gang of which one pod does not fit."""
    nodes = [node("n1", "3"), node("n2", "2")]
    options = SandboxOptions("gangs", nodes, features=GANG_FEATURES, pace=SECOND)
    source = Source(options, order=order)
    source.sandbox.create([group("train", 3), *(bare_member(f"train-{i}") for i in range(3))])
    source.run(3)
    return source


def bare_member(name: str) -> Manifest:
    spec = {**pod(name, "2")["spec"], "schedulingGroup": {"podGroupName": "train"}}
    return {**bare(pod(name)), "spec": spec}


def test_what_is_said_of_a_pod_that_had_a_place_is_that_of_its_group() -> None:
    source = gangs()
    failures = [each for each in source.verdicts if isinstance(each, FailureJudged)]
    assert {each.verdict for each in failures} == {"agrees"}
    said = {each.pod: each.message for each in failures}
    assert [*said.values()].count(WAITING) == 2
    assert any(each.startswith("0/2 nodes are available: 2 Insufficient cpu.") for each in said.values())
    source.sandbox.create([node("n3", "2")])
    source.run(3)
    bound = [each for each in source.verdicts if isinstance(each, BindingJudged)]
    assert len(bound) == 3
    assert {each.verdict for each in bound} <= {"agrees", "tie"}


def test_another_message_differs() -> None:
    def changed(events: list[WatchEvent]) -> list[WatchEvent]:
        return [*map(with_another_message, events)]

    def with_another_message(event: WatchEvent) -> WatchEvent:
        said = event.resource == "pods" and condition(event.object, "PodScheduled")
        if not said or said["message"] != WAITING:
            return event
        other = with_condition(event.object, 0, "PodScheduled", "False", reason="Unschedulable", message="x")
        return replace(event, object=other)

    source = gangs(changed)
    found = [each for each in source.verdicts if isinstance(each, FailureJudged) and each.message == "x"]
    assert [(each.verdict, each.model) for each in found] == [("differs", WAITING)] * 2


@pytest.mark.sampled
@pytest.mark.parametrize(
    "order", [list, as_a_mirror_reads(GANG_FEATURES)], ids=["as it is", "as a mirror reads"]
)
def test_the_judge_agrees_with_the_model(order: Callable[[list[WatchEvent]], list[WatchEvent]]) -> None:
    for number in range(12 if WHOLE else 3):
        source = RandomSource("gangs", number, GANG_FEATURES, order=order)
        source.go_on(24 if WHOLE else 12)
        source.run(10)
        check(source)
