"""The deciding reason of a pending pod: the one whose fix would open most nodes comes first."""

from collections import Counter
from random import Random

import pytest
from django.utils import translation

from schedviz.web.picture.picture import Picture
from schedviz.web.picture.priority import Ranks
from schedviz.web.queue.lanes import LaneView, LaneViews, lanes
from schedviz.web.reasons import deciding
from schedviz.web.reasons import messages as reasons
from simulator.harness.random_clusters import random_cluster, random_pending_pod
from simulator.scheduler.attempt_record import record
from tests.simulator.builders import a_cluster, attempt
from tests.web import samples
from tests.web.samples import lane

TAINT = "node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }"
CLAIMS = "pod has unbound immediate PersistentVolumeClaims"
SELECTOR = "node(s) didn't match Pod's node affinity/selector"


@pytest.mark.parametrize(
    ("message", "first", "opens"),
    [
        (f"0/60 nodes are available: 1 {TAINT}, 59 Insufficient cpu.", "Insufficient cpu", 59),
        (
            f"0/60 nodes are available: 1 {TAINT}, 12 Insufficient cpu, 47 {SELECTOR}. preemption: x",
            SELECTOR,
            47,
        ),
        # Of two resources that are short on the same nodes, one alone opens none; together they open 40.
        (
            f"0/60 nodes are available: 20 {SELECTOR}, 25 Insufficient memory, 39 Insufficient cpu.",
            "Insufficient cpu",
            40,
        ),
        (
            "0/3 nodes are available: 1 Too many pods, 2 node(s) were unschedulable.",
            "node(s) were unschedulable",
            2,
        ),
        (
            f"0/5 nodes are available: {CLAIMS}. preemption: 0/5 nodes are available: 5 x.",
            CLAIMS,
            5,
        ),
        ("0/2 nodes are available: 10 Insufficient cpu, 2 of our own.", "of our own", 2),
    ],
)
def test_the_reason_that_most_nodes_have_decides(message: str, first: str, opens: int) -> None:
    found = deciding.find_rejection(message)
    assert found
    assert (found.deciding, found.opens) == (first, opens)


def test_another_message_has_no_deciding_reason() -> None:
    for message in ("", "running Bind plugin: no", "0/1 nodes"):
        assert deciding.find_rejection(message) is None
        assert reasons.deciding_words(message) == ("", message)


@pytest.mark.parametrize("seed", range(12))
def test_the_order_is_that_of_the_nodes_that_each_reason_alone_rejects(seed: int) -> None:
    random = Random(seed)
    made = [*random_cluster(random, 12)]
    nodes = [each for each in made if each["kind"] == "Node"]
    bound = [each for each in made if each["kind"] == "Pod" and "nodeName" in each["spec"]]
    checked = 0
    for number in range(12):
        decision = record(attempt(a_cluster(nodes, bound), random_pending_pod(random, f"new-{number}")))
        found = deciding.find_rejection(decision.message)
        if found is None or not found.reasons:
            continue
        checked += 1
        # The nodes by what would have to be fixed: each reason, or all resources that are short.
        nodes_of: Counter[str] = Counter()
        for place, failure in enumerate(decision.failures, start=1):
            resources = all(map(deciding.is_about_resources, failure.reasons))
            nodes_of["resources" if resources else ", ".join(failure.reasons)] += decision.verdicts.count(
                place
            )
        assert found.opens == max(nodes_of.values()), decision.message
        assert [each.opens for each in found.reasons] == [
            nodes_of["resources" if deciding.is_about_resources(each.text) else each.text]
            for each in found.reasons
        ], decision.message
        assert reasons.short(decision.message).startswith(reasons.deciding_words(decision.message)[0])
    assert checked


def unschedulable(*messages: str) -> LaneView:
    picture = Picture()
    entries = [lane(f"p{at}", "unschedulable", message=message) for at, message in enumerate(messages)]
    picture.queue_places = {entry.pod: entry for entry in entries}
    return next(view for view in lanes(picture, Ranks([])) if view.name == "unschedulable")


def test_what_all_pods_of_the_lane_share_is_said_once_and_the_deciding_reason_stays() -> None:
    view = unschedulable(
        f"0/60 nodes are available: 1 {TAINT}, 59 Insufficient cpu.",
        f"0/60 nodes are available: 1 {TAINT}, 57 {SELECTOR}, 2 Insufficient cpu.",
    )
    assert view.note == ("For each of these also: 1 is tainted {node-role.kubernetes.io/control-plane: }.")
    assert [(chip.note, chip.others) for chip in view.chips] == [
        ("59 have too little cpu", ""),
        ("57 do not match its affinity or selector", "2 have too little cpu"),
    ]
    # It decides for one of them, so it is with each.
    alike = unschedulable(
        "0/3 nodes are available: 3 Insufficient cpu.", "0/3 nodes are available: 3 Insufficient cpu."
    )
    assert alike.note == ""
    assert [chip.note for chip in alike.chips] == ["3 have too little cpu"] * 2
    # A pod with another message shares nothing.
    other = unschedulable(f"0/60 nodes are available: 1 {TAINT}, 59 Insufficient cpu.", "skip")
    assert other.note == ""
    assert [(chip.note, chip.others) for chip in other.chips] == [
        ("59 have too little cpu", "1 is tainted {node-role.kubernetes.io/control-plane: }"),
        ("", "skip"),
    ]


def test_a_gated_pod_names_the_gates_that_are_left() -> None:
    made = samples.pod("web")
    made["spec"]["schedulingGates"] = [{"name": "example.com/quota"}, {"name": "example.com/image"}]
    picture = Picture()
    picture.object("pods", made)
    picture.queue_places = {
        "default/web": lane("web", "gated", gate="SchedulingGates"),
        "default/held": lane("held", "gated", gate="DefaultPreemption"),
    }
    kept = LaneViews()

    def notes() -> dict[str, str]:
        [view] = [each for each in kept.read(picture, Ranks([])) if each.name == "gated"]
        return {chip.key: chip.note for chip in view.chips}

    assert notes() == {
        "default/web": "example.com/quota, example.com/image",
        "default/held": "DefaultPreemption",
    }
    made["spec"]["schedulingGates"].pop()
    made["metadata"]["resourceVersion"] = "2"
    picture.object("pods", made)
    assert notes()["default/web"] == "example.com/quota"


def test_in_chinese_the_deciding_reason_is_first_too() -> None:
    with translation.override("zh-hans"):
        first, others = reasons.deciding_words(f"0/60 nodes are available: 1 {TAINT}, 59 Insufficient cpu.")
    assert first.startswith("59 ")
    assert others.startswith("1 ")
