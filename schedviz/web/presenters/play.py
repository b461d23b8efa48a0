"""A preemption in steps, which the page plays one after the other.

For each candidate: all pods of lower priority are removed, then put back one by one. Then each rule removes
candidates. Upstream: SelectVictimsOnNode and pickOneNodeForPreemption, v1.34."""

from collections.abc import Iterator
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext, gettext_noop, ngettext

from simulator.decision import Candidate, Decision, Preemption

from . import format as fmt
from . import preemption
from .node_names import node_name

CANDIDATES_AT_MOST: Final = 4
PODS_AT_MOST: Final = 12

Place = Literal["lifted", "trying", "stays", "victim"]

RULES: Final = (
    gettext_noop("Rule 1: the fewest PodDisruptionBudget violations."),
    gettext_noop("Rule 2: the least important top victim."),
    gettext_noop("Rule 3: the smallest sum of the victims' priorities."),
    gettext_noop("Rule 4: the fewest victims."),
    gettext_noop("Rule 5: the latest start of the most important victims."),
)


class PlayedPod(msgspec.Struct, frozen=True):
    """A pod of lower priority, and its state in this step."""

    label: str
    priority: str
    protected: bool
    place: Place
    words: str


class PlayedCandidate(msgspec.Struct, frozen=True):
    """A candidate, and whether it is still one after this rule."""

    node: str
    figure: str
    out: bool
    """A rule has removed it, in this step or before."""
    now: bool
    """The rule of this step removes it."""
    wins: bool


class PlayStep(msgspec.Struct, frozen=True):
    title: str
    text: str
    node: str = ""
    actors: list[PlayedPod] = []
    ladder: list[PlayedCandidate] = []


def play_steps(decision: Decision) -> list[PlayStep]:
    """The steps of a preemption; empty if the cycle did not preempt."""
    found = decision.preemption
    if found is None or not found.chosen:
        return []
    known = [each for each in found.candidates if each.tried]
    known.sort(key=lambda each: each.node != found.chosen)
    pod = fmt.pod_name(decision.pod)
    made: list[PlayStep] = []
    for candidate in known[:CANDIDATES_AT_MOST]:
        made += victim_steps(pod, candidate)
    return [*made, *rule_steps(decision, found)] if made else []


def victim_steps(pod: str, candidate: Candidate) -> Iterator[PlayStep]:
    """How the victims on one node are found."""
    node, victims = candidate.node, {each.pod: each for each in candidate.victims}
    everybody = victims | {each.pod: each for each in candidate.spared}
    order = candidate.tried[:PODS_AT_MOST]
    places: dict[str, Place] = dict.fromkeys(order, "lifted")

    def scene(text: str) -> PlayStep:
        return PlayStep(
            title=gettext("%(node)s: who would have to go?") % {"node": node_name(node)},
            text=text,
            node=node,
            actors=[
                PlayedPod(
                    fmt.pod_name(key),
                    fmt.compact(everybody[key].priority),
                    everybody[key].violates_pdb,
                    places[key],
                    words(places[key]),
                )
                for key in order
            ],
        )

    count = len(candidate.tried)
    yield scene(
        ngettext(
            "The one pod of lower priority is lifted off. %(pod)s fits now.",
            "All %(n)s pods of lower priority are lifted off. %(pod)s fits now.",
            count,
        )
        % {"n": count, "pod": pod}
    )
    for key in order:
        who = {"who": fmt.pod_name(key), "pod": pod}
        places[key] = "trying"
        if everybody[key].violates_pdb:
            yield scene(gettext("%(who)s goes back first: a PodDisruptionBudget protects it.") % who)
        else:
            yield scene(gettext("%(who)s is put back: does %(pod)s still fit?") % who)
        if key in victims:
            places[key] = "victim"
            yield scene(gettext("No. %(who)s would have to go: a victim.") % who)
        else:
            places[key] = "stays"
            yield scene(gettext("Yes. %(who)s may stay.") % who)
    if count > len(order):
        yield scene(gettext("and so on with the other pods: %(n)s.") % {"n": count - len(order)})


def words(place: Place) -> str:
    return {
        "lifted": gettext("lifted off"),
        "trying": gettext("put back?"),
        "stays": gettext("stays"),
        "victim": gettext("victim"),
    }[place]


def rule_steps(decision: Decision, found: Preemption) -> Iterator[PlayStep]:
    """How the rules choose one of the candidates."""
    title = gettext("Which node?")
    if len(found.candidates) < 2:
        text = gettext("%(node)s is the only candidate.") % {"node": node_name(found.chosen)}
        yield PlayStep(title, text, ladder=[PlayedCandidate(found.chosen, "", False, False, True)])
        return
    out = preemption.eliminating_rules(found.candidates)
    shown = sorted(found.candidates, key=lambda each: (each.node != found.chosen, -out.get(each.node, 9)))
    shown = shown[: preemption.CANDIDATES_AT_MOST]
    last = min(found.rule, len(RULES)) or len(RULES)
    for rule in range(1, last + 1):
        standings = [
            PlayedCandidate(
                each.node,
                preemption.texts(each)[rule - 1],
                out=out.get(each.node, 9) <= rule,
                now=out.get(each.node) == rule,
                wins=rule == found.rule and each.node == found.chosen,
            )
            for each in shown
        ]
        falls = sum(each.now for each in standings)
        text = gettext(RULES[rule - 1]) + " "
        if rule == found.rule:
            text = preemption.preemption_sentence(decision)
        elif falls:
            text += ngettext("%(n)s node falls out.", "%(n)s nodes fall out.", falls) % {"n": falls}
        else:
            text += gettext("All that are left are equal here.")
        yield PlayStep(title, text, ladder=standings)
    if found.rule > len(RULES):
        left = [
            PlayedCandidate(each.node, "", each.node != found.chosen, False, each.node == found.chosen)
            for each in shown
            if each.node not in out
        ]
        yield PlayStep(title, preemption.preemption_sentence(decision), ladder=left)
