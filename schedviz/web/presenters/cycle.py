"""One scheduling attempt, read from its Decision: the stepper, the filter matrix and the score table."""

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext
from msgspec.structs import replace

from simulator.decision import Decision, Failure, TwoPasses
from simulator.trace import LaneEntry

from . import format as fmt
from . import meanings, preemption, reasons
from .picture import Picture
from .priority import Ranks

ROWS_AT_MOST: Final = 40
"""Rows of the filter matrix; beyond, the table counts nodes by verdict and lists the first of each."""
MEANINGS_AT_MOST: Final = 8
"""Reasons explained below the matrix: taints may differ from node to node."""
SCORED_AT_MOST: Final = 8
"""Nodes set side by side in the score table, best first."""

StepState = Literal["done", "failed", "skipped", "current", "todo"]
Mark = Literal["pass", "fail", "unseen"]


class CycleStep(msgspec.Struct, frozen=True):
    name: str
    state: StepState
    figure: str
    """How many nodes came through, where that says something."""


class FilterRow(msgspec.Struct, frozen=True):
    """``marks`` in the order of the matrix's plugins. ``nodes`` > 1: that many nodes share this verdict."""

    node: str
    nodes: int
    marks: list[Mark]
    reason: str
    passed: bool
    looked: bool = True
    """False: the search had ended, or a PreFilter had narrowed it."""


class Matrix(msgspec.Struct, frozen=True):
    plugins: list[str]
    rows: list[FilterRow]
    skipped: list[str]
    """Plugins whose PreFilter had nothing to say for this pod: their filters did not run."""
    feasible: int
    total: int
    two_passes: list[TwoPasses]
    meanings: list[tuple[str, str]]
    """Each reason, and what it means."""


class ScoreCell(msgspec.Struct, frozen=True):
    node: str
    raw: int
    normalized: int
    weighted: int


class ScoreRow(msgspec.Struct, frozen=True):
    plugin: str
    weight: int
    cells: list[ScoreCell]
    best: int
    """The largest weighted score in the row: what the bars are drawn against."""


class Scores(msgspec.Struct, frozen=True):
    nodes: list[str]
    rows: list[ScoreRow]
    totals: list[int]
    more: int
    skipped: list[str]
    sentence: str


class EarlierPreemption(msgspec.Struct, frozen=True):
    cycle: int
    text: str


class CycleView(msgspec.Struct, frozen=True):
    cycle: int
    time: str
    pod: str
    label: str
    attempt: int
    priority: str
    rank: int
    requests: str
    profile: str
    outcome: str
    headline: str
    message: str
    steps: list[CycleStep]
    matrix: Matrix | None
    """None before the filters have run."""
    scores: Scores | None
    preemption: preemption.PreemptionView | None
    earlier: EarlierPreemption | None = None


def cycle(picture: Picture, ranks: Ranks) -> CycleView | None:
    """The last cycle of the sandbox; None before the first."""
    if picture.decision is None:
        return None
    under_way = picture.under_way
    here = under_way is not None and under_way.cycle == picture.decision.cycle
    point = under_way.point if under_way and here else ""
    entry = picture.lanes.get(picture.decision.pod)
    return replace(present_cycle(picture.decision, ranks, point, entry), earlier=earlier(picture))


def earlier(picture: Picture) -> EarlierPreemption | None:
    """Preemption is what people wait for, and the next cycle is fast: the way back to the last one."""
    decision = picture.preemption
    if decision is None or decision.preemption is None or decision is picture.decision:
        return None
    pod, node = fmt.pod_name(decision.pod), decision.preemption.chosen
    text = gettext("%(pod)s preempts on %(node)s") % {"pod": pod, "node": node}
    return EarlierPreemption(decision.cycle, text)


def present_cycle(
    decision: Decision, ranks: Ranks, point: str = "", entry: LaneEntry | None = None
) -> CycleView:
    """``point`` is the extension point that a cycle under way stands before; ``entry`` the pod's place in the
    queue, which tells that its binding cycle waits on Permit."""
    view = whole(decision, ranks, point)
    if entry is None or entry.lane != "waiting" or entry.attempts != decision.attempt:
        return view
    said = {"node": decision.selected, "pod": view.label, "plugins": fmt.listed(entry.plugins)}
    return replace(
        view,
        outcome="waiting",
        steps=standing(view.steps, "Permit"),
        headline=gettext("%(node)s is reserved for %(pod)s, which waits on Permit for %(plugins)s.") % said,
    )


