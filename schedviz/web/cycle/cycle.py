"""One scheduling cycle, read from its Decision: the extension points, the outcome, the tables."""

from typing import Final, Literal

import msgspec
from django.utils.translation import gettext
from msgspec.structs import replace

from schedviz.web.cycle import preemption
from schedviz.web.cycle.filter_matrix import Matrix, matrix
from schedviz.web.cycle.sampling import sample_sentence
from schedviz.web.cycle.score_table import Scores, scores
from schedviz.web.devices.reasons import rejected_nodes
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.priority import Ranks
from schedviz.web.reasons import messages as reasons
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator import trace
from simulator.decision import Decision
from simulator.trace import QueuePlace

StepState = Literal["done", "failed", "skipped", "current", "todo"]


BACK_IN_QUEUE: Final = ("activeQ", "backoffQ", "unschedulable")
"""The lanes of a pod whose attempt has failed."""


class CycleStep(msgspec.Struct, frozen=True):
    """An extension point in the row of steps above the cycle."""

    name: str
    state: StepState
    figure: str
    """The result of the step, such as the number of nodes that passed; empty if it has none."""


class EarlierPreemption(msgspec.Struct, frozen=True):
    """A link to a cycle that preempted, and its text."""

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
    """The verdicts of the Filter plugins; None before they have run."""
    scores: Scores | None
    preemption: preemption.PreemptionView | None
    ended: bool
    """Whether the cycle has ended, and so can be pinned."""
    device_reasons: bool = False
    """Whether it has nodes whose devices could not serve the claims (:mod:`device_reasons`)."""
    sample: str = ""
    """The nodes that were looked at, in a sentence; "" = all."""
    earlier: EarlierPreemption | None = None


def cycle(picture: Picture, ranks: Ranks) -> CycleView | None:
    """Return the newest cycle of the sandbox; None before the first."""
    if picture.decision is None:
        return None
    under_way = picture.under_way
    unfinished = under_way is not None and under_way.cycle == picture.decision.cycle
    point = under_way.point if under_way and unfinished else ""
    entry = picture.queue_places.get(picture.decision.pod)
    return replace(present_cycle(picture.decision, ranks, point, entry), earlier=earlier(picture))


def no_decision(picture: Picture) -> str:
    """Return a sentence that says why there is no decision to show."""
    begun = [event for _, event in picture.trace if isinstance(event, trace.CycleStarted)]
    if not begun:
        return gettext(
            "No scheduling cycle yet. Each cycle schedules one pod, which is popped from the queue."
        )
    values = {"cycle": begun[-1].cycle, "pod": fmt.pod_name(begun[-1].pod)}
    entry = picture.queue_places.get(begun[-1].pod)
    if entry is not None and entry.lane == "inFlight":
        return gettext("Cycle %(cycle)s, of %(pod)s, is in progress. Its decision is not known yet.") % values
    return gettext("The decision of cycle %(cycle)s, of %(pod)s, is not stored.") % values


def earlier(picture: Picture) -> EarlierPreemption | None:
    """Return a link to the last cycle that preempted, as later cycles replace it soon; None if it is on
    show."""
    decision = picture.preemption
    if decision is None or decision.preemption is None or decision is picture.decision:
        return None
    pod, node = fmt.pod_name(decision.pod), node_name(decision.preemption.chosen)
    text = gettext("%(pod)s preempts on %(node)s") % {"pod": pod, "node": node}
    return EarlierPreemption(decision.cycle, text)


def present_cycle(
    decision: Decision, ranks: Ranks, point: str = "", entry: QueuePlace | None = None
) -> CycleView:
    """Return the view of a cycle.

    point: the next extension point of a cycle that is not finished; "" = it is finished. entry: the pod's
    place in the queue, which shows whether its binding cycle waits on Permit."""
    view = view_of_decision(decision, ranks, point)
    if entry is None or (entry.uid, entry.attempts) != (decision.uid, decision.attempt):
        return view
    if decision.outcome == "scheduled" and entry.lane in BACK_IN_QUEUE:
        return not_bound(view, decision, entry)
    if entry.lane != "waiting" or not entry.plugins:  # without plugins, all have just allowed it
        return view
    values = {"node": node_name(decision.selected), "pod": view.label, "plugins": fmt.listed(entry.plugins)}
    return replace(
        view,
        outcome="waiting",
        steps=steps_before(view.steps, "Permit"),
        headline=gettext(
            "Resources on %(node)s are reserved for %(pod)s, which waits on Permit for %(plugins)s."
        )
        % values,
    )


