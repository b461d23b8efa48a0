"""The recording of an outside scheduler beside the model: which writes the model is given."""

from collections.abc import Callable

from simulator.api import SECOND, Manifest, WatchEvent
from simulator.apiserver.new_cluster import new_cluster
from simulator.compare.answer import Comparison
from simulator.compare.comparison_run import Side
from simulator.compare.model_run import with_profiles
from simulator.compare.outside_comparison import OutsideComparison
from simulator.compare.recorded_history import RecordedHistory, RecordedWrite
from simulator.compare.workload import workload_of_objects
from simulator.config.configuration import MAX_PROFILES
from simulator.memory import MemoryStorage
from simulator.objects.conditions import with_condition
from simulator.objects.metadata import with_metadata
from tests.simulator.lab import START, node, pod

Edit = Callable[[Manifest], Manifest]


class Story:
    """A recorded history, made by the test."""

    def __init__(self, *manifests: Manifest) -> None:
        self.api = MemoryStorage()
        self.api.commit(new_cluster(manifests, START))
        self.api.take_events()
        self.workload = workload_of_objects(self.api.objects, START, 0, 1)
        self.writes: list[RecordedWrite] = []

    def edit(self, second: int, resource: str, key: str, edit: Edit, *, own: bool = False) -> None:
        known = next(
            (each.event.object for each in reversed(self.writes) if each.event.key == key),
            self.api.objects[resource][key],
        )
        event = WatchEvent("MODIFIED", resource, key, edit(known), 1000 + len(self.writes))
        self.writes.append(RecordedWrite(START + second * SECOND, own, event))

    def add(self, second: int, manifest: Manifest, *, own: bool = False) -> None:
        change = new_cluster([manifest], START + second * SECOND)[-1]
        assert change.object is not None
        written = with_metadata(change.object, resourceVersion=str(1000 + len(self.writes)))
        event = WatchEvent("ADDED", change.resource, change.key, written, 1000 + len(self.writes))
        self.writes.append(RecordedWrite(START + second * SECOND, own, event))

    def compare(self) -> Comparison:
        history = RecordedHistory(self.workload, self.writes, START + 60 * SECOND)
        run = OutsideComparison(history, Side(), 3600 * SECOND)
        assert [*run.run()][-1] == 1.0
        return run.result()


def bound(name: str) -> Edit:
    return lambda old: {**old, "spec": {**old["spec"], "nodeName": name}}


def test_equal_placements_have_no_difference() -> None:
    story = Story(node("n1"), pod("a", schedulerName="other"), pod("b"))
    story.edit(2, "pods", "default/a", bound("n1"))
    story.edit(3, "pods", "default/b", bound("n1"))
    found = story.compare()
    assert found.pods
    assert (found.pods.same, found.pods.different, found.pods.first) == (2, 0, None)
    assert (found.a.bound, found.b.bound) == (2, 2)


def test_the_model_gets_the_writes_of_clients() -> None:
    gated = pod("gated", schedulingGates=[{"name": "example.com/g"}])
    story = Story(node("n1", cpu="1"), gated, pod("large", "4"))
    ungated = {field: value for field, value in gated["spec"].items() if field != "schedulingGates"}
    story.edit(5, "pods", "default/gated", lambda old: {**old, "spec": {**ungated}})
    story.add(10, node("n2"))
    story.add(20, pod("own", "4"), own=True)
    found = story.compare()
    assert found.pods
    first = found.pods.first
    assert first
    assert (first.pod, first.a, first.b) == ("default/gated", "", "n1")
    assert first.b_time == START + 5 * SECOND
    # The large pod has room from the new node on; what a component wrote is its own in the model.
    assert (found.pods.same, found.pods.different, found.b.bound) == (0, 2, 2)
    assert found.b.curves[0].last == 0


def test_the_model_does_not_get_the_acts_of_the_outside_scheduler() -> None:
    story = Story(node("n1"), pod("victim", nodeName="n1"))
    message = "other: preempting to accommodate a higher priority pod"

    def preempted(old: Manifest) -> Manifest:
        marked = with_condition(
            old, START, "DisruptionTarget", "True", reason="PreemptionByScheduler", message=message
        )
        return with_metadata(marked, deletionTimestamp="2025-01-01T00:00:40Z", deletionGracePeriodSeconds=30)

    story.edit(10, "pods", "default/victim", preempted)
    story.add(20, pod("small"))
    found = story.compare()
    assert (found.a.preempted, found.b.preempted) == (1, 0)
    assert found.pods
    assert found.pods.first
    assert found.pods.first.pod == "default/small"
    requested = found.b.curve("requested:cpu")
    assert requested
    assert requested.last == 50, "the victim is still there"


def test_each_name_of_an_outside_scheduler_has_the_first_profile_of_the_model() -> None:
    config: Manifest = {"profiles": [{"schedulerName": "a", "percentageOfNodesToScore": 50}, {}]}
    made = with_profiles(config, ["a", "default-scheduler", "other"])
    assert made["profiles"] == [
        {"schedulerName": "a", "percentageOfNodesToScore": 50},
        {},
        {"schedulerName": "other", "percentageOfNodesToScore": 50},
    ]
    many = with_profiles(None, [f"s{number}" for number in range(30)])
    assert len(many["profiles"]) == MAX_PROFILES
