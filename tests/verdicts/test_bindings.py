"""Verdicts on bindings."""

import pytest

from simulator.api import SECOND, Manifest
from simulator.memory_sandbox import START, MemorySandbox, SandboxOptions
from simulator.trace import BindingJudged, Event
from simulator.verdict_words import CUT_OFF, in_english
from simulator.verdicts.judged_scheduler import JudgedScheduler
from simulator.verdicts.states import Effort
from simulator.versions.features import DEFAULT_FEATURES, Features
from simulator.versions.kubernetes_version import V1_34
from tests.verdicts.stream import Stream, bare, node, pod

API = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
WEIGHTY: Manifest = {
    **API,
    "profiles": [
        {
            "plugins": {"multiPoint": {"enabled": [{"name": "ImageLocality", "weight": 7}]}},
            "pluginConfig": [
                {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}
            ],
        }
    ],
}
IMAGE = {"images": [{"names": ["app:1"], "sizeBytes": 800_000_000}]}


def with_image(made: Manifest) -> Manifest:
    return {**made, "status": {**made["status"], **IMAGE}}


def verdicts(trace: list[Event]) -> list[BindingJudged]:
    return [each for each in trace if isinstance(each, BindingJudged)]


def only(trace: list[Event]) -> BindingJudged:
    [found] = verdicts(trace)
    return found


def test_a_node_that_the_model_chooses_agrees_at_once() -> None:
    stream = Stream(node("n1"), node("n2", "8"), pod("a"))
    found = only(stream.bind("a", "n2"))
    assert (found.verdict, found.node, found.judged_as) == ("agrees", "n2", "")
    assert not found.scores
    assert in_english(found) == f"n2 has the highest total, {found.total}."


def test_a_verdict_that_waits_at_the_end_is_unknown() -> None:
    stream = Stream(node("n1"), node("n2", "8"), pod("a"))
    assert not verdicts(stream.bind("a", "n1"))
    found = only(stream.judge.end())
    assert (found.verdict, found.reason) == ("unknown", CUT_OFF)


def test_one_of_several_equal_nodes_is_a_tie() -> None:
    stream = Stream(*(node(f"n{number}") for number in range(3)), node("small", "1"), pod("a"))
    found = only(stream.bind("a", "n1"))
    assert (found.verdict, found.equal) == ("tie", 3)


def test_another_configuration_differs_with_the_scores_that_it_gives() -> None:
    """The figures are those of a sandbox with the configuration."""
    objects = [node("n1", "8"), with_image(node("n2", "4"))]
    expected = MemorySandbox(SandboxOptions("model", [*objects, bare(pod("a"))], config=WEIGHTY))
    expected.run("nothing-pending")
    decision = expected.decision(1)
    assert decision is not None
    assert decision.selected == "n2"
    places = [decision.nodes[index] for index in decision.feasible]
    theirs, ours = places.index("n1"), places.index("n2")
    figures = {
        each.plugin: (each.weighted[theirs], each.weighted[ours])
        for each in decision.scores
        if each.weighted[theirs] != each.weighted[ours]
    }

    stream = Stream(*objects, pod("a"), scheduler=JudgedScheduler(DEFAULT_FEATURES, WEIGHTY))
    assert not verdicts(stream.bind("a", "n1"))  # it waits for what other watches may show
    found = only(stream.wait())
    assert (found.verdict, found.best) == ("differs", "n2")
    assert {each.plugin: (each.theirs, each.best) for each in found.scores} == figures
    assert (found.total, found.best_total) == (decision.totals[theirs], decision.totals[ours])
    assert f"n1 had {found.total:,}, n2 {found.best_total:,}: " in in_english(found)
    assert f"ImageLocality 0, not {figures['ImageLocality'][1]}" in in_english(found)


def test_a_node_that_a_filter_rejects_is_impossible() -> None:
    stream = Stream(node("n1", "2"), node("n2", "8"), pod("a", "3"))
    stream.bind("a", "n1")
    found = only(stream.wait())
    assert (found.verdict, found.plugin, found.reason) == (
        "impossible",
        "NodeResourcesFit",
        "Insufficient cpu",
    )
    assert in_english(found) == "NodeResourcesFit rejects n1: Insufficient cpu. The model chooses n2."


