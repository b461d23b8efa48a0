"""Verdicts on messages of a scheduler, and on whom it evicts."""

from typing import Any

import pytest

from simulator.api import SECOND, Manifest
from simulator.objects.timestamps import timestamp
from simulator.trace import Event, FailureJudged, OutsideFailed, PreemptionJudged, VictimReplaced
from simulator.verdict_words import CUT_OFF, STATES_LEFT, WAS_CUT_OFF, in_english
from simulator.verdicts.followed_cluster import HISTORY
from simulator.verdicts.judged_scheduler import JudgedScheduler
from simulator.verdicts.states import Effort
from simulator.versions.features import DEFAULT_FEATURES
from tests.verdicts.stream import Stream, event, node, pod

CPU = "0/2 nodes are available: 2 Insufficient cpu."
NOT_HELPFUL = "0/2 nodes are available: 2 Preemption is not helpful for scheduling."
MESSAGE = f"{CPU} no new claims to deallocate, preemption: {NOT_HELPFUL}"
DISRUPTED = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "PreemptionByScheduler",
    "message": "default-scheduler: preempting to accommodate a higher priority pod",
}


def failures(trace: list[Event]) -> list[FailureJudged]:
    return [each for each in trace if isinstance(each, FailureJudged)]


def preemptions(trace: list[Event]) -> list[PreemptionJudged]:
    return [each for each in trace if isinstance(each, PreemptionJudged)]


# Messages


def test_the_same_message_agrees() -> None:
    stream = Stream(node("n1"), node("n2"), pod("a", "9"))
    [found] = failures(stream.fail("a", MESSAGE))
    assert (found.verdict, in_english(found)) == ("agrees", "The model's message is the same.")
    assert not failures(stream.write(event("FailedScheduling", stream.pod("a"), MESSAGE)))


def test_an_event_that_cuts_the_message_off_agrees() -> None:
    stream = Stream(node("n1"), node("n2"), pod("a", "9"))
    cut = event("FailedScheduling", stream.pod("a"), f"{MESSAGE[:60]} ...")
    [found] = failures(stream.write(cut))
    assert found.verdict == "agrees"


def test_another_message_differs_with_that_of_the_model() -> None:
    stream = Stream(node("n1"), node("n2"), pod("a", "9"))
    [found] = failures(stream.fail("a", CPU.replace("2 Insuff", "1 Too many pods, 1 Insuff")) + stream.wait())
    assert (found.verdict, found.model) == ("differs", MESSAGE)
    assert in_english(found) == f"The model's message: {MESSAGE}"


def test_a_pod_that_the_model_would_bind_differs() -> None:
    stream = Stream(node("n1"), node("n2", "1"), pod("a", "2"))
    [found] = failures(stream.fail("a", MESSAGE) + stream.wait())
    assert (found.verdict, in_english(found)) == ("differs", "The model binds it to n1.")


def test_a_fault_of_the_binding_cycle_is_not_judged() -> None:
    stream = Stream(node("n1"), pod("a"))
    fault = 'running PreBind plugin "VolumeBinding": binding volumes: timed out'
    [found] = failures(stream.fail("a", fault))
    assert (found.verdict, in_english(found)) == (
        "unknown",
        "The scheduler had found a node, and failed after that.",
    )


def test_an_attempt_that_only_its_event_shows_is_judged() -> None:
    """The message is the same, so the condition does not change: the Event of the next attempt is another
    one, as the pod has changed, and those after it raise the count of its series."""
    stream = Stream(node("n1"), node("n2"), pod("a", "9"))
    stream.fail("a", MESSAGE)
    said = event("FailedScheduling", stream.pod("a"), MESSAGE)
    assert not failures(stream.write(said))
    stream.now += 3 * SECOND
    second = {**said, "metadata": {**said["metadata"], "name": "a.second"}}
    [again] = failures(stream.write(second) + stream.wait())
    assert (again.verdict, again.message) == ("agrees", MESSAGE)
    stream.now += 3 * SECOND
    stream.write(node("n2", "16"))
    stream.now += 30 * SECOND
    assert not failures(stream.write({**second, "series": {"count": 2}}))
    [third] = failures(stream.wait())
    assert (third.verdict, third.best, third.message) == ("differs", "n2", MESSAGE)
    assert not failures(stream.write({**second, "series": {"count": 2}}) + stream.wait())


