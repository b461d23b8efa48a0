"""Why a pod went to this node and not to that one: read from the decision of its cycle."""

from typing import Literal

import msgspec

from simulator.decision import Decision, Failure, PluginScores


class Difference(msgspec.Struct, frozen=True):
    """One score plugin's word on two nodes, the chosen one first in each pair."""

    plugin: str
    weight: int
    raw: tuple[int, int]
    normalized: tuple[int, int]
    """From 0 to 100."""
    weighted: tuple[int, int]
    """What is added to the totals."""
    difference: int
    """In favour of the chosen node; below 0 against it."""
    decides: bool
    """Without this plugin the chosen node would not have been ahead."""


class Comparison(msgspec.Struct, frozen=True):
    """``how`` the other node fell behind: by its scores; by lot among equals (``scores`` and ``lot`` come
    with ``differences``, the greatest contribution first); refused by a filter, with the ``failure``; or
    unseen: the scheduler did not look at it, having found nodes enough, or its nominated one."""

    pod: str
    node: str
    other: str
    how: Literal["scores", "lot", "refused", "unseen"]
    totals: tuple[int, int] | None = None
    differences: list[Difference] = []
    failure: Failure | None = None


def compare(decision: Decision, other: str, node: str = "") -> Comparison:
    """Two nodes of a decision: the chosen one, unless another is given that passed, and any other. Raises
    LookupError for a node that the decision does not know, or where no node was chosen or given."""
    node = node or decision.selected
    if node not in decision.nodes or other not in decision.nodes:
        raise LookupError(f"the decision knows no node {other if node in decision.nodes else node!r}")
    verdict = decision.verdicts[decision.nodes.index(other)]
    if verdict > 0:
        failure = decision.failures[verdict - 1]
        return Comparison(decision.pod, node, other, "refused", failure=failure)
    places = {decision.nodes[index]: place for place, index in enumerate(decision.feasible)}
    if node not in places or other not in places or not decision.totals:
        return Comparison(decision.pod, node, other, "unseen")
    one, two = places[node], places[other]
    totals = decision.totals[one], decision.totals[two]
    lead = totals[0] - totals[1]
    differences = [_difference(scores, one, two, lead) for scores in decision.scores]
    return Comparison(
        decision.pod,
        node,
        other,
        "scores" if lead else "lot",
        totals,
        sorted(differences, key=lambda d: -d.difference),
    )


def _difference(scores: PluginScores, one: int, two: int, lead: int) -> Difference:
    weighted = scores.weighted[one], scores.weighted[two]
    difference = weighted[0] - weighted[1]
    return Difference(
        scores.plugin,
        scores.weight,
        (scores.raw[one], scores.raw[two]),
        (scores.normalized[one], scores.normalized[two]),
        weighted,
        difference,
        decides=lead > 0 and lead - difference <= 0,
    )


def ranking(decision: Decision) -> list[str]:
    """The nodes that passed: the chosen one, then by their totals."""
    totals = decision.totals or [0] * len(decision.feasible)
    order = sorted(range(len(decision.feasible)), key=lambda place: -totals[place])
    names = [decision.nodes[decision.feasible[place]] for place in order]
    return sorted(names, key=lambda name: name != decision.selected)
