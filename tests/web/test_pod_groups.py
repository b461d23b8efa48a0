"""What the pages show of pod groups, in a sandbox led in this process."""

from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from django.utils.html import strip_tags

from schedviz.jobs.find_answer import find_answer
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.question import QUESTIONS, question_key
from schedviz.store import Store
from schedviz.web.cycle.views import group_cycles
from simulator import trace
from simulator.api import Manifest
from simulator.versions.kubernetes_version import V1_36
from tests.loop.conftest import node, pod
from tests.loop.world import World
from tests.simulator.lab import priority_class
from tests.simulator.test_pod_groups import group
from tests.web.test_languages import english

HTMX = {"HX-Request": "true"}
GATES = {
    "GenericWorkload": True,
    "GangScheduling": True,
    "WorkloadAwarePreemption": True,
    "TopologyAwareWorkloadScheduling": True,
}

Make = Callable[..., World]


def member(name: str, of: str, cpu: str = "1", **spec: str) -> Manifest:
    return pod(name, cpu, schedulingGroup={"podGroupName": of}, **spec)


def members(of: str, count: int, cpu: str = "1", **spec: str) -> list[Manifest]:
    return [member(f"{of}-{number}", of, cpu, **spec) for number in range(count)]


def racked(name: str, rack: str, cpu: str = "4") -> Manifest:
    made = node(name, cpu)
    made["metadata"]["labels"] = {"rack": rack}
    return made


@pytest.fixture
def world(store: Store) -> Iterator[World]:
    made = World(store, kubernetes=V1_36.patch, feature_gates=GATES)
    yield made
    store.delete(made.sandbox.name)


