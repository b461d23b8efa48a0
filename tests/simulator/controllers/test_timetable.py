"""Scenarios and their timetables: objects that are created at their time."""

from pathlib import Path

import msgspec
import pytest

from simulator import trace
from simulator.api import SECOND, Manifest
from simulator.apiserver.status import StatusError
from simulator.commands.run import finish_scenario
from simulator.objects.durations import parse_duration
from simulator.scenario import ScenarioError, load_scenario
from simulator.simulation import Options
from tests.simulator.lab import Lab, node, pod

SCENARIOS = sorted((Path(__file__).parents[3] / "schedviz" / "scenarios").glob("*.yaml"))

HEAD = """
apiVersion: schedviz/v1
kind: Scenario
metadata: {name: lesson}
spec: {title: A lesson, pace: 250ms, seed: 5, summary: Two pods.}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {generateName: web-}
spec: {containers: [{name: main, image: web:1}]}
"""


def timetable(*entries: Manifest) -> Manifest:
    return {
        "apiVersion": "schedviz/v1",
        "kind": "Timetable",
        "metadata": {"name": "lesson"},
        "spec": {"entries": [*entries]},
    }


def generated(prefix: str) -> Manifest:
    made = pod(prefix)
    made["metadata"] = {"generateName": prefix}
    return made


def arrivals(lab: Lab) -> list[float]:
    added = [event for event in lab.of(trace.QueueMoved) if event.event == "UnschedulablePodAdd"]
    return [lab.seconds(event) for event in added]


def test_an_entry_deletes_the_object_that_it_names() -> None:
    named = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "short"}}
    lab = Lab()
    lab.create(
        timetable(
            {"at": "1s", "object": pod("short")},
            {"at": "1s", "object": pod("long")},
            {"at": "5s", "object": named, "delete": True},
            {"at": "6s", "object": named | {"metadata": {"name": "none-such"}}, "delete": True},
            {"at": "6s", "object": named | {"kind": "Deployment", "apiVersion": "v7"}, "delete": True},
        )
    )
    lab.run(60)
    assert [*lab.api.objects["pods"]] == ["default/long"]
    assert not lab.of(trace.CreateRefused)
    with pytest.raises(StatusError, match=r"spec.entries\[0\].object.metadata.name: Required value"):
        lab.create(timetable({"at": "1s", "object": {"apiVersion": "v1", "kind": "Pod"}, "delete": True}))


def test_an_entry_changes_the_object_that_it_names() -> None:
    named = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "there"}}
    wrong = named | {"spec": {"containers": []}}
    lab = Lab()
    given = pod("there")
    given["metadata"]["labels"] = {"kept": "1", "dropped": "1"}
    lab.create(given)
    labels = {"added": "1", "dropped": None}
    lab.create(
        timetable(
            {"at": "1s", "object": named | {"metadata": {"name": "there", "labels": labels}}, "change": True},
            {"at": "2s", "object": named | {"metadata": {"name": "none-such"}}, "change": True},
            {"at": "3s", "object": wrong, "change": True},
        )
    )
    lab.run(10)
    assert lab.api.objects["pods"]["default/there"]["metadata"]["labels"] == {"kept": "1", "added": "1"}
    [refused] = lab.of(trace.CreateRefused)
    assert (refused.entry, lab.seconds(refused)) == (2, 3)
    with pytest.raises(StatusError, match=r"spec.entries\[0\].change: Forbidden"):
        lab.create(timetable({"at": "1s", "object": named, "change": True, "delete": True}))


def test_entries_are_created_once_or_repeatedly_until_their_end() -> None:
    lab = Lab()
    lab.create(
        timetable(
            {"at": "2s", "object": pod("once")},
            {"at": "1s", "every": "2500ms", "until": "6s", "object": generated("often-")},
        )
    )
    lab.run(600)
    assert arrivals(lab) == [1, 2, 3.5, 6]
    [kept] = lab.api.objects["timetables.schedviz"].values()
    assert kept["status"] == {"created": [1, 3]}
    names = [key for key in lab.api.objects["pods"] if key.startswith("default/often-")]
    assert len(set(names)) == 3


