"""The result of a comparison: figures, tables, and the first cycle that differs."""

from typing import Final

import msgspec
from django.utils.translation import gettext, gettext_noop

from schedviz.web.compare.decided_again import DecidedAgainView, decided_nodes, present_decided_again
from schedviz.web.compare.figures import Figure, FigureRow, curves_of, mean_row, present_figures, total_rows
from schedviz.web.compare.placed_again import PlacedView, placed_nodes, present_placed
from schedviz.web.compare.scores import ScoresOfSide, compare_scores
from schedviz.web.compare.waits import MILLISECOND, wait_rows, wait_text
from schedviz.web.cycle import cycle
from schedviz.web.picture.priority import Ranks
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator.api import Micros
from simulator.compare.answer import Comparison, Difference, PodsCompared, Since
from simulator.decision import Decision
from simulator.objects import durations

VICTIMS_AT_MOST: Final = 8

DIFFERENCES: Final = {
    "pod": gettext_noop("another pod was popped"),
    "outcome": gettext_noop("the same pod had another result"),
    "node": gettext_noop("the same pod got another node"),
    "victims": gettext_noop("the same pod on the same node had other victims"),
    "none": gettext_noop("only one side had another cycle"),
}


class SideOfDifference(msgspec.Struct, frozen=True):
    """The act of one of the two schedulers in the first cycle that differs."""

    side: str
    view: cycle.CycleView | None
    brief: str
    victims: str
    scores: ScoresOfSide | None = None


class FirstDifference(msgspec.Struct, frozen=True):
    """The first cycle in which the two schedulers did not do the same."""

    cycle: int
    kind: str
    decided: list[SideOfDifference]


class PodsView(msgspec.Struct, frozen=True):
    """The pods that an outside scheduler (A) and the model (B) placed on the same nodes and on different
    ones."""

    same: int
    different: int
    label: str
    """The first pod that they placed differently; "" = none."""
    decided: list[SideOfDifference]
    since: str
    """The moment from which the sides are compared, with the reason, in a sentence."""


class ComparisonView(msgspec.Struct, frozen=True):
    duration: str
    totals: list[FigureRow]
    means: list[FigureRow]
    waits: list[list[str]]
    figures: list[Figure]
    difference: FirstDifference | None
    placed: PlacedView | None = None
    """The pods that were placed again."""
    cycles: int = 0
    """Number of scheduling cycles of both sides."""
    kept: int = 0
    """Number of pods that had nodes at the start and kept them."""
    pods: PodsView | None = None
    """The pods that were placed alike or not, instead of ``difference``, where A is a recording."""
    decided_again: DecidedAgainView | None = None
    """The decisions of A that change with the version of B."""


def present_comparison(found: Comparison) -> ComparisonView:
    sides = {"A": found.a, "B": found.b}
    return ComparisonView(
        duration=wait_text(found.end),
        totals=total_rows([found.a, found.b], with_cycles=found.pods is None),
        means=[mean_row(each) for each in curves_of(sides, found.end) if each[0][1].name != "preempted"],
        waits=wait_rows([found.a, found.b]),
        figures=present_figures(sides, found.end, found.reference),
        difference=_first_difference(found.difference) if found.difference else None,
        placed=present_placed(found.placed) if found.placed else None,
        cycles=found.a.cycles + found.b.cycles,
        kept=found.kept,
        pods=_pods(found.pods, found.start) if found.pods else None,
        decided_again=present_decided_again(found.decided_again) if found.decided_again else None,
    )


# The first difference


def compared_nodes(found: Comparison) -> tuple[str, ...]:
    """Return the names of all nodes of the first cycle that differs, and of the pods that moved."""
    decisions = (found.difference.a, found.difference.b) if found.difference else ()
    if found.pods and found.pods.first:
        decisions = (None, found.pods.first.decision)
    names = {str(name) for each in decisions if each is not None for name in each.nodes}
    names |= placed_nodes(found.placed) if found.placed else set()
    names |= decided_nodes(found.decided_again) if found.decided_again else set()
    return tuple(sorted(names))


def _first_difference(found: Difference) -> FirstDifference:
    decisions = (found.a, found.b)
    decided = [
        _side_of_difference(side, decision, scores)
        for side, decision, scores in zip("AB", decisions, compare_scores(decisions), strict=True)
    ]
    return FirstDifference(found.cycle, gettext(DIFFERENCES[found.kind]), decided)


def _pods(found: PodsCompared, start: Micros) -> PodsView:
    first, since = found.first, _since(found.since, start)
    if first is None:
        return PodsView(found.same, found.different, "", [], since)
    model = _side_of_difference("B", first.decision, None) if first.decision else None
    recorded = SideOfDifference("A", None, _placed(first.a, first.a_time, start), "")
    decided = SideOfDifference(
        "B",
        model.view if model else None,
        _placed(first.b, first.b_time, start),
        model.victims if model else "",
    )
    return PodsView(found.same, found.different, fmt.pod_name(first.pod), [recorded, decided], since)


def _since(since: Since, start: Micros) -> str:
    match since:
        case "stood-down":
            text = gettext("A is the recording since %(time)s, when the sandbox's scheduler stood down.")
        case "bound":
            text = gettext(
                "A is the recording since %(time)s, the last start of a leader before an outside scheduler "
                "bound a pod."
            )
        case "archive":
            text = gettext("A is the recording since %(time)s: the archive does not have all older writes.")
    return text % {"time": fmt.clock(start)}


def _placed(node: str, time: Micros | None, start: Micros) -> str:
    """Return the node to which a pod was bound, and the time since the beginning of the comparison."""
    if time is None:
        return gettext("not bound")
    return gettext("%(node)s, after %(time)s") % {
        "node": node_name(node),
        "time": durations.format_duration((time - start) // MILLISECOND * MILLISECOND),
    }


def _side_of_difference(
    side: str, decision: Decision | None, scores: ScoresOfSide | None
) -> SideOfDifference:
    if decision is None:
        return SideOfDifference(side, None, gettext("no such cycle"), "")
    view = cycle.present_cycle(decision, Ranks([decision.priority]))
    node = decision.chosen_node
    text = gettext("%(pod)s fits no node")
    if decision.outcome == "error":
        text = gettext("the attempt for %(pod)s failed")
    brief = f"{view.label} → {node_name(node)}" if node else text % {"pod": view.label}
    victims = fmt.first_pods([each.pod for each in decision.victims], VICTIMS_AT_MOST)
    return SideOfDifference(side, view, brief, victims, scores)
