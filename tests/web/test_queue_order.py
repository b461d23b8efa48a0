"""activeQ on the page: in the order in which pods are popped, in each version of the queue."""

from random import Random
from typing import Any

import pytest

from schedviz.web.picture.picture import Picture
from schedviz.web.picture.priority import Ranks
from schedviz.web.queue.lanes import LaneView, lanes
from schedviz.web.queue.order import sort_key
from simulator.api import SECOND, Manifest
from simulator.framework.interface import Plugin, QueueSortPlugin
from simulator.objects.pod import Pod
from simulator.plugins.registry import in_tree
from simulator.queueing.queue_version import QueueVersion
from simulator.simulation import Options
from simulator.trace import QueuePlace
from tests.simulator.lab import Lab, node, pod, priority_class
from tests.web.samples import START, lane

HISTORIES = 6
ROUNDS = 12


class LongestName(QueueSortPlugin):
    """Pods with long names first, independent of their priority."""

    name = "LongestName"

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[Any, ...]:
        return (-len(pod.key), timestamp % 3)


LONGEST_NAME = {
    "profiles": [
        {"plugins": {"queueSort": {"enabled": [{"name": "LongestName"}], "disabled": [{"name": "*"}]}}}
    ]
}


def any_pod(random: Random) -> Manifest:
    name = f"{random.choice('abcxyz') * random.randint(1, 3)}-{random.getrandbits(32):x}"
    priority = random.choice([{}, {"priorityClassName": "high"}, {"priorityClassName": "low"}])
    return pod(name, f"{random.choice([100, 900, 5000])}m", **priority)


def history(random: Random, queue: QueueVersion, *, own_sort: bool) -> Lab:
    """The history of a cluster that is too small for its pods. It stops while pods wait in all lanes."""
    plugins: dict[str, type[Plugin]] = {**in_tree(), "LongestName": LongestName}
    options = Options(queue=queue, pace=SECOND // 10, config=LONGEST_NAME if own_sort else None)
    made = Lab(options, plugins=plugins)
    made.create(priority_class("high", 1000), priority_class("low", -5), node("n1", cpu="3"))
    for _ in range(ROUNDS):
        made.create(*(any_pod(random) for _ in range(random.randint(1, 6))))
        made.run(random.choice([0, 0, 0.05, 0.3, 0.8]))
    made.create(node("n2", cpu="1"))
    made.run(0.2)
    return made


@pytest.mark.parametrize("queue", QueueVersion)
@pytest.mark.parametrize("own_sort", [False, True], ids=["PrioritySort", "another QueueSort plugin"])
def test_the_order_shown_is_that_in_which_pods_are_popped(queue: QueueVersion, own_sort: bool) -> None:
    seen = {"activeQ": 0, "backoffQ": 0}
    for seed in range(HISTORIES):
        made = history(Random(seed), queue, own_sort=own_sort)
        waiting = made.simulation._scheduler.queue
        # These pods wait for the end of their backoff, as all pods in backoffQ do in older queues.
        held = {info.pod.key for info in waiting.backoff_q.errors}
        shown = [
            entry.pod
            for name in ("activeQ", "backoffQ")
            for entry in sorted((e for e in made.lanes.values() if e.lane == name), key=sort_key)
            if entry.pod not in held
        ]
        for name in seen:
            seen[name] += sum(entry.lane == name for entry in made.lanes.values())
        popped = [info.pod.key for info in iter(waiting.active_q.pop, None)]
        assert shown == popped, f"history {seed}"
    assert seen["activeQ"] > HISTORIES, "some of these histories must end with pods in activeQ"


def active_queue(*entries: QueuePlace) -> LaneView:
    picture = Picture()
    picture.queue_places = {entry.pod: entry for entry in entries}
    return next(view for view in lanes(picture, Ranks([])) if view.name == "activeQ")


def test_pods_of_the_same_priority_are_listed_under_the_rule_that_orders_them() -> None:
    view = active_queue(
        lane("alone", "activeQ", 100),
        lane("b", "activeQ", 5, queued=START + 1, sequence=3),
        lane("a", "activeQ", 5, queued=START + 2, sequence=2),
        lane("z", "activeQ", 0, sequence=7),
        lane("y", "activeQ", 0, sequence=8),
        lane("later", "activeQ", -1, queued=START + 1, sequence=9),
        lane("last", "activeQ", -1, queued=START + 9, sequence=11),
        lane("last-too", "activeQ", -1, queued=START + 9, sequence=10),
    )
    assert [chip.label for chip in view.chips] == ["alone", "b", "a", "z", "y", "later", "last-too", "last"]
    assert [(tie.first, len(tie.pods), tie.rule) for tie in view.ties] == [
        ("default/b", 2, "same priority: by time added to the queue"),
        ("default/z", 2, "same priority and time added: as received"),
        ("default/later", 3, "same priority: by time added, then as received"),
    ]
    assert [chip.label for chip in view.chips if not chip.tied] == ["alone"]
    assert "Kubernetes does not define the order" in view.ties[1].explanation
    assert "After a failed attempt" in view.ties[0].explanation


def test_a_queue_without_priorities_has_no_ties_and_another_plugin_its_own() -> None:
    fifo = active_queue(lane("b", "activeQ", place=1), lane("a", "activeQ", place=2))
    assert [chip.label for chip in fifo.chips] == ["b", "a"]
    assert (fifo.hint, fifo.ties) == ("by arrival", [])
    assert active_queue().hint == "", "an empty queue does not show what orders it"
    own = active_queue(
        lane("b", "activeQ", 0, sort_key=["x", 1]),
        lane("a", "activeQ", 9, sort_key=["x", 1], sequence=1),
        lane("c", "activeQ", 5, sort_key=["a", 2], sequence=2),
    )
    assert [chip.label for chip in own.chips] == ["c", "b", "a"]
    assert own.hint == "by the QueueSort plugin"
    assert [tie.rule for tie in own.ties] == ["same sort key: as received"]
