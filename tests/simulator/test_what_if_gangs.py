"""What would let a gang run: each suggestion is what the scheduler then does with it."""

import copy
import random
from typing import Any

import pytest

from simulator import trace
from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import find_built_in
from simulator.command_line.pod_file import AskedPod
from simulator.commands.whatif import report_lines
from simulator.memory import MemoryStorage
from simulator.objects.pod import Pod
from simulator.objects.pod_group import POD_GROUPS
from simulator.plugins.registry import load, profiles
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import V1_36
from simulator.what_if import gang
from simulator.what_if.answer import Suggestion, WhatIfAnswer
from simulator.what_if.gang import turns_of
from simulator.what_if.rivals import with_rivals
from simulator.what_if.search import search
from simulator.what_if.situation import Situation
from tests.amounts import sample
from tests.simulator.lab import Lab, node, pod, priority_class
from tests.simulator.test_pod_groups import CLASSES, GATES, group, lab, member, options, rack

ALL = GATES[3]
RACKS = {"topology": [{"key": "rack"}]}


def objects_of(api: MemoryStorage) -> list[tuple[Resource, Manifest]]:
    found = []
    for resource, objects in api.objects.items():
        plural, _, name = resource.partition(".")
        known = find_built_in(name, plural)
        assert known is not None
        found += [(known, manifest) for manifest in objects.values()]
    return found


def asked(found: Lab, name: str, gates: dict[str, bool] = ALL) -> WhatIfAnswer:
    frameworks = profiles(load(None, features=Features(V1_36, gates)))
    # The number of the next cycle decides between equal nodes.
    cycle = max((each.cycle for each in found.of(trace.CycleStarted)), default=0) + 1
    objects = objects_of(found.api)
    situation = Situation.read(objects, found.pod(name), frameworks, seed=3, cycle=cycle)
    turns = turns_of(situation.pod.pod_group, reversed(found.trace))
    *_, answer = search(situation, turns)
    assert isinstance(answer, WhatIfAnswer)
    pods = [*found.api.objects["pods"].values()]
    with_rivals(situation, answer.suggestions, pods)
    return answer


def changes(answer: WhatIfAnswer) -> list[tuple[str, str, str]]:
    return [(each.kind, each.what, each.after) for each in answer.suggestions]


def with_suggestion(found: Lab, suggestion: Suggestion, gates: dict[str, bool] = ALL) -> Lab:
    """Another cluster with the same objects and the change."""
    made = Lab(options(gates), copy.deepcopy(found.api), found.now)
    change(made, suggestion)
    return made


def change(found: Lab, suggestion: Suggestion) -> None:
    for edit in suggestion.edits:
        if edit.manifest is None or edit.verb == "recreate":
            found.delete(edit.resource, edit.key)
        if edit.verb == "update":
            found.update(edit.resource, edit.key, lambda _, new=edit.manifest: new)
        elif edit.manifest is not None:
            found.create(edit.manifest)
    found.run(5)


def bound(found: Lab, of: str) -> int:
    pods = [found.pod(key.partition("/")[2]) for key in found.api.objects["pods"]]
    groups = ((each["spec"].get("schedulingGroup") or {}).get("podGroupName") for each in pods)
    return sum(name == of and "nodeName" in each["spec"] for name, each in zip(groups, pods, strict=True))


def test_a_gang_that_lacks_room_gets_nodes_or_a_smaller_min_count() -> None:
    with lab(ALL) as found:
        found.create(node("n1", "4"), node("n2", "4", unschedulable=True), group("train", 4))
        found.create(*(member(f"train-{i}", "train", "2") for i in range(4)), pod("web", "2"))
        found.run(5)
        answer = asked(found, "train-0")
        assert (answer.pod, answer.group, answer.now.kind) == (
            "default/train-0",
            "default/train",
            "unschedulable",
        )
        now = answer.now.gang
        assert now is not None
        assert (now.fits, now.size, now.needs) == (1, 4, 4)
        assert answer.lacks[0].obstacles[0].short_by == "2"
        assert changes(answer) == [("min-count", "minCount", "1"), ("nodes", "n1", "2")]
        for each in answer.suggestions:
            assert each.outcome.gang is not None
            assert bound(with_suggestion(found, each), "train") == each.outcome.gang.fits
        lines = [*report_lines(AskedPod(Pod.parse(found.pod("train-0")), []), answer)]
        assert lines[0] == "PodGroup default/train: 1 of 4 pods fit, and it needs 4."
        assert lines[-1].split("  ")[0] == "2 more nodes like n1: n1-2, n1-3"
        assert lines[-1].endswith("4 of 4 pods bound")


def test_an_incomplete_gang_needs_fewer_pods() -> None:
    with lab(ALL) as found:
        found.create(node("n1", "2"), group("train", 4), *(member(f"train-{i}", "train") for i in range(3)))
        found.run(5)
        answer = asked(found, "train-2")
        assert answer.now.kind == "gated"
        assert changes(answer) == [("min-count", "minCount", "2")]
        assert bound(with_suggestion(found, answer.suggestions[0]), "train") == 2


