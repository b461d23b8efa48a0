"""One scheduling attempt, read from its Decision: the stepper, the filter matrix and the score table."""

from typing import Literal

import msgspec
from django.utils.translation import gettext
from msgspec.structs import replace

from simulator.decision import Decision
from simulator.trace import LaneEntry

from . import format as fmt
from . import preemption, reasons
from .filter_matrix import Matrix, matrix
from .picture import Picture
from .priority import Ranks
from .score_table import Scores, scores

StepState = Literal["done", "failed", "skipped", "current", "todo"]


class CycleStep(msgspec.Struct, frozen=True):
    name: str
    state: StepState
    figure: str
    """How many nodes came through, where that says something."""


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