def test_a_count_that_is_written_long_after_the_last_attempt_is_none() -> None:
    """client-go writes the count of a series once more when it has ended, some minutes later (finishSeries in
    client-go/tools/events/event_broadcaster.go)."""
    stream = Stream(node("n1"), node("n2"), pod("a", "9"))
    stream.fail("a", MESSAGE)
    said = event("FailedScheduling", stream.pod("a"), MESSAGE)
    stream.write(said)
    stream.write(node("n2", "16"))
    stream.now += 360 * SECOND
    late = {"count": 4, "lastObservedTime": timestamp(stream.now - 359 * SECOND)}
    assert not failures(stream.write({**said, "series": late}) + stream.wait())
    now = {"count": 5, "lastObservedTime": timestamp(stream.now)}
    assert len(failures(stream.write({**said, "series": now}) + stream.wait())) == 1


def test_an_event_before_the_condition_that_its_attempt_changes_is_not_judged_twice() -> None:
    stream = Stream(node("n1"), node("n2"), pod("a", "9"))
    said = event("FailedScheduling", stream.pod("a"), MESSAGE)
    [found] = failures(stream.fail("a", MESSAGE) + stream.write(said))
    assert found.verdict == "agrees"
    stream.now += 30 * SECOND
    stream.write(node("n3"))
    now = MESSAGE.replace("0/2", "0/3").replace("2 ", "3 ")
    assert not failures(stream.write({**said, "series": {"count": 2}}))
    [found] = failures(stream.fail("a", now) + stream.wait())
    assert (found.verdict, found.message) == ("agrees", now)


def test_a_condition_shows_the_attempt_whose_event_came_before_it() -> None:
    """The Event of the next attempt, which fails with the same message, is not taken for that one."""
    stream = Stream(node("n1"), node("n2"), pod("a", "9"))
    said = event("FailedScheduling", stream.pod("a"), MESSAGE)
    stream.fail("a", MESSAGE)
    stream.write(said)
    stream.now += 30 * SECOND
    stream.write(node("n3"))
    now = MESSAGE.replace("0/2", "0/3").replace("2 ", "3 ")
    stream.write({**said, "series": {"count": 2}})
    found = stream.fail("a", now)
    stream.now += SECOND
    found += stream.write({**said, "series": {"count": 3}}) + stream.wait()
    assert [(each.verdict, each.message) for each in failures(found)] == [("agrees", now)] * 2


def test_an_event_that_comes_late_has_the_message_of_its_own_attempt() -> None:
    """The condition has that of a later attempt by then."""
    stream = Stream(node("n1"), node("n2"), pod("a", "9"))
    said = event("FailedScheduling", stream.pod("a"), MESSAGE)
    stream.fail("a", MESSAGE)
    stream.write(said)
    stream.now += 30 * SECOND
    late = [stream.written({**said, "series": {"count": 2}})]
    found: list[Event] = []
    for count in (3, 4):
        stream.write(node(f"n{count}"))
        found += stream.fail("a", MESSAGE.replace("0/2", f"0/{count}").replace("2 ", f"{count} "))
        late.append(stream.written({**said, "series": {"count": count}}))
    found += stream.observe(late) + stream.wait()
    assert {each.verdict for each in failures(found)} == {"agrees"}
    assert len(failures(found)) == 3


def test_an_event_that_repeats_another_says_nothing_of_an_attempt_that_is_judged() -> None:
    """client-go keeps the note of the first."""
    stream = Stream(node("n1"), node("n2"), pod("a", "9"))
    stream.fail("a", MESSAGE)
    old = event("FailedScheduling", stream.pod("a"), "0/1 nodes are available: 1 Insufficient cpu.")
    repeated = stream.write({**old, "series": {"count": 2}})
    assert not [each for each in repeated if isinstance(each, OutsideFailed | FailureJudged)]


# What is not known


