"""Comparison of two nodes of a decision: why the pod was placed on one and not on the other."""

from typing import Literal

import msgspec

from simulator.decision import Decision, Failure, PluginScores


class ScoreDifference(msgspec.Struct, frozen=True):
    """One score plugin's scores of two nodes. In each pair the first is the chosen node's."""

    plugin: str
    weight: int
    raw: tuple[int, int]
    normalized: tuple[int, int]
    """The scores from 0 to 100."""
    weighted: tuple[int, int]
    """The normalized score times the weight, as added to the totals."""
    difference: int
    """The difference of the weighted scores: positive in favour of the chosen node."""
    decides: bool
    """Whether the chosen node would not have had the higher total without this plugin."""


class NodeComparison(msgspec.Struct, frozen=True):
    """The reason (``how``) for which the ``other`` node was not chosen:

    * scores: its total is lower; ``differences`` are sorted, the largest first
    * lot: its total is equal, and the chosen node was drawn; with ``differences`` too
    * refused: a filter plugin rejected it; ``failure`` is the reason
    * unseen: the scheduler did not filter it, because it had found enough nodes or the nominated node fits
    """

    pod: str
    node: str
    other: str
    how: Literal["scores", "lot", "refused", "unseen"]
    totals: tuple[int, int] | None = None
    differences: list[ScoreDifference] = []
    failure: Failure | None = None


def compare_nodes(decision: Decision, other: str, node: str = "") -> NodeComparison:
    """Compare two nodes of a decision: the chosen one, or another feasible ``node``, and any ``other`` node.

    Raises LookupError for a node that is not in the decision, and if no node was chosen or given."""
    node = node or decision.selected
    if node not in decision.nodes or other not in decision.nodes:
        raise LookupError(f"the decision knows no node {other if node in decision.nodes else node!r}")
    verdict = decision.verdicts[decision.nodes.index(other)]
    if verdict > 0:
        failure = decision.failures[verdict - 1]
        return NodeComparison(decision.pod, node, other, "refused", failure=failure)
    places = {decision.nodes[index]: place for place, index in enumerate(decision.feasible)}
    if node not in places or other not in places or not decision.totals:
        return NodeComparison(decision.pod, node, other, "unseen")
    one, two = places[node], places[other]
    totals = decision.totals[one], decision.totals[two]
    lead = totals[0] - totals[1]
    differences = [_score_difference(scores, one, two, lead) for scores in decision.scores]
    return NodeComparison(
        decision.pod,
        node,
        other,
        "scores" if lead else "lot",
        totals,
        sorted(differences, key=lambda d: -d.difference),
    )


def _score_difference(scores: PluginScores, one: int, two: int, lead: int) -> ScoreDifference:
    weighted = scores.weighted[one], scores.weighted[two]
    difference = weighted[0] - weighted[1]
    return ScoreDifference(
        scores.plugin,
        scores.weight,
        (scores.raw[one], scores.raw[two]),
        (scores.normalized[one], scores.normalized[two]),
        weighted,
        difference,
        decides=lead > 0 and lead - difference <= 0,
    )


def rank_nodes(decision: Decision) -> list[str]:
    """Return the feasible nodes: the chosen one first, the others by their totals."""
    totals = decision.totals or [0] * len(decision.feasible)
    order = sorted(range(len(decision.feasible)), key=lambda place: -totals[place])
    names = [decision.nodes[decision.feasible[place]] for place in order]
    return sorted(names, key=lambda name: name != decision.selected)