def whole(decision: Decision, ranks: Ranks, point: str) -> CycleView:
    return CycleView(
        cycle=decision.cycle,
        time=fmt.clock(decision.t),
        pod=decision.pod,
        label=fmt.pod_name(decision.pod),
        attempt=decision.attempt,
        priority=fmt.number(decision.priority),
        rank=ranks.rank(decision.priority),
        requests=fmt.requests(decision.requests),
        profile=decision.profile,
        outcome=decision.outcome,
        headline=headline(decision, point),
        message=decision.message,
        steps=standing(steps(decision), point),
        matrix=None if point in ("PreFilter", "Filter") else matrix(decision),
        scores=scores(decision),
        preemption=preemption.present_preemption(decision),
    )


def headline(decision: Decision, point: str = "") -> str:
    """The outcome in a sentence; or what comes next."""
    pod = fmt.pod_name(decision.pod)
    if point and decision.selected:
        text = gettext("%(node)s is chosen for %(pod)s. Next: %(point)s.")
        return text % {"pod": pod, "node": decision.selected, "point": point}
    if point:
        return gettext("%(pod)s is under way. Next: %(point)s.") % {"pod": pod, "point": point}
    if decision.outcome == "scheduled":
        if decision.nominated_shortcut:
            text = gettext("%(pod)s goes to %(node)s, the node it was nominated to.")
        elif len(decision.feasible) == 1:
            text = gettext("%(pod)s goes to %(node)s, the only node that fits.")
        elif len(decision.tied) > 1:
            text = gettext("%(pod)s goes to %(node)s, drawn among the nodes with the best score.")
        else:
            text = gettext("%(pod)s goes to %(node)s, the node with the best score.")
        return text % {"pod": pod, "node": decision.selected}
    if decision.outcome == "preempting" and decision.preemption is not None:
        return gettext("%(pod)s fits no node. Preemption makes room on %(node)s.") % {
            "pod": pod,
            "node": decision.preemption.chosen,
        }
    if decision.outcome == "error":
        return gettext("The attempt for %(pod)s failed with an error.") % {"pod": pod}
    return reasons.fits_no_node(pod, decision.message)


def steps(decision: Decision) -> list[CycleStep]:
    """The extension points of the scheduling cycle and of the binding cycle, as this attempt went through
    them."""
    total, feasible = len(decision.nodes), len(decision.feasible)
    stopped = decision.pre_filter is not None and decision.pre_filter.code not in ("Success", "Skip")
    fits = decision.outcome == "scheduled"
    scored = bool(decision.totals)
    after: StepState = "done" if fits else "skipped"
    post = decision.preemption
    return [
        CycleStep("PreFilter", "failed" if stopped else "done", ""),
        CycleStep(
            "Filter",
            "skipped" if stopped else "done" if feasible else "failed",
            f"{feasible}/{total}",
        ),
        CycleStep(
            "PostFilter",
            "skipped" if post is None else "done" if post.chosen else "failed",
            (post.chosen or gettext("none")) if post is not None else "",
        ),
        CycleStep(
            "Score", "done" if fits and scored else "skipped", str(max(decision.totals)) if scored else ""
        ),
        CycleStep("Reserve", after, ""),
        CycleStep("Permit", after, ""),
        CycleStep("Bind", after, decision.selected),
    ]


def standing(steps: list[CycleStep], point: str) -> list[CycleStep]:
    """The steps of a cycle that stands before a point; as they are where it stands before none."""
    name = {"PreScore": "Score", "PreBind": "Bind", "PostBind": "Bind"}.get(point, point)
    names = [step.name for step in steps]
    if name not in names:
        return steps
    place = names.index(name)
    return [
        *steps[:place],
        CycleStep(name, "current", ""),
        *(CycleStep(name, "todo", "") for name in names[place + 1 :]),
    ]


def matrix(decision: Decision) -> Matrix:
    plugins = decision.filter_plugins
    rows = grouped(decision) if len(decision.nodes) > ROWS_AT_MOST else one_by_one(decision)
    return Matrix(
        plugins=plugins,
        rows=rows,
        skipped=decision.pre_filter.skipped if decision.pre_filter else [],
        feasible=len(decision.feasible),
        total=len(decision.nodes),
        two_passes=decision.two_passes,
        meanings=explained([failure.reasons for failure in decision.failures]),
    )


