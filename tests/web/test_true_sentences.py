"""Sentences that state facts are true: compared with random histories, whose facts are computed here from the
trace, the decisions and the stored objects."""

import re
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import NamedTuple, cast

import pytest

from schedviz.store import Clock
from schedviz.store.mentions import mentions
from schedviz.store.past import Readable
from schedviz.web.act import Act
from schedviz.web.cycle import cycle, preemption
from schedviz.web.cycle.later import later_turn
from schedviz.web.guide import hint
from schedviz.web.guide.course import present_course
from schedviz.web.log.sentences import EventSentences
from schedviz.web.picture.picture import WATCHED, Picture
from schedviz.web.pods.history import pod_history
from schedviz.web.predict import words
from schedviz.web.predict.grade import ClusterState, grade
from schedviz.web.predict.question import answer, find_popped
from schedviz.web.reasons import messages as reasons
from schedviz.web.text.node_names import node_name
from simulator import trace
from simulator.api import SECOND, Manifest
from simulator.decision import Decision, Preemption
from simulator.harness.random_clusters import random_cluster, random_pending_pod
from simulator.simulation import Options
from tests.simulator.lab import Lab

SEEDS = range(6)
NODES = 4
ROUNDS = 14
LINKS = re.compile(r"<[^>]+>")
SENTENCES = EventSentences("/s/x/")


class History(NamedTuple):
    lab: Lab
    lanes: list[dict[str, str]]
    """The lane of each pod before each trace event, from the moves."""


def without_start(manifest: Manifest) -> Manifest:
    """Return the pod as a dump without times has it: running, with no status.startTime."""
    status = {key: value for key, value in manifest.get("status", {}).items() if key != "startTime"}
    return {**manifest, "status": status} if status else manifest


