"""The decisions of a scheduler about pod groups, which it tries as a whole."""

from collections.abc import Callable

import msgspec
import pytest
from msgspec.structs import replace

from simulator.api import SECOND, Manifest, WatchEvent
from simulator.memory_sandbox import SandboxOptions
from simulator.objects.conditions import condition, with_condition
from simulator.objects.pod_group import POD_GROUPS
from simulator.trace import BindingJudged, FailureJudged, PreemptionJudged
from simulator.verdict_words import in_english
from simulator.versions.features import Features
from tests.amounts import WHOLE
from tests.simulator.test_pod_groups import group
from tests.verdicts.source import ALL_GROUP_FEATURES, GANG_FEATURES, RandomSource, Source, as_a_mirror_reads
from tests.verdicts.stream import bare, node, pod
from tests.verdicts.test_random_decisions import check

PRIORITY_CLASS: Manifest = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
WAITING = (
    "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, one or more plugins "
    "asked to wait and no plugin rejected pod"
)


def gangs(order: Callable[[list[WatchEvent]], list[WatchEvent]] = list) -> Source:
    """A gang of which one pod does not fit."""
    nodes = [node("n1", "3"), node("n2", "2")]
    options = SandboxOptions("gangs", nodes, features=GANG_FEATURES, pace=SECOND)
    source = Source(options, order=order)
    source.run(10)
    source.sandbox.create([group("train", 3), *(bare_member(f"train-{i}") for i in range(3))])
    source.run(3)
    return source


def bare_member(name: str, cpu: str = "2") -> Manifest:
    spec = {**pod(name, cpu)["spec"], "schedulingGroup": {"podGroupName": "train"}}
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


def test_a_group_may_be_shown_after_the_messages_about_its_pods() -> None:
    late: list[WatchEvent] = []

    def groups_last(events: list[WatchEvent]) -> list[WatchEvent]:
        late.extend(each for each in events if each.resource == POD_GROUPS)
        shown = [each for each in events if each.resource != POD_GROUPS]
        if any(each.resource == "pods" and condition(each.object, "PodScheduled") for each in shown):
            shown += late
            late.clear()
        return shown

    source = gangs(groups_last)
    failures = [each for each in source.verdicts if isinstance(each, FailureJudged)]
    assert {each.pod for each in failures} == {f"default/train-{i}" for i in range(3)}
    assert {each.verdict for each in failures} == {"agrees"}


def test_pods_of_a_group_that_may_not_be_read_are_unknown() -> None:
    source = gangs(lambda events: [each for each in events if each.resource != POD_GROUPS])
    source.sandbox.create([node("n3", "2")])
    source.run(3)
    assert {type(each) for each in source.verdicts} == {BindingJudged, FailureJudged}
    assert {(each.verdict, in_english(each)) for each in source.verdicts} == {
        ("unknown", "Its PodGroup is not known, so the cycle of its group was not tried.")
    }


RACKS = (("a1", "4", "a"), ("b1", "2", "b"), ("c1", "1", "c"))


def placed(order: Callable[[list[WatchEvent]], list[WatchEvent]] = list) -> list[BindingJudged]:
    """The verdicts on the pods of a group that is bound in the rack of which it takes most."""
    nodes = [node(name, cpu, metadata={"name": name, "labels": {"rack": rack}}) for name, cpu, rack in RACKS]
    source = Source(SandboxOptions("racks", nodes, features=ALL_GROUP_FEATURES, pace=SECOND), order=order)
    source.run(10)
    racks = {"topology": [{"key": "rack"}]}
    pods = [bare_member(f"train-{i}", "1") for i in range(2)]
    source.sandbox.create([group("train", 2, schedulingConstraints=racks), *pods])
    source.run(3)
    return [each for each in source.verdicts if isinstance(each, BindingJudged)]


def test_a_group_is_bound_in_its_best_placement() -> None:
    assert [(each.node, each.verdict) for each in placed()] == [("b1", "agrees")] * 2


def test_a_binding_in_another_placement_differs() -> None:
    def elsewhere(events: list[WatchEvent]) -> list[WatchEvent]:
        return [
            replace(each, object={**each.object, "spec": {**each.object["spec"], "nodeName": "a1"}})
            if each.resource == "pods" and each.object["spec"].get("nodeName")
            else each
            for each in events
        ]

    second, first = placed(elsewhere)  # the verdict on the first one waits
    assert (first.node, first.verdict, first.best) == ("a1", "differs", "b1")
    assert in_english(first) == (
        "The model chooses another placement for the pod group, in which the pod gets b1."
    )
    assert second.verdict == "agrees", "it has to follow the first one"


def test_a_message_may_be_that_of_any_placement_where_none_is_possible() -> None:
    """Upstream divides the nodes by a map, and shows the messages of the first placement."""

    def of_the_larger_rack(events: list[WatchEvent]) -> list[WatchEvent]:
        return [
            replace(each, object=msgspec.json.decode(msgspec.json.encode(each.object).replace(small, large)))
            for each in events
        ]

    small, large = (f"0/{n} nodes are available: {n} Insufficient cpu".encode() for n in (1, 2))
    nodes = [("a1", "a"), ("b1", "b"), ("b2", "b")]
    made = [node(name, "1", metadata={"name": name, "labels": {"rack": rack}}) for name, rack in nodes]
    options = SandboxOptions("racks", made, features=ALL_GROUP_FEATURES, pace=SECOND)
    source = Source(options, order=of_the_larger_rack)
    source.run(10)
    racks = {"topology": [{"key": "rack"}]}
    pods = [bare_member(f"train-{i}") for i in range(2)]
    source.sandbox.create([group("train", 2, schedulingConstraints=racks), *pods])
    source.run(3)
    said = [each for each in source.verdicts if isinstance(each, FailureJudged)]
    assert {(each.verdict, each.message.startswith(large.decode())) for each in said} == {("tie", True)}
    assert in_english(said[0]) == "The model's message is the same if another placement is tried first."


def test_the_victims_of_a_whole_group_are_judged_by_its_cycle() -> None:
    options = SandboxOptions("victims", [node("n1"), node("n2")], features=ALL_GROUP_FEATURES, pace=SECOND)
    source = Source(options)
    urgent = {**PRIORITY_CLASS, "metadata": {"name": "urgent"}, "value": 100}
    source.sandbox.create([urgent, *(bare(pod(f"web-{i}", "3")) for i in range(2))])
    source.run(3)
    members = [bare_member(f"train-{i}", "3") for i in range(2)]
    for each in members:
        each["spec"]["priorityClassName"] = "urgent"
    source.sandbox.create([group("train", 2, priorityClassName="urgent"), *members])
    source.run(40)
    evicted = [each for each in source.verdicts if isinstance(each, PreemptionJudged)]
    assert {each.pod for each in evicted} == {"default/web-0", "default/web-1"}
    assert {(each.verdict, in_english(each)) for each in evicted} == {
        ("agrees", "The model evicts it for the whole pod group, too.")
    }
    check(source)


@pytest.mark.sampled
@pytest.mark.parametrize("features", [GANG_FEATURES, ALL_GROUP_FEATURES], ids=["gangs", "all gates"])
def test_the_judge_agrees_with_the_model(features: Features) -> None:
    """Of the objects it sees what a mirror keeps of them."""
    for number in range(12 if WHOLE else 2):
        source = RandomSource("gangs", number, features, order=as_a_mirror_reads(features))
        source.go_on(24 if WHOLE else 12)
        source.run(10)
        check(source)