def test_a_message_soon_after_a_list_is_unknown_unless_the_model_agrees() -> None:
    """The state in which it was decided may be older than the list."""
    stream = Stream(node("n1"), node("n2", "1"), pod("a", "2"), pod("b", "9"))
    stream.now -= 1
    other = MESSAGE.replace("0/2", "0/1").replace("2 ", "1 ")
    found = failures(stream.fail("a", MESSAGE) + stream.fail("b", MESSAGE) + stream.wait())
    assert [(each.pod, each.verdict) for each in found] == [
        ("default/b", "agrees"),
        ("default/a", "unknown"),
    ]
    assert in_english(found[1]) == WAS_CUT_OFF
    stream.now += HISTORY
    [found_later] = failures(stream.fail("a", other) + stream.wait())
    assert found_later.verdict == "differs"


def test_a_message_soon_after_a_change_that_only_a_list_shows_is_unknown() -> None:
    """How the node was before, and for how long, is not known."""
    stream = Stream(node("n1"), node("n2", "1"), pod("a", "2"))
    stream.judge.observe(stream.written(node("n1", "3")), stream.now, is_listed=True)
    [found] = failures(stream.fail("a", MESSAGE) + stream.wait())
    assert (found.verdict, found.model) == ("unknown", CUT_OFF)


def test_a_message_about_a_pod_that_only_a_later_list_shows_is_unknown() -> None:
    stream = Stream(node("n1"), node("n2"))
    said = stream.written(event("FailedScheduling", pod("a", "9"), MESSAGE))
    stream.judge.observe(stream.written(pod("a", "9")), stream.now, is_listed=True)
    [found] = failures(stream.observe([said]) + stream.wait())
    assert (found.verdict, found.model) == ("unknown", CUT_OFF)


def test_a_verdict_waits_for_all_that_was_received_with_what_ends_its_time() -> None:
    """The watch of the nodes is late: the message is that of three nodes."""
    stream = Stream(node("n1"), node("n2"), pod("a", "9"))
    added = stream.written(node("n3"))
    now = MESSAGE.replace("0/2", "0/3").replace("2 ", "3 ")
    assert not failures(stream.fail("a", now))
    stream.now += 3 * SECOND
    [found] = failures(stream.observe([stream.written(pod("b")), added]))
    assert found.verdict == "agrees"