def html_of(client: Client, world: World, path: str) -> str:
    response = client.get(f"/s/{world.sandbox.name}/{path}", headers=HTMX, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def text_of(client: Client, world: World, path: str) -> str:
    return " ".join(html_of(client, world, path).split())


def group_cycle(world: World) -> int:
    events = [event for _, event in world.sandbox.trace(0, count=10_000)]
    return [*group_cycles(events)][-1].number


def test_the_panel_says_why_a_gang_is_pending(client: Client, world: World) -> None:
    world.create(node("n0", "4"), group("train", 8), *members("train", 7))
    world.slice()
    html = text_of(client, world, "pod-groups/default/train/")
    assert "7 of the 8 pods that it needs are there: they are gated until 1 more is created." in html

    world.create(member("train-7", "train"))
    world.slice()
    html = text_of(client, world, "pod-groups/default/train/")
    assert "4 of 8 fit; the group needs 8." in html
    assert "train-3, train-4, train-5 and 1 more lack 1 cpu on every node." in html
    assert "Tried 1 time: v1.36 tries a group again without pause." in html
    pending = text_of(client, world, "pending/")
    assert "It fits, but fewer pods of its group than minCount do." in pending
    assert "ended with an error" not in pending
    assert "A pod group is tried again without pause" in pending
    world.let_time_pass(5)
    world.slice()
    assert "Tried 1 time" not in text_of(client, world, "pod-groups/default/train/")
    assert "4 pods had a place, which is taken back" in html
    assert "PodGroup <code>default/train</code>" in html_of(client, world, "pods/default/train-3/")
    address = f"/s/{world.sandbox.name}/pod-groups/default/train/"
    chinese = client.get(address, headers={**HTMX, "accept-language": "zh-CN"}).content.decode()
    assert "组需要 8 个" in chinese
    assert not english(chinese.replace(world.sandbox.name, "").replace("default/", ""))


def test_the_cycle_has_each_turn_and_compares_the_placements(client: Client, world: World) -> None:
    racks = {"topology": [{"key": "rack"}]}
    world.create(
        racked("n0", "rack-1"), racked("n1", "rack-2"), racked("n2", "rack-2"), racked("n3", "rack-3", "1")
    )
    world.create(pod("other", "1", nodeName="n1"))
    world.create(group("train", 2, schedulingConstraints=racks), *members("train", 2, "2"))
    world.slice()
    number = group_cycle(world)
    html = text_of(client, world, f"cycles/{number}/")
    assert "train can be scheduled, in rack-1." in html
    assert "rack-1 was selected: 51 + 100 against 31 + 100 of rack-2." in html
    assert "rack-3" in html
    assert "train-1: 1 has too little cpu" in html
    for turn in (number + 1, number + 2):
        cycle = text_of(client, world, f"cycles/{turn}/")
        assert f"Scheduling cycle {turn}" in cycle
        assert "not looked at" in cycle
        assert "The scheduler looked at 1 of 4 nodes." in cycle
        assert "no other node that was looked at fits" in cycle
        assert "waits on Permit" not in cycle, "the plugin has allowed all of the group"
        assert "enough" not in cycle, "the other nodes are not of the placement"
    page = text_of(client, world, "")
    assert "Placements of <a" in page
    assert "2 pods go on to binding" in page


def test_the_only_placement_that_holds_a_group_has_no_scores(client: Client, world: World) -> None:
    racks = {"topology": [{"key": "rack"}]}
    world.create(racked("n0", "rack-1"), racked("n1", "rack-2", "1"))
    world.create(group("train", 2, schedulingConstraints=racks), *members("train", 2))
    world.slice()
    html = text_of(client, world, f"cycles/{group_cycle(world)}/")
    assert "rack-1 is the only placement in which the group can be scheduled" in html
    assert ">total<" not in html


def test_the_log_has_one_line_for_a_group_and_none_for_its_pods(client: Client, world: World) -> None:
    world.create(node("n0", "2"), group("train", 3), *members("train", 3), pod("big", "9"))
    world.slice()
    log = html_of(client, world, "").partition('id="log"')[2]
    text = " ".join(strip_tags(log).split())
    assert "The group train is unschedulable; the places of 2 pods are taken back." in text
    assert "big is unschedulable" in text
    for number in range(3):
        assert f"train-{number} is unschedulable" not in text
        assert f"train-{number} moves from in flight" not in text
    panel = strip_tags(text_of(client, world, "pods/default/train-0/"))
    assert "train-0 moves from in flight to backoffQ (ScheduleAttemptFailure)" in panel


def test_the_turns_of_each_pass_are_known_before_it_ends() -> None:
    pods = ["default/a", "default/b"]
    started = trace.PodGroupCycleStarted(
        t=0, cycle=1, group="default/g", popped=pods[0], pods=pods, size=2, min_count=2
    )
    tried = trace.PodGroupTried(
        t=0,
        cycle=1,
        group="default/g",
        placement="x",
        nodes=1,
        members=[],
        verdict="unschedulable",
        message="",
    )
    events: list[trace.Event] = [started, tried]
    events += [
        trace.Filtered(t=0, cycle=2, pod=pods[0], nodes=1, feasible=1, reasons={}),
        trace.Scored(t=0, cycle=2, pod=pods[0], node="n0", total=0, tied=1),
        trace.Filtered(t=0, cycle=3, pod=pods[1], nodes=1, feasible=0, reasons={"full": 1}),
    ]
    [cycle] = group_cycles(events)
    turns = [(each.pod, each.outcome, each.node) for each in cycle.turns.values()]
    assert turns == [(pods[0], "fits", "n0"), (pods[1], "infeasible", "")]


def test_the_preemption_of_a_group_names_the_units_and_what_is_put_back(client: Client, world: World) -> None:
    world.create(priority_class("low", 1), priority_class("high", 100), node("n0", "4"), node("n1", "4"))
    world.create(group("train", 2, disruptionMode="PodGroup", priorityClassName="low"))
    world.create(
        *members("train", 2, "3", priorityClassName="low"), pod("single", "1", priorityClassName="low")
    )
    world.slice()
    world.create(
        group("serve", 2, priorityClassName="high"), *members("serve", 2, "3", priorityClassName="high")
    )
    world.slice()
    html = text_of(client, world, f"cycles/{group_cycle(world)}/")
    assert "serve waits for evictions." in html
    assert "the whole group train" in html
    assert "put back" in html
    assert "have no nomination: other pods may take the room" in html
    assert "for the group <a" in text_of(client, world, "")


def test_a_group_is_one_chip_in_the_queue_and_one_mark_on_the_time_axis(client: Client, world: World) -> None:
    world.create(node("n0", "8"), group("train", 4), *members("train", 3), group("next", 9))
    world.create(*members("next", 2), pod("single", "1"))
    world.slice()
    page = text_of(client, world, "")
    assert page.count('class="pod-group"') == 2
    assert ">3 of 4</b>" in page
    assert "1 is missing" in page
    world.create(member("train-3", "train"))
    world.slice()
    page = text_of(client, world, "")
    assert page.count('data-pod-group="default/train"') == 4
    assert page.count("of the group train") == 4
    assert page.count("the group train can be scheduled") == 1
    assert page.count('class="mark') == 2
    world.create(member("train-4", "train", "9"))
    world.slice()
    page = text_of(client, world, "")
    assert "4 on nodes" in page
    assert ">5, needs 4</b>" in page


def test_a_lane_shows_a_hundred_groups_within_its_bounds(client: Client, world: World) -> None:
    world.create(*(group(f"g{number}", 9) for number in range(100)))
    world.create(*(each for number in range(100) for each in members(f"g{number}", 3)))
    world.slice()
    page = text_of(client, world, "")
    assert page.count('class="pod-group"') == 20
    assert "and 240 more" in page


def test_steps_by_point_show_each_turn_of_a_pass(client: Client, world: World) -> None:
    world.create(node("n0", "4"), group("train", 2), *members("train", 2))
    seen = []
    for _ in range(30):
        world.take_steps("point", 1)
        world.slice()
        page = text_of(client, world, "")
        for text in ("0 of 2 turns", "1 of 2 turns", "2 of 2 turns", "train can be scheduled."):
            if text in page and text not in seen:
                seen.append(text)
    assert seen == ["0 of 2 turns", "1 of 2 turns", "train can be scheduled."]


def test_what_would_let_a_gang_run_is_asked_and_applied_in_its_panel(client: Client, world: World) -> None:
    world.create(node("n0", "4"), group("train", 3), *members("train", 3, "2"))
    world.slice()
    panel = html_of(client, world, "pod-groups/default/train/")
    assert f'hx-get="/s/{world.sandbox.name}/pods/default/train-0/whatif/"' in panel
    path = f"/s/{world.sandbox.name}/pods/default/train-0/whatif/"
    client.post(path, {"do": "ask"}, headers=HTMX)
    questions = JobStore(world.store, QUESTIONS)
    asked = world.sandbox.get("pods", "default/train-0")
    assert asked is not None
    uid = asked["metadata"]["uid"]
    question = questions.read(question_key("what-if", world.sandbox.name, "default/train-0", uid=uid))
    assert question is not None
    find_answer(world.store, questions, question)
    html = text_of(client, world, "pods/default/train-0/whatif/")
    assert "Lower minCount of the PodGroup train from 3 to 2." in html
    assert "Then 2 of 3 pods fit, and are bound together." in html
    assert "Add one more node like n0: n0-2." in html
    assert "Each change was tried with all pods of the gang train, in one cycle." in html

    client.post(path, {"do": "apply", "id": question.id, "number": 0}, headers=HTMX)
    world.slice()
    world.let_time_pass(5)
    world.slice()
    panel = text_of(client, world, "pod-groups/default/train/")
    assert "3 pods, 2 with a node" in panel
    assert "Lower minCount of the PodGroup train from 3 to 2." in panel
    assert "2 pods of train have a node." in panel


def test_a_pod_group_is_listed_and_edited_as_other_objects(client: Client, world: World) -> None:
    world.create(group("train", 3))
    world.slice()
    assert "PodGroup" in text_of(client, world, "objects/")
    assert "Gang" in text_of(client, world, "objects/podgroups.scheduling.k8s.io/")
    assert "minCount: 3" in html_of(client, world, "edit/podgroups.scheduling.k8s.io/default/train/")
    assert "PodGroup train was created." in text_of(client, world, "undo/")