def not_bound(view: CycleView, decision: Decision, entry: QueuePlace) -> CycleView:
    """Return the view of a cycle whose pod is back in the queue: a plugin rejected it on Permit, or binding
    failed."""
    text = gettext("%(node)s was selected for %(pod)s, but %(pod)s was not bound: %(reasons)s.")
    values = {
        "node": node_name(decision.selected),
        "pod": view.label,
        "reasons": reasons.short_without_stop(entry.message),
    }
    # Only a rejection names plugins whose events the pod waits for.
    after: dict[str, StepState] = {"Bind": "failed"}
    if entry.plugins:
        after = {"Permit": "failed", "Bind": "skipped"}
    return replace(
        view,
        outcome="unschedulable" if entry.plugins else "error",
        headline=text % values,
        steps=[
            CycleStep(each.name, after[each.name], "") if each.name in after else each for each in view.steps
        ],
    )


def view_of_decision(decision: Decision, ranks: Ranks, point: str) -> CycleView:
    return CycleView(
        cycle=decision.cycle,
        device_reasons=bool(decision.outcome) and any(rejected_nodes(decision)),
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
        steps=steps_before(steps(decision), point),
        matrix=None if point in ("PreFilter", "Filter") else matrix(decision),
        scores=scores(decision),
        preemption=preemption.present_preemption(decision),
        ended=not point,
        sample=sample_sentence(decision.sample) if decision.sample else "",
    )


def headline(decision: Decision, point: str = "") -> str:
    """Return the outcome in a sentence; of an unfinished cycle, the next extension point."""
    pod = fmt.pod_name(decision.pod)
    if point and decision.selected:
        text = gettext("%(node)s is selected for %(pod)s. Next: %(point)s.")
        return text % {"pod": pod, "node": node_name(decision.selected), "point": point}
    if point:
        return gettext("%(pod)s is being scheduled. Next: %(point)s.") % {"pod": pod, "point": point}
    if decision.outcome == "scheduled":
        if decision.hinted is True:
            text = gettext(
                "%(node)s is selected for %(pod)s: it is the next best node of the cycle before, and nodes "
                "were not scored again."
            )
        elif decision.nominated_shortcut:
            text = gettext("%(node)s is selected for %(pod)s, which was nominated to it.")
        elif len(decision.feasible) == 1:
            text = gettext("%(node)s is selected for %(pod)s: it is the only node that fits.")
            if decision.sample:
                text = gettext("%(node)s is selected for %(pod)s: no other node that was looked at fits.")
        elif len(decision.tied) > 1:
            text = gettext("%(node)s is selected for %(pod)s, at random among the nodes with the best score.")
        else:
            text = gettext("%(node)s is selected for %(pod)s: it has the best score.")
        return text % {"pod": pod, "node": node_name(decision.selected)}
    if decision.outcome == "preempting" and decision.preemption is not None:
        text = gettext("%(pod)s fits no node. It is nominated to %(node)s.")
        if decision.victims:
            text = gettext("%(pod)s fits no node. Its victims are on %(node)s.")
        return text % {"pod": pod, "node": node_name(decision.preemption.chosen)}
    if decision.outcome == "error":
        return gettext("The attempt for %(pod)s failed with an error.") % {"pod": pod}
    return reasons.fits_no_node(pod, decision.message)


def steps(decision: Decision) -> list[CycleStep]:
    """Return the extension points of the scheduling cycle and of the binding cycle, with their results."""
    sample = decision.sample
    total, feasible = sample.looked_at if sample else len(decision.nodes), len(decision.feasible)
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
            (node_name(post.chosen) or gettext("none")) if post is not None else "",
        ),
        CycleStep(
            "Score", "done" if fits and scored else "skipped", str(max(decision.totals)) if scored else ""
        ),
        CycleStep("Reserve", after, ""),
        CycleStep("Permit", after, ""),
        CycleStep("Bind", after, node_name(decision.selected)),
    ]


def steps_before(steps: list[CycleStep], point: str) -> list[CycleStep]:
    """Return the steps of a cycle whose next extension point is ``point``; unchanged if that is no step."""
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
