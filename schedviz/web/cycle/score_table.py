"""The score table of one cycle: a row for each of the best nodes, a column for each plugin."""

from heapq import nsmallest
from typing import Final

import msgspec
from django.utils.translation import gettext

from schedviz.web.text.node_names import node_name
from simulator.decision import Decision

SCORED_AT_MOST: Final = 8
"""Maximum number of rows of the score table: nodes, best first."""


class ScoreCell(msgspec.Struct, frozen=True):
    plugin: str
    weight: int
    best: int
    """The largest weighted score in the column, which is the full width of a bar."""
    raw: int
    normalized: int
    weighted: int


class ScoreRow(msgspec.Struct, frozen=True):
    node: str
    cells: list[ScoreCell]
    """The cells in the order of the plugins."""
    total: int


class Scores(msgspec.Struct, frozen=True):
    plugins: list[tuple[str, int]]
    """The columns: each plugin with its weight."""
    rows: list[ScoreRow]
    """The best nodes, the selected one first."""
    more: int
    skipped: list[str]
    sentence: str
    left_out: int = 0
    """Nodes that were not looked at, because enough others were feasible."""


def scores(decision: Decision) -> Scores | None:
    if not decision.totals:
        return None
    shown = best_first(decision)
    best = [max((row.weighted[at] for at in shown), default=0) for row in decision.scores]
    sample = decision.sample
    return Scores(
        plugins=[(row.plugin, row.weight) for row in decision.scores],
        rows=[
            ScoreRow(
                decision.nodes[decision.feasible[at]],
                [
                    ScoreCell(row.plugin, row.weight, most, row.raw[at], row.normalized[at], row.weighted[at])
                    for row, most in zip(decision.scores, best, strict=True)
                ],
                decision.totals[at],
            )
            for at in shown
        ],
        more=len(decision.totals) - len(shown),
        skipped=decision.pre_score_skipped,
        sentence=score_sentence(decision, shown),
        left_out=decision.verdicts.count(-1) if sample else 0,
    )


def best_first(decision: Decision) -> list[int]:
    """Return the feasible nodes that the score table shows, as indexes; of nodes with equal totals the
    selected one is first."""
    selected = decision.selected

    def sort_key(place: int) -> tuple[int, bool, int]:
        return -decision.totals[place], decision.nodes[decision.feasible[place]] != selected, place

    return nsmallest(SCORED_AT_MOST, range(len(decision.totals)), key=sort_key)


def node_at(decision: Decision, place: str) -> str:
    """Return the node in a row of the score table, counted from 0; empty if there is no such row."""
    shown = best_first(decision)
    if not place.isdecimal() or len(place) > 2 or int(place) >= len(shown):
        return ""
    return decision.nodes[decision.feasible[shown[int(place)]]]


def score_sentence(decision: Decision, best: list[int]) -> str:
    """Return a sentence that says why the selected node won."""
    top = decision.totals[best[0]]
    if len(decision.tied) > 1:
        return gettext("%(n)s nodes have the best total, %(total)s: %(node)s is selected at random.") % {
            "n": len(decision.tied),
            "total": top,
            "node": node_name(decision.selected),
        }
    if len(best) == 1:
        return gettext("%(node)s is the only node to score.") % {"node": node_name(decision.selected)}
    second = decision.nodes[decision.feasible[best[1]]]
    return gettext("%(node)s wins with %(total)s, %(lead)s ahead of %(second)s.") % {
        "node": node_name(decision.selected),
        "total": top,
        "lead": top - decision.totals[best[1]],
        "second": node_name(second),
    }