def test_a_message_is_unknown_if_no_effort_is_left_for_other_states(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(node("n1"), node("n2", "1"), pod("a", "2"))
    stream.write(node("n2", "1", spec={"unschedulable": True}))
    monkeypatch.setattr(Effort, "spend", lambda *_, **__: False)
    [found] = failures(stream.fail("a", MESSAGE) + stream.wait())
    assert (found.verdict, found.model) == ("unknown", STATES_LEFT)


# Preemption


def low(name: str, cpu: str, on: str, **fields: Any) -> Manifest:
    return pod(name, cpu, nodeName=on, priority=1, terminationGracePeriodSeconds=30, **fields)


def a_full_cluster(scheduler: JudgedScheduler | None = None) -> Stream:
    """Two nodes that are full; on n1 it takes one victim, on n2 two."""
    return Stream(
        node("n1"),
        node("n2"),
        low("one", "4", "n1", owner="web"),
        low("two", "2", "n2"),
        low("three", "2", "n2"),
        pod("high", "4", priority=100, owner="train"),
        scheduler=scheduler,
    )


def evict(stream: Stream, name: str) -> list[Event]:
    victim = stream.pod(name)
    metadata = {**victim["metadata"], "deletionTimestamp": "2025-01-01T00:01:00Z"}
    status = {**victim["status"], "conditions": [DISRUPTED]}
    return stream.write({**victim, "metadata": metadata, "status": status})


def preempted(stream: Stream, name: str, by: str = "high", node: str = "n1") -> list[Event]:
    note = f"Preempted by pod uid-{by} on node {node}"
    return stream.write(event("Preempted", stream.pod(name), note))


def test_the_preemptor_is_found_by_the_uid_in_the_event() -> None:
    stream = a_full_cluster()
    assert not preemptions(evict(stream, "one"))
    [found] = preemptions(preempted(stream, "one"))
    assert (found.verdict, found.preemptor, found.preemptor_uid, found.owner) == (
        "agrees",
        "default/high",
        "uid-high",
        "ReplicaSet train",
    )
    assert {each.node: sorted(each.victims) for each in found.candidates} == {
        "n1": ["default/one"],
        "n2": ["default/three", "default/two"],
    }
    assert "Rule 3 decided: n1 has the smallest sum of victim priorities." in in_english(found)


def test_the_nomination_names_the_preemptor_where_there_is_no_event() -> None:
    stream = a_full_cluster()
    stream.fail("high", CPU, nominatedNodeName="n1")
    [found] = preemptions(evict(stream, "one") + stream.wait())
    assert (found.verdict, found.preemptor, found.preemptor_uid) == ("agrees", "default/high", "uid-high")


def test_a_preemptor_that_is_not_known_is_unknown() -> None:
    stream = a_full_cluster()
    evict(stream, "one")
    [found] = preemptions(preempted(stream, "one", by="gone") + stream.wait())
    assert (found.verdict, found.preemptor, found.preemptor_uid) == ("unknown", "", "uid-gone")
    assert in_english(found) == "It is not known for which pod."


def test_a_preemptor_that_is_gone_by_now_is_found() -> None:
    stream = a_full_cluster()
    evict(stream, "one")
    stream.delete("pods", "default/high")
    [found] = preemptions(preempted(stream, "one"))
    assert (found.verdict, found.preemptor) == ("agrees", "default/high")


def test_another_node_differs_with_the_rule_and_the_candidates() -> None:
    stream = a_full_cluster()
    evict(stream, "two")
    [found] = preemptions(preempted(stream, "two", node="n2") + stream.wait())
    assert (found.verdict, found.node, found.best, found.rule) == ("differs", "n2", "n1", 3)
    text = in_english(found)
    assert "The model frees n1. Rule 3 decided: n1 has the smallest sum of victim priorities." in text
    assert "Candidates: 2 (" in text


@pytest.mark.parametrize(
    ("name", "verdict"), [("equal-1", "tie"), ("equal-2", "agrees"), ("earlier", "differs")]
)
def test_each_of_several_equally_important_pods_may_be_the_victim(name: str, verdict: str) -> None:
    """kube-scheduler sorts by priority and start time, in seconds, and then leaves the order of its cache."""
    late, early = ({"startTime": f"2025-01-01T00:00:0{second}Z"} for second in (9, 3))
    equal = [low(f"equal-{i}", "1", "n1") | {"status": late} for i in (1, 2)]
    earlier = low("earlier", "1", "n1") | {"status": early}
    stream = Stream(node("n1"), earlier, *equal, pod("high", "2", priority=100))
    evict(stream, name)
    [found] = preemptions(preempted(stream, name) + stream.wait())
    assert found.verdict == verdict
    assert ("have the same priority and start time" in in_english(found)) == (verdict == "tie")


def test_a_preemption_that_was_not_needed_is_impossible() -> None:
    stream = a_full_cluster()
    stream.write(node("n3"))
    stream.now += 60_000_000
    evict(stream, "one")
    [found] = preemptions(preempted(stream, "one") + stream.wait())
    assert (found.verdict, in_english(found)) == (
        "impossible",
        "default/high fits on n3 without evictions.",
    )


def test_it_is_said_whether_a_victim_came_back_and_where() -> None:
    stream = a_full_cluster()
    evict(stream, "one")
    preempted(stream, "one")
    stream.delete("pods", "default/one")
    stream.now += 3_000_000
    stream.write(pod("again", "1", owner="web", created=3))
    stream.write(node("n3"))
    [found] = [each for each in stream.bind("again", "n3") if isinstance(each, VictimReplaced)]
    assert (found.pod, found.node, found.by, found.to, found.waited) == (
        "default/one",
        "n1",
        "default/again",
        "n3",
        3_000_000,
    )


def test_candidates_of_a_part_of_the_nodes_are_sampled() -> None:
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "pluginConfig": [
                    {
                        "name": "DefaultPreemption",
                        "args": {"minCandidateNodesPercentage": 1, "minCandidateNodesAbsolute": 1},
                    }
                ]
            }
        ],
    }
    stream = a_full_cluster(JudgedScheduler(DEFAULT_FEATURES, configuration))
    evict(stream, "two")
    [found] = preemptions(preempted(stream, "two", node="n2") + stream.wait())
    assert (found.verdict, found.best) == ("sampled", "n1")
    assert "minCandidateNodesPercentage" in in_english(found)