def test_it_is_said_which_older_state_fits() -> None:
    """The scheduler had decided before the node was cordoned."""
    stream = Stream(node("n1", "8"), node("n2", "2"), pod("a", "1"))
    stream.now += SECOND
    cordoned = stream.version + 1
    stream.write({**node("n1", "8"), "spec": {"unschedulable": True}})
    stream.now += SECOND // 5
    found = only(stream.bind("a", "n1"))
    assert (found.verdict, found.state.version, found.state.age) == ("agrees", cordoned, SECOND // 5)
    assert f"In the state of 200 ms before (resourceVersion below {cordoned})." in in_english(found)


def test_a_state_that_is_too_old_does_not_count() -> None:
    stream = Stream(node("n1", "8"), node("n2", "2"), pod("a", "1"))
    stream.write({**node("n1", "8"), "spec": {"unschedulable": True}})
    stream.wait(30)
    stream.bind("a", "n1")
    assert only(stream.wait()).verdict == "impossible"


def test_a_pod_that_was_assumed_and_is_bound_later_counts() -> None:
    """a was decided first, and is bound last: b found n1 taken."""
    stream = Stream(node("n1", "8"), node("n2", "4"), pod("a", "6"), pod("b", "2", created=1))
    assert not verdicts(stream.bind("b", "n2"))
    second, first = verdicts(stream.bind("a", "n1"))
    assert [(each.pod, each.verdict) for each in (second, first)] == [
        ("default/b", "agrees"),
        ("default/a", "agrees"),
    ]
    assert second.state.assumed == ["default/a"]
    assert "Pods count that were bound later: default/a." in in_english(second)


def test_a_pod_that_was_decided_later_and_is_bound_first_does_not_count() -> None:
    """With a on n1 there would be no room for b there."""
    stream = Stream(node("n1", "8"), node("n2", "4"), pod("b", "2"), pod("a", "6", created=1))
    stream.bind("a", "n1")
    found = only(stream.bind("b", "n1"))
    assert (found.verdict, found.state.undone) == ("agrees", ["default/a"])


def test_a_node_that_another_watch_shows_late_counts() -> None:
    stream = Stream(node("n1", "2"), pod("a"))
    late = stream.written(node("n2", "8"))
    assert not verdicts(stream.bind("a", "n2"))
    assert only(stream.observe([late])).verdict == "agrees"


def test_pods_of_another_scheduler_and_pods_created_with_a_node_are_not_its_own() -> None:
    stream = Stream(node("n1"), pod("theirs", schedulerName="other"))
    found = only(stream.bind("theirs", "n1"))
    assert (found.verdict, in_english(found)) == (
        "not this scheduler",
        "No profile has its schedulerName, other.",
    )
    static = only(stream.write({**pod("static"), "spec": {**pod("static")["spec"], "nodeName": "n1"}}))
    assert (static.verdict, in_english(static)) == ("not this scheduler", "It was created with its node.")


def test_a_pod_that_was_created_with_its_node_does_not_disturb_others() -> None:
    stream = Stream(node("n1", "8"), node("n2", "4"), pod("a", "6"))
    assert only(stream.write({**pod("static"), "spec": {**pod("static")["spec"], "nodeName": "n1"}}))
    found = only(stream.bind("a", "n2") + stream.wait())
    assert (found.verdict, found.best) == ("impossible", "n1")


def test_a_pod_of_a_daemon_set_is_a_normal_one() -> None:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    stream = Stream(node("n1", "8"), node("n2"), pod("agent", affinity={"nodeAffinity": required}))
    found = only(stream.bind("agent", "n2"))
    assert (found.verdict, in_english(found)) == (
        "agrees",
        "n2 is the only node that passes the filters.",
    )


@pytest.mark.parametrize(("node_number", "verdict"), [(0, "agrees"), (50, "sampled"), (159, "differs")])
def test_a_node_that_is_the_best_of_a_sample_is_told_from_one_that_never_is(
    node_number: int, verdict: str
) -> None:
    """160 nodes, of which 100 are scored: the first is the largest, the last the smallest."""
    sizes = {0: "16", 159: "3"}
    nodes = [node(f"n{number:03}", sizes.get(number, "8")) for number in range(160)]
    stream = Stream(*nodes, pod("a"))
    found = only(stream.bind("a", f"n{node_number:03}") + stream.wait())
    assert (found.verdict, found.looked_at) == (verdict, 100 if verdict == "sampled" else 0)
    assert ("percentageOfNodesToScore" in in_english(found)) == (verdict == "sampled")


def test_a_scheduler_of_another_version_is_judged_by_the_nearest_which_the_verdict_says() -> None:
    scheduler = JudgedScheduler(Features(V1_34), said="v1.31.4+k3s1")
    stream = Stream(node("n1"), pod("a"), scheduler=scheduler)
    found = only(stream.bind("a", "n1"))
    assert found.judged_as == V1_34.patch
    assert in_english(found).endswith(
        f"Judged by the rules of {V1_34.patch}, the nearest version that is modelled."
    )


def test_further_states_are_tried_as_far_as_the_judge_keeps_pace() -> None:
    effort, now = Effort(), START
    tried = 0
    while effort.spend(1000, now):
        tried += 1
    assert 400 < tried < 500
    assert not effort.spend(1000, now)
    more = sum(effort.spend(1000, now + SECOND) for _ in range(200))
    assert 40 < more < 50


@pytest.mark.parametrize(("is_listed", "verdict"), [(False, "not this scheduler"), (True, "unknown")])
def test_a_pod_that_is_seen_first_with_its_node(is_listed: bool, verdict: str) -> None:
    """Its watch event was lost, and a list shows it: it may have been created without the node."""
    stream = Stream(node("n1"))
    change = stream.written(pod("a", nodeName="n1"))
    judged = only(stream.judge.observe(change, stream.now, is_listed=is_listed))
    assert judged.verdict == verdict
