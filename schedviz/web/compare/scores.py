"""The score tables of two decisions side by side: both have the same nodes, in the same order."""

from collections.abc import Sequence
from heapq import nsmallest
from typing import Final

import msgspec

from simulator.decision import Decision

BEST_AT_MOST: Final = 6
"""Maximum number of nodes of each side, its best ones."""
NOT_SCORED: Final = "\u2013"


class NodeScores(msgspec.Struct, frozen=True):
    node: str
    cells: list[str]
    """The weighted score that each plugin gave it."""
    total: str
    selected: bool


class ScoresOfSide(msgspec.Struct, frozen=True):
    """The weighted scores of one decision: a column for each plugin, a row for each node of both sides."""

    plugins: list[str]
    rows: list[NodeScores]


def compare_scores(decisions: Sequence[Decision | None]) -> list[ScoresOfSide | None]:
    """Return the tables of the decisions; None for one without scores. The nodes are ordered by their totals
    in the first decision that has scores; those that only another one scored come last."""
    scored = [each for each in decisions if each is not None and each.totals]
    nodes = [*dict.fromkeys(node for each in scored for node in _best(each))]
    return [_table(each, nodes) if each is not None and each.totals else None for each in decisions]


def _name(decision: Decision, place: int) -> str:
    return str(decision.nodes[decision.feasible[place]])


def _best(decision: Decision) -> list[str]:
    totals = decision.totals
    best = nsmallest(
        BEST_AT_MOST,
        range(len(totals)),
        key=lambda place: (-totals[place], _name(decision, place) != decision.selected, place),
    )
    return [_name(decision, place) for place in best]


def _table(decision: Decision, nodes: list[str]) -> ScoresOfSide:
    wanted = {*nodes}
    places = {
        name: place for place in range(len(decision.totals)) if (name := _name(decision, place)) in wanted
    }

    def row(node: str) -> NodeScores:
        at = places.get(node)
        if at is None:
            return NodeScores(node, [NOT_SCORED] * len(decision.scores), NOT_SCORED, selected=False)
        cells = [str(each.weighted[at]) for each in decision.scores]
        return NodeScores(node, cells, str(decision.totals[at]), selected=node == decision.selected)

    return ScoresOfSide([each.plugin for each in decision.scores], [row(node) for node in nodes])