def test_a_gang_gets_another_topology_key_or_none() -> None:
    with lab(ALL) as found:
        nodes = [rack(f"n{i}", "2", f"rack-{i}") for i in range(4)]
        for i, each in enumerate(nodes):
            each["metadata"]["labels"]["row"] = f"row-{i // 2}"
        found.create(*nodes, group("train", 2, schedulingConstraints=RACKS))
        found.create(*(member(f"train-{i}", "train", "2") for i in range(2)))
        found.run(5)
        answer = asked(found, "train-1")
        assert changes(answer) == [
            ("min-count", "minCount", "1"),
            ("topology-key", "row", "row"),
            ("topology", "rack", ""),
            *(("node", f"n{i}", f"n{i}-2") for i in range(4)),
        ]
        for each in answer.suggestions:
            assert each.outcome.gang is not None
            assert bound(with_suggestion(found, each), "train") == each.outcome.gang.fits


def test_a_gang_of_higher_priority_evicts_others() -> None:
    with lab(ALL) as found:
        found.create(*(priority_class(name, 100 * i) for i, name in enumerate(CLASSES)))
        found.create(node("n1", "4"), group("old", 2, disruptionMode="PodGroup", priorityClassName="middle"))
        found.create(*(member(f"old-{i}", "old", "2", priorityClassName="middle") for i in range(2)))
        found.run(5)
        found.create(group("train", 2), *(member(f"train-{i}", "train", "2") for i in range(2)))
        found.run(5)
        answer = asked(found, "train-0")
        [first, second] = [each for each in answer.suggestions if each.kind == "group-priority"]
        assert [(each.before, each.after, each.what) for each in (first, second)] == [
            ("0", "101", "priority-101"),
            ("0", "200", "high"),
        ]
        assert first.outcome.kind == "nominated"
        assert sorted(first.outcome.victims) == ["default/old-0", "default/old-1"]
        after = with_suggestion(found, first)
        assert sorted(after.of(trace.PodGroupPreempted)[0].victims) == sorted(first.outcome.victims)


def random_story(found: Lab, seed: int) -> None:
    pick = random.Random(seed)
    found.create(*(priority_class(name, 100 * i) for i, name in enumerate(CLASSES)))
    sizes = pick.sample(["1100m", "2300m", "3700m", "4900m", "6100m", "7300m", "8500m"], 5)
    found.create(*(rack(f"n{i}", cpu, pick.choice("ab")) for i, cpu in enumerate(sizes)))
    found.create(*(pod(f"p{i}", "1", priorityClassName=pick.choice(CLASSES)) for i in range(8)))
    found.run(5)
    spec: dict[str, Any] = {"priorityClassName": pick.choice(CLASSES)}
    if pick.random() < 0.5:
        spec["schedulingConstraints"] = RACKS
    found.create(group("train", 6, **spec))
    found.create(*(member(f"train-{i}", "train", pick.choice("123")) for i in range(6)))
    found.run(5)


def test_the_preemption_of_unequal_pods_is_bounded_in_work(monkeypatch: pytest.MonkeyPatch) -> None:
    with lab(ALL) as found:
        found.create(priority_class("low", 0), node("n1", "4"), pod("old", "3"))
        found.run(5)
        found.create(group("train", 2), member("train-0", "train", "2"), member("train-1", "train", "1"))
        found.run(5)
        assert "group-priority" in [each.kind for each in asked(found, "train-0").suggestions]
        monkeypatch.setattr(gang, "PREEMPTION_WORK_AT_MOST", 1)
        assert "group-priority" not in [each.kind for each in asked(found, "train-0").suggestions]


@pytest.mark.sampled
def test_random_gangs_do_as_was_said() -> None:
    kinds = set()
    for seed in sample(range(40), 5):
        gates = [GATES[0], GATES[1], GATES[3]][seed % 3]
        with lab(gates) as found:
            random_story(found, seed)
            evicts = any(each.victims for each in found.of(trace.PodGroupPreempted))
            suggestions = [] if evicts else asked(found, "train-0", gates).suggestions
        for each in suggestions:
            with lab(gates) as after:
                random_story(after, seed)
                change(after, each)
                then = each.outcome.gang
                assert then is not None
                if each.outcome.kind == "bound":
                    assert bound(after, "train") == then.fits, (seed, each.kind)
                else:
                    tries = [each.victims for each in after.of(trace.PodGroupPreempted)]
                    first = next(victims for victims in tries if victims)
                    assert {*first} == {*each.outcome.victims}, (seed, each.kind)
            kinds.add(each.kind)
    assert {"min-count", "node"} <= kinds


def test_without_a_gang_the_pod_is_asked_about() -> None:
    with lab(ALL) as found:
        found.create(node("n1", "1"), group("many", None))
        found.create(*(member(f"many-{i}", "many", "2") for i in range(2)))
        found.run(5)
        answer = asked(found, "many-0")
        assert (answer.group, answer.now.gang) == ("", None)
        assert ("request", "cpu", "1") in changes(answer)
        assert POD_GROUPS in found.api.objects
