"""Why this node and not that one, and why this pod was evicted: read from the decision of the cycle."""

from collections.abc import Sequence
from typing import Final

import msgspec
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from schedviz.jobs.job import State
from schedviz.jobs.question import Question
from simulator.decision import Decision
from simulator.what_if.comparison import NodeComparison, ScoreDifference, compare_nodes, rank_nodes
from simulator.what_if.eviction import Eviction, Prevention, explain_eviction

from . import format as fmt
from . import meanings, preemption
from .what_if import outcome, pods

OTHERS_AT_MOST: Final = 500
"""Nodes to choose from: more make no list that anybody reads."""


class Side(msgspec.Struct, frozen=True):
    plugin: str
    weight: int
    raw: tuple[int, int]
    weighted: tuple[int, int]
    difference: str
    decides: bool


class Why(msgspec.Struct, frozen=True):
    cycle: int
    node: str
    other: str
    passed: list[str]
    """Other nodes to choose from, those that passed by their totals, ..."""
    refused: list[str]
    """... and those that did not."""
    sentence: str
    detail: str
    sides: list[Side]
    totals: tuple[int, int] | None


class Evicted(msgspec.Struct, frozen=True):
    by: SafeString
    cycle: int
    node: str
    rule: str
    sentences: list[str]
    spared: SafeString


class Saved(msgspec.Struct, frozen=True):
    state: State
    finished: bool
    savings: list[tuple[str, SafeString]]
    """What would have saved it, and what the preemptor would have done then."""
    trouble: str


def why(decision: Decision, other: str) -> Why:
    """``other``: the node to compare with; the next best one without it, or where it is not among them.
    Raises LookupError for a decision without a chosen node."""
    passed = [node for node in rank_nodes(decision) if node != decision.selected]
    among = {*passed}
    refused = [node for node in decision.nodes if node != decision.selected and node not in among]
    if other not in decision.nodes or other == decision.selected:
        other = next(iter([*passed, *refused]), "")
    found = compare_nodes(decision, other) if other else None
    return Why(
        cycle=decision.cycle,
        node=decision.selected,
        other=other,
        passed=passed[:OTHERS_AT_MOST],
        refused=refused[:OTHERS_AT_MOST],
        sentence=sentence(found) if found else gettext("There is no other node."),
        detail=detail(found) if found else "",
        sides=[side(each) for each in found.differences if any(each.raw) or each.difference] if found else [],
        totals=found.totals if found else None,
    )


def side(found: ScoreDifference) -> Side:
    return Side(
        found.plugin,
        found.weight,
        found.raw,
        found.weighted,
        f"{found.difference:+d}".replace("-", "\u2212"),
        found.decides,
    )


def sentence(found: NodeComparison) -> str:
    said = {"node": found.node, "other": found.other}
    if found.how == "refused" and found.failure:
        return gettext("%(other)s was filtered out by %(plugin)s.") % {**said, "plugin": found.failure.plugin}
    if found.how == "unseen" or found.totals is None:
        return gettext("No scores: %(other)s was not scored beside %(node)s.") % said
    if found.how == "lot":
        return gettext("%(node)s and %(other)s have the same total, and the seed drew %(node)s.") % said
    said["lead"] = fmt.number(found.totals[0] - found.totals[1])
    deciders = [each.plugin for each in found.differences if each.decides]
    if len(deciders) == 1:
        text = gettext(
            "%(node)s is ahead by %(lead)s. %(plugin)s decided: without it, %(node)s would not have been so."
        )
        return text % {**said, "plugin": deciders[0]}
    if deciders:
        text = gettext(
            "%(node)s is ahead by %(lead)s. Without any one of %(plugins)s it would not have been ahead."
        )
        return text % {**said, "plugins": fmt.listed(deciders)}
    text = gettext("%(node)s is ahead by %(lead)s. No single plugin decided; %(plugin)s gave the most of it.")
    return text % {**said, "plugin": found.differences[0].plugin}


def detail(found: NodeComparison) -> str:
    if found.failure is None:
        return ""
    said = [f"{reason}: {meanings.reason(reason)}".removesuffix(": ") for reason in found.failure.reasons]
    return " ".join(said)


# Evictions


def evicted(decision: Decision, victim: str, base: str) -> Evicted | None:
    """None where that cycle evicted no such pod."""
    try:
        found = explain_eviction(decision, victim)
    except LookupError:
        return None
    return Evicted(
        by=pods([found.preemptor], base),
        cycle=found.cycle,
        node=found.node,
        rule=preemption.sentence(decision),
        sentences=[*reasons(found)],
        spared=pods(found.spared, base),
    )


def reasons(found: Eviction) -> Sequence[str]:
    said = {
        "mine": fmt.number(found.priority),
        "theirs": fmt.number(found.preemptor_priority),
        "pod": fmt.pod_name(found.preemptor),
        "node": found.node,
    }
    texts = [
        gettext("Its priority, %(mine)s, is lower than that of %(pod)s, %(theirs)s: so it could be evicted.")
        % said
    ]
    if found.turn:
        text = gettext(
            "The scheduler took all pods of lower priority from %(node)s in thought, and put them back one "
            "by one, the most important first. It was number %(turn)s of %(n)s: with it, %(pod)s did not fit."
        )
        texts.append(text % {**said, "turn": found.turn, "n": len(found.tried)})
    if found.violates_pdb:
        texts.append(
            gettext("Its PodDisruptionBudget was broken: a budget is kept only where that is possible.")
        )
    return texts


SAVINGS: Final = {
    "priority": gettext_noop("A priority of its own of {after} instead of {before}."),
    "budget": gettext_noop("A PodDisruptionBudget for {what} that allows no disruption."),
    "request": gettext_noop("A smaller preemptor: {what} {after} instead of {before}."),
    "preemptor-priority": gettext_noop("A preemptor with a priority of {after} instead of {before}."),
}


def saved(question: Question, base: str) -> Saved:
    return Saved(
        state=question.state,
        finished=question.finished,
        savings=[(saving_text(each), after(each, base)) for each in question.savings],
        trouble=question.trouble,
    )


def saving_text(said: Prevention) -> str:
    return gettext(SAVINGS[said.kind]).format(what=said.what, before=said.before, after=said.after)


def after(said: Prevention, base: str) -> SafeString:
    if said.outcome.kind in ("bound", "nominated"):
        return outcome(said.outcome, base)
    return SafeString(gettext("Then the preemptor stays pending."))