@cache
def history(seed: int) -> History:
    random = Random(seed)
    lab = Lab(Options(pace=SECOND // 10, seed=seed))
    made = [*random_cluster(random, NODES)]
    lab.create(*(each if seed % 2 else without_start(each) for each in made))
    for number in range(ROUNDS):
        pods = [random_pending_pod(random, f"new-{number}-{at}") for at in range(random.randint(1, 4))]
        lab.create(*({**each, "status": {}} for each in pods))
        lab.run(random.choice([0, 0.1, 1, 6]))
        bound = [each for each in lab.api.objects["pods"].values() if each["spec"].get("nodeName")]
        if bound and random.random() < 0.5:
            lab.delete_pod(random.choice(bound)["metadata"]["name"])
            lab.run(random.choice([0, 0.1, 2]))
        elif bound:  # at once, while pods that failed are in their backoff
            lab.delete("pods", "default/" + random.choice(bound)["metadata"]["name"])
            lab.run(0.5)
    lanes: list[dict[str, str]] = []
    now: dict[str, str] = {}
    for event in lab.trace:
        lanes.append(dict(now))
        if isinstance(event, trace.QueueMoved):
            now.pop(event.pod, None)
            if event.target:
                now[event.pod] = event.target
    return History(lab, lanes)


def picture_of(lab: Lab) -> Picture:
    picture = Picture()
    for resource in WATCHED:
        for manifest in lab.api.objects.get(resource, {}).values():
            picture.object(resource, manifest)
    picture.queue_places = lab.lanes
    for seq, event in enumerate(lab.trace, start=1):
        picture.trace_event(seq, event)
    return picture


def preemptions(lab: Lab) -> Iterator[tuple[Decision, Preemption]]:
    return ((each, each.preemption) for each in lab.decisions if each.preemption is not None)


def said(event: trace.Event) -> str:
    found = SENTENCES.sentence(event)
    return LINKS.sub("", found[1]) if found else ""


@pytest.mark.parametrize("seed", SEEDS)
def test_a_pod_is_popped_from_where_the_log_says(seed: int) -> None:
    made = history(seed)
    for event, lanes in zip(made.lab.trace, made.lanes, strict=True):
        text = said(event)
        if isinstance(event, trace.CycleStarted):
            assert lanes[event.pod] == "inFlight"
            assert "activeQ" not in text
        if "popped from backoffQ" in text:
            assert isinstance(event, trace.QueueMoved)
            assert lanes[event.pod] == "backoffQ"
            assert "activeQ" not in lanes.values()


def test_these_histories_have_what_the_sentences_are_about() -> None:
    events = [event for seed in SEEDS for event in history(seed).lab.trace]
    moves = [event for event in events if isinstance(event, trace.QueueMoved)]
    found = [each for seed in SEEDS for _, each in preemptions(history(seed).lab)]
    assert any((move.source, move.target) == ("backoffQ", "inFlight") for move in moves)
    assert {"eligible", "not"} == {"eligible" if each.eligible else "not" for each in found}
    assert len({each.rule for each in found if each.chosen}) > 1
    assert any(each.eligible and not each.chosen for each in found)
    outcomes = {each.outcome for seed in SEEDS for each in history(seed).lab.decisions}
    assert outcomes >= {"scheduled", "unschedulable", "preempting"}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_headline_of_a_cycle_says_what_its_decision_has(seed: int) -> None:
    for decision in history(seed).lab.decisions:
        text = cycle.headline(decision)
        fits = [decision.nodes[at] for at in decision.feasible]
        if "the only node that fits" in text:
            assert fits == [decision.selected]
        elif "it has the best score" in text:
            best = [
                node
                for node, total in zip(fits, decision.totals, strict=True)
                if total == max(decision.totals)
            ]
            assert best == [decision.selected]
        elif "at random among the nodes with the best score" in text:
            totals = dict(zip(fits, decision.totals, strict=True))
            assert totals[decision.selected] == max(decision.totals)
            assert [*decision.totals].count(max(decision.totals)) > 1
        elif "fits no node" in text:
            assert not fits
            assert ("Its victims are on" in text) == bool(decision.victims)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_rule_of_a_preemption_is_the_one_that_left_one_node(seed: int) -> None:
    for decision, found in preemptions(history(seed).lab):
        text = preemption.preemption_sentence(decision)
        left = [*found.candidates]
        if "the only candidate" in text:
            assert [each.node for each in left] == [found.chosen]
        if "would make no node fit" in text:
            assert found.eligible
            assert not left
        if "Not tried" in text:
            assert not found.eligible
        ruled = re.match(r"Rule (\d) decided", text)
        for rule, greatest in enumerate(preemption.GREATEST_WINS, start=1):
            if ruled is None or not left:
                break
            figures = {each.node: preemption.compared_figure(each, rule) for each in left}
            best = (max if greatest else min)(figures.values())
            left = [each for each in left if figures[each.node] == best]
            if rule == int(ruled[1]):
                assert [each.node for each in left] == [found.chosen]
                break
            assert len(left) > 1
        chosen = found.chosen_candidate
        if "no start time" in text:
            assert chosen
            top = [each for each in chosen.victims if each.priority == chosen.highest_priority]
            assert not any(each.start_time for each in top)


@pytest.mark.parametrize("seed", SEEDS)
def test_predict_does_not_contradict_itself(seed: int) -> None:
    lab = history(seed).lab
    picture = picture_of(lab)
    for decision in lab.decisions:
        popped = find_popped(picture, decision)
        world = ClusterState(picture.queue_places, picture.pods, picture.nodes, picture.by_node, popped)
        lanes = history(seed).lanes
        begun = next(
            at
            for at, event in enumerate(lab.trace)
            if isinstance(event, trace.CycleStarted) and event.cycle == decision.cycle
        )
        pops = [
            (at, event)
            for at, event in enumerate(lab.trace[:begun])
            if isinstance(event, trace.QueueMoved) and (event.pod, event.target) == (decision.pod, "inFlight")
        ]
        at, pop = pops[-1]
        assert popped.lane == pop.source
        text = words.why("next", decision, popped)
        if "activeQ was empty" in text:
            assert "activeQ" not in lanes[at].values()
        if answer("victims", decision) == frozenset():
            graded = grade("victims", frozenset(picture.pods), decision, world)
            mistake = words.mistake(graded, decision)
            tried = decision.preemption is not None and decision.preemption.eligible
            assert ("not tried" in mistake) == (not tried)
            assert ("would make" in mistake) == tried


@pytest.mark.parametrize("seed", SEEDS)
def test_a_pod_that_has_a_node_does_not_fit_no_node(seed: int) -> None:
    """A plugin may reject a pod on Permit. Its Event is the same, so the log says "unschedulable"."""
    for event in history(seed).lab.of(trace.Unschedulable):
        assert "is unschedulable" in said(event)
        assert "fits no node" not in said(event)
        assert "fits no node" not in reasons.unplaced(event.message)


class Read:
    """A lab, read as a sandbox at its end is. The acts of the pods' creators are before the first event."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    def get(self, resource: str, key: str) -> Manifest | None:
        return self._lab.api.objects.get(resource, {}).get(key)

    def about_pod(self, key: str) -> list[tuple[int, trace.Event]]:
        numbered = enumerate(self._lab.trace, start=1)
        return [(seq, event) for seq, event in numbered if key in mentions(event).pods]

    def decision(self, cycle: int) -> Decision | None:
        return next((each for each in self._lab.decisions if each.cycle == cycle), None)

    def pod_events(self, key: str) -> list[trace.Event]:
        return [event for _, event in self.about_pod(key) if getattr(event, "pod", "") == key]

    def under_way(self) -> None:
        return None

    def queue_place(self, key: str) -> trace.QueuePlace | None:
        return self._lab.lanes.get(key)

    def clock(self) -> Clock:
        return Clock(self._lab.now, 1.0, paused=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_box_about_a_pod_claims_only_what_happened(seed: int) -> None:
    lab = history(seed).lab
    evicted_for = {event.preemptor for event in lab.of(trace.VictimDeleted)}
    bound = {event.pod: event.node for event in lab.of(trace.Bound)}
    for key, manifest in lab.api.objects["pods"].items():
        text = present_course(cast(Readable, Read(lab)), Act(1.0, key, manifest["metadata"]["uid"])).text
        if "o pod was evicted" in text:
            assert key not in evicted_for
        if "evict" in text and "o pod was evicted" not in text:
            assert key in evicted_for
        if "It fitted there" in text:
            assert bound[key] == manifest["spec"]["nodeName"]
        if "is unschedulable" in text:
            assert lab.lanes[key].lane == "unschedulable"
        if "scheduling gate" in text:
            assert manifest["spec"]["schedulingGates"]
        if "waits until" in text and "evicts" in text:
            victims = [event.pod for event in lab.of(trace.VictimDeleted) if event.preemptor == key]
            assert any(
                "deletionTimestamp" in each["metadata"]
                for each in map(lab.api.objects["pods"].get, victims)
                if each
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_an_attempt_is_in_progress_only_while_its_pod_is_in_flight(seed: int) -> None:
    lab = history(seed).lab
    pods = {event.pod for event in lab.of(trace.CycleStarted)}
    for pod in pods:
        attempts = pod_history(pod, Read(lab).pod_events(pod)).attempts
        in_progress = [each for each in attempts if each.outcome == "in progress"]
        assert in_progress == [] or (lab.lanes[pod].lane == "inFlight" and in_progress == attempts[:1])


@pytest.mark.parametrize("seed", SEEDS)
def test_what_followed_a_preemption_is_what_the_trace_has(seed: int) -> None:
    lab = history(seed).lab
    read = Read(lab)
    for decision, found in preemptions(lab):
        text = later_turn(decision, read.pod_events(decision.pod), read.decision)
        own = [event for event in lab.of(trace.Bound) if event.pod == decision.pod]
        if "was bound to" in text:
            assert own
            assert own[-1].cycle > decision.cycle
            assert node_name(own[-1].node) in text
        if "deleted before it was bound" in text:
            assert not [event for event in own if event.cycle > decision.cycle]
        if "no longer existed" in text:
            assert found.chosen not in lab.api.objects["nodes"]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_hint_for_all_states_its_condition(seed: int) -> None:
    picture = picture_of(history(seed).lab)
    text = hint.hint(picture).text
    assert "still fits" not in text
    requested = sum(pod.requests.get("cpu", 0) for pods in picture.by_node.values() for pod in pods.values())
    room = sum(node.allocatable.get("cpu", 0) for node in picture.nodes.values())
    if "Less than half of the CPU" in text:
        assert requested * 2 < room


def test_the_panel_of_a_cycle_says_why_it_has_no_decision() -> None:
    lab = history(0).lab
    first = next(at for at, event in enumerate(lab.trace) if isinstance(event, trace.CycleStarted))
    lanes: dict[str, trace.QueuePlace] = {}
    for seq in range(first + 8):
        picture = Picture()
        for number, event in enumerate(lab.trace[:seq], start=1):
            picture.trace_event(number, event)
        known = history(0).lanes[seq]
        pod = getattr(lab.trace[first], "pod", "")
        if pod in known:
            entry = trace.QueuePlace(pod, "u", known[pod], 0, 0, 0, 1)  # type: ignore[arg-type]
            lanes = {pod: entry}
        else:
            lanes = {}
        picture.queue_places = lanes
        text = cycle.no_decision(picture)
        if seq <= first:
            assert text.startswith("No scheduling cycle yet")
        elif lanes and lanes[pod].lane == "inFlight":
            assert "is in progress" in text
        else:
            assert "is not stored" in text