def test_a_new_leader_continues_the_timetable_exactly() -> None:
    def story(takeover_seconds: float | None) -> list[str]:
        lab = Lab()
        lab.create(node("n1"), timetable({"at": "1s", "every": "2s", "object": generated("web-")}))
        if takeover_seconds is not None:
            lab.run(takeover_seconds)
            lab = Lab(Options(), api=lab.api, now=lab.now)
        lab.run(20 - (takeover_seconds or 0))
        return sorted(lab.api.objects["pods"])

    undisturbed = story(None)
    assert len(undisturbed) == 10
    assert story(3) == story(6.5) == undisturbed


def test_an_entry_that_admission_refuses_is_reported_and_skipped() -> None:
    lab = Lab()
    unknown = pod("unknown", priorityClassName="nobody-knows")
    lab.create(pod("taken"))
    lab.create(timetable({"at": "1s", "object": unknown}, {"at": "2s", "object": pod("fine")}))
    lab.create({**timetable({"at": "1s", "object": pod("taken")}), "metadata": {"name": "second"}})
    lab.run(10)
    assert lab.exists("fine")
    refusals = [(event.timetable, event.entry) for event in lab.of(trace.CreateRefused)]
    assert sorted(refusals) == [("lesson", 0), ("second", 0)]
    assert "nobody-knows" in lab.of(trace.CreateRefused)[0].message


def test_a_changed_or_deleted_timetable_takes_effect_at_once() -> None:
    lab = Lab()
    lab.create(timetable({"at": "5s", "every": "5s", "object": generated("web-")}))
    lab.run(11)
    lab.update(
        "timetables.schedviz",
        "lesson",
        lambda t: {**t, "spec": {"entries": [{**t["spec"]["entries"][0], "every": "4s"}]}},
    )
    lab.run(6)
    lab.delete("timetables.schedviz", "lesson")
    lab.run(60)
    assert arrivals(lab) == [5, 10, 13, 17]


def test_a_scenario_is_split_into_initial_objects_and_a_timetable() -> None:
    scenario = load_scenario(f"{HEAD}---\n{POD}---\nat: 1m30s\nevery: 10s\n{POD.strip()}\n")
    assert (scenario.name, scenario.title, scenario.seed, scenario.pace) == ("lesson", "A lesson", 5, 250_000)
    first, second = scenario.manifests
    assert first["kind"] == "Pod"
    assert second["kind"] == "Timetable"
    [entry] = second["spec"]["entries"]
    assert (entry["at"], entry["every"], entry["object"]) == ("1m30s", "10s", first)


def test_copies_have_consecutive_numbers() -> None:
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: n-9}"
    scenario = load_scenario(f"{HEAD}---\ncopies: 3\n{node}\n---\ncopies: 2\nat: 5s\n{node}\n")
    *nodes, timetable = scenario.manifests
    assert [each["metadata"]["name"] for each in nodes] == ["n-9", "n-10", "n-11"]
    entries = timetable["spec"]["entries"]
    assert [each["object"]["metadata"]["name"] for each in entries] == ["n-9", "n-10"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (POD, "the first document must be of kind Scenario"),
        (HEAD.replace("{name: lesson}", "{}"), "metadata.name"),
        (f"{HEAD}---\nat: soon\n{POD.strip()}\n", "document 2, at: 'soon' is not a duration"),
        (f"{HEAD}---\nat: 5\n{POD.strip()}\n", "document 2, at"),
        (f"{HEAD}---\ncopies: 1001\n{POD.strip()}\n", "document 2, copies: must be a number from 1 to 1000"),
        (f"{HEAD}---\ncopies: 2\n{POD.strip()}\n", "document 2, metadata.name"),
    ],
)
def test_an_invalid_scenario_is_refused_with_the_place(text: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        load_scenario(text)


def test_durations_are_read_as_go_reads_them() -> None:
    assert [parse_duration(text) for text in ("0", "400ms", "1.5s", "1m30s", "2h")] == [
        0, 400_000, 1_500_000, 90 * SECOND, 7200 * SECOND,
    ]  # fmt: skip
    for text in ("", "5", "-1s", "1s1", "1 s", "9" * 40, "9999999h", None, 3):
        with pytest.raises(ValueError, match=r"duration|longer"):
            parse_duration(text)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_bundled_scenario_runs_the_same_every_time(path: Path) -> None:
    first, second = (finish_scenario(load_scenario(path.read_text()), 90 * SECOND).trace for _ in range(2))
    assert msgspec.json.encode(first) == msgspec.json.encode(second)
    assert not [event for event in first if isinstance(event, trace.SchedulerError | trace.CreateRefused)]
    assert len([event for event in first if isinstance(event, trace.Bound)]) >= 3