def explained(said: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    """The distinct reasons of these failures whose meaning is known."""
    distinct = dict.fromkeys(reason for reasons in said for reason in reasons)
    told = ((reason, meanings.reason_meaning(reason)) for reason in distinct)
    return [(reason, meaning) for reason, meaning in told if meaning][:MEANINGS_AT_MOST]


def one_by_one(decision: Decision) -> list[FilterRow]:
    return [
        filter_row(decision, node, 1, code)
        for node, code in zip(decision.nodes, decision.verdicts, strict=True)
    ]


def grouped(decision: Decision) -> list[FilterRow]:
    """One row for each distinct verdict, most nodes first."""
    counts = Counter(decision.verdicts)
    by_count = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:ROWS_AT_MOST]
    return [
        filter_row(decision, decision.nodes[decision.verdicts.index(code)], count, code)
        for code, count in by_count
    ]


def filter_row(decision: Decision, node: str, nodes: int, code: int) -> FilterRow:
    plugins = decision.filter_plugins
    if code < 0:
        return FilterRow(
            node, nodes, ["unseen"] * len(plugins), gettext("not looked at"), passed=False, looked=False
        )
    if code == 0:
        return FilterRow(node, nodes, ["pass"] * len(plugins), "", passed=True)
    failure = decision.failures[code - 1]
    return FilterRow(node, nodes, marks(plugins, failure), ", ".join(failure.reasons), passed=False)


def marks(plugins: list[str], failure: Failure) -> list[Mark]:
    """Filters run in order and stop at the first that says no."""
    if failure.by_pre_filter or failure.plugin not in plugins:
        return ["unseen"] * len(plugins)
    place = plugins.index(failure.plugin)
    return [
        "pass" if index < place else "fail" if index == place else "unseen" for index in range(len(plugins))
    ]


def scores(decision: Decision) -> Scores | None:
    if not decision.totals:
        return None
    shown = best_first(decision)
    return Scores(
        nodes=[decision.nodes[decision.feasible[place]] for place in shown],
        rows=[
            ScoreRow(
                plugin=row.plugin,
                weight=row.weight,
                cells=[
                    ScoreCell(
                        decision.nodes[decision.feasible[at]],
                        row.raw[at],
                        row.normalized[at],
                        row.weighted[at],
                    )
                    for at in shown
                ],
                best=max((row.weighted[at] for at in shown), default=0),
            )
            for row in decision.scores
        ],
        totals=[decision.totals[at] for at in shown],
        more=len(decision.totals) - len(shown),
        skipped=decision.pre_score_skipped,
        sentence=score_sentence(decision, shown),
    )


def best_first(decision: Decision) -> list[int]:
    """The feasible nodes that the score table shows, the selected one before its equals."""
    selected = decision.selected

    def standing(place: int) -> tuple[int, bool, int]:
        return -decision.totals[place], decision.nodes[decision.feasible[place]] != selected, place

    return nsmallest(SCORED_AT_MOST, range(len(decision.totals)), key=standing)


def node_at(decision: Decision, place: str) -> str:
    """The node in a column of the score table, counted from 0; empty where there is none."""
    shown = best_first(decision)
    if not place.isdecimal() or len(place) > 2 or int(place) >= len(shown):
        return ""
    return decision.nodes[decision.feasible[shown[int(place)]]]


def score_sentence(decision: Decision, best: list[int]) -> str:
    top = decision.totals[best[0]]
    if len(decision.tied) > 1:
        return gettext("%(n)s nodes share the best total, %(total)s: the seed draws %(node)s.") % {
            "n": len(decision.tied),
            "total": top,
            "node": decision.selected,
        }
    if len(best) == 1:
        return gettext("%(node)s is the only node to score.") % {"node": decision.selected}
    second = decision.nodes[decision.feasible[best[1]]]
    return gettext("%(node)s wins with %(total)s, %(lead)s ahead of %(second)s.") % {
        "node": decision.selected,
        "total": top,
        "lead": top - decision.totals[best[1]],
        "second": second,
    }
