"""The informer: events pass the reflector, the delta FIFO and the indexer, and the handlers are called."""

from collections.abc import Mapping

from simulator.api import Manifest, WatchEvent
from simulator.client.informer import LATEST, Informer, Passed
from simulator.simulation import Options
from simulator.trace import Bound, QueueMoved, WatchRelisted
from tests.simulator.lab import Lab, node, pod


def event(kind: str, key: str, version: int, resource: str = "pods") -> WatchEvent:
    manifest: Manifest = {"metadata": {"name": key, "resourceVersion": str(version)}}
    return WatchEvent(kind, resource, key, manifest, version)  # type: ignore[arg-type]  # one of the literals


def handled(informer: Informer) -> list[tuple[str, str, int]]:
    """Process all deltas. Returns the calls of the handlers, each with the version before (0 = none)."""
    calls: list[tuple[str, str, int]] = []
    while informer.waiting:
        for delta in informer.pop():
            old = informer.apply(delta)
            before = int(old["metadata"]["resourceVersion"]) if old else 0
            calls.append((delta.type, delta.key, before))
    return calls


def test_changes_of_a_waiting_object_are_handled_in_order() -> None:
    informer = Informer()
    for version, (kind, key) in enumerate(
        [("ADDED", "a"), ("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "a")], start=1
    ):
        informer.watch(event(kind, key, version))
    assert informer.pipeline().waiting == 2
    assert informer.list("pods").items == [], "nothing is known before it was popped"
    assert handled(informer) == [
        ("ADDED", "a", 0),
        ("MODIFIED", "a", 1),
        ("DELETED", "a", 3),
        ("ADDED", "b", 0),
    ]
    assert informer.list("pods").items == [event("ADDED", "b", 2).object]


def test_a_list_delivers_the_changes_that_the_watch_missed() -> None:
    informer = Informer()
    informer.replace([event("ADDED", key, version) for version, key in enumerate("abc", start=1)], 3)
    handled(informer)
    informer.watch(event("MODIFIED", "c", 4))
    missed = [event("ADDED", "a", 1), event("ADDED", "c", 7), event("ADDED", "d", 8)]
    assert informer.replace(missed, 9) == 1
    calls = handled(informer)
    assert calls == [("MODIFIED", "c", 3), ("ADDED", "c", 4), ("ADDED", "d", 0), ("DELETED", "b", 2)]
    assert informer.version == 9
    assert {m["metadata"]["name"] for m in informer.list("pods").items} == {"a", "c", "d"}


def test_the_pipeline_counts_the_events_of_each_stage_and_has_the_latest() -> None:
    informer = Informer()
    informer.replace([event("ADDED", f"p{i}", i) for i in range(1, 4)], 3)
    handled(informer)
    informer.replace([event("ADDED", f"p{i}", i) for i in range(2, 4)], 4)
    handled(informer)
    for version in range(5, 15):
        informer.watch(event("ADDED", f"q{version}", version))
    pipeline = informer.pipeline()
    stages = pipeline.reflector, pipeline.delta_fifo, pipeline.indexer, pipeline.handlers
    assert (pipeline.lists, pipeline.version, pipeline.waiting) == (2, 14, 10)
    assert [stage.count for stage in stages] == [15, 6, 2, 4]
    assert pipeline.reflector.latest == [Passed("ADDED", "pods", f"q{v}") for v in range(10, 15)]
    assert pipeline.delta_fifo.latest[-1] == Passed("Deleted", "pods", "p1")
    assert pipeline.indexer.latest[-1] == Passed("Delete", "pods", "p1")
    assert pipeline.handlers.latest[-1] == Passed("OnDelete", "pods", "p1")
    assert all(len(stage.latest) <= LATEST for stage in stages)


def listed(objects: Mapping[str, Mapping[str, Manifest]]) -> list[WatchEvent]:
    found = [
        WatchEvent("ADDED", resource, key, manifest, int(manifest["metadata"]["resourceVersion"]))
        for resource, kept in objects.items()
        for key, manifest in kept.items()
    ]
    return sorted(found, key=lambda event: event.version)


def test_a_simulation_whose_watch_was_interrupted_continues_from_a_list() -> None:
    lab = Lab(Options())
    lab.create(node("n1", cpu="2"), pod("runs", "2"), pod("waits", "2"), pod("leaves", "1"))
    lab.run(2)
    assert [bound.pod for bound in lab.of(Bound)] == ["default/runs"]
    # The watch does not deliver these changes:
    for key in ("default/runs", "default/leaves"):
        lab.api.objects["pods"].pop(key)
    lab.api.version += 2
    version = lab.api.version
    lab.simulation.relist(listed(lab.api.objects), version)
    lab.run(2)
    assert [bound.pod for bound in lab.of(Bound)] == ["default/runs", "default/waits"]
    [relisted] = lab.of(WatchRelisted)
    assert (relisted.gone, relisted.version) == (2, version)
    assert lab.lanes == {}
    assert [move.target for move in lab.of(QueueMoved) if move.pod == "default/leaves"][-1] == ""
