"""The cycle of a pod group: its passes, the placements that were compared, the preemption for the group, and
the verdict."""

from collections.abc import Sequence
from typing import Final

import msgspec
from django.utils.translation import gettext, ngettext

from schedviz.web.pod_groups import words
from schedviz.web.pod_groups.cycles import GroupCycle, Turn
from schedviz.web.reasons import messages as reasons
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from schedviz.web.text.tone import Tone
from simulator import trace
from simulator.api import Micros

VICTIMS_AT_MOST: Final = 6
"""Maximum number of pods that a row or a sentence names."""


class TurnView(msgspec.Struct, frozen=True):
    pod: str
    label: str
    cycle: int
    tone: Tone
    outcome: str
    node: str
    """The node on which the members after it see it; "" = none."""
    message: str
    then: str
    """What became of it after the pass: "bound", "taken back"; "" = unknown, or nothing."""


class PassView(msgspec.Struct, frozen=True):
    title: str
    nodes: str
    turns: list[TurnView]
    tone: Tone
    verdict: str
    counts: bool
    """Whether it is the pass that counts."""


class PlacementView(msgspec.Struct, frozen=True):
    """A placement in the table. Without ``scores``, the group cannot be scheduled there, for ``reason``."""

    name: str
    chosen: bool
    scores: list[int]
    total: int
    pods: str
    reason: str


class PlacementsView(msgspec.Struct, frozen=True):
    plugins: list[str]
    rows: list[PlacementView]
    sentence: str


class UnitView(msgspec.Struct, frozen=True):
    number: int
    pods: str
    group: str
    label: str
    priority: str
    violates: bool
    reprieved: bool


class PreemptionView(msgspec.Struct, frozen=True):
    sentence: str
    units: list[UnitView]
    room: str
    """What the rules let happen to the room of members without a nomination."""


class GroupCycleView(msgspec.Struct, frozen=True):
    cycle: int
    t: Micros
    time: str
    group: str
    label: str
    policy: str
    popped: str
    order: str
    ended: bool
    tone: Tone
    headline: str
    message: str
    passes: list[PassView]
    placements: PlacementsView | None
    preemption: PreemptionView | None
    outcome: list[str]


def policy_words(min_count: int | None) -> str:
    if min_count is None:
        return gettext("policy basic: each pod counts for itself")
    return gettext("policy gang, minCount %(n)s") % {"n": min_count}


def present_group_cycle(cycle: GroupCycle) -> GroupCycleView:
    started, ended = cycle.started, cycle.ended
    return GroupCycleView(
        cycle=started.cycle,
        t=started.t,
        time=fmt.clock(started.t),
        group=started.group,
        label=fmt.pod_name(started.group),
        policy=policy_words(started.min_count),
        popped=fmt.pod_name(started.popped),
        order=gettext(
            "Its pods are tried by priority, then by the time at which each first entered activeQ."
        ),
        ended=ended is not None,
        tone=words.TONES[ended.verdict] if ended else "",
        headline=headline(cycle),
        message=ended.message if ended else "",
        passes=_passes(cycle),
        placements=_placements(cycle),
        preemption=_preemption(cycle),
        outcome=_outcome(cycle),
    )


def headline(cycle: GroupCycle) -> str:
    """Return the verdict in a sentence."""
    group, ended = fmt.pod_name(cycle.started.group), cycle.ended
    if ended is None:
        done, size = sum(each.outcome is not None for each in cycle.turns.values()), cycle.started.size
        text = gettext("%(group)s is being tried: %(done)s of %(size)s turns of this pass are over.")
        return text % {"group": group, "done": done, "size": size}
    values = {"group": group, "placement": ended.placement}
    if ended.verdict == "scheduled" and ended.placement:
        return gettext("%(group)s can be scheduled, in %(placement)s.") % values
    text = {
        "scheduled": gettext("%(group)s can be scheduled."),
        "unschedulable": gettext("%(group)s is unschedulable."),
        "waiting": gettext("%(group)s waits for evictions."),
        "error": gettext("%(group)s failed with an error."),
    }[ended.verdict]
    return text % values


def _passes(cycle: GroupCycle) -> list[PassView]:
    counting = cycle.counting
    found = [_pass(cycle, each, counts=each is counting) for each in cycle.passes]
    if cycle.turns:
        turns = [_turn_so_far(each) for each in cycle.turns.values()]
        found.append(PassView(gettext("This pass"), "", turns, "", gettext("is under way"), counts=True))
    return found


def _pass(cycle: GroupCycle, tried: trace.PodGroupTried, *, counts: bool) -> PassView:
    nodes = ngettext("%(n)s node", "%(n)s nodes", tried.nodes) % {"n": fmt.number(tried.nodes)}
    return PassView(
        title=tried.placement or gettext("All nodes"),
        nodes=nodes,
        turns=[_turn(cycle, each, counts=counts) for each in tried.members],
        tone=words.TONES[tried.verdict],
        verdict=words.verdict_words(tried.verdict),
        counts=counts,
    )


def _turn(cycle: GroupCycle, member: trace.MemberTried, *, counts: bool) -> TurnView:
    refused = member.outcome in ("infeasible", "error")
    nominated = cycle.nominated.get(member.cycle)
    message = ""
    if refused:
        message = reasons.short(member.message)
    elif nominated is not None and member.outcome == "preempts":
        message = gettext("victims: %(pods)s") % {"pods": fmt.first_pods(nominated.victims)}
    elif member.message:
        message = gettext("waits for the others on Permit")
    return TurnView(
        pod=member.pod,
        label=fmt.pod_name(member.pod),
        cycle=member.cycle,
        tone="bad" if refused else "warn" if member.outcome == "preempts" else "good",
        outcome=words.outcome_words(member.outcome, member.node),
        node="" if refused else member.node,
        message=message,
        then=_then(cycle, member.pod) if counts else "",
    )


def _then(cycle: GroupCycle, pod: str) -> str:
    ended = cycle.ended
    if ended is not None and pod in ended.bound:
        return gettext("goes on to binding")
    return gettext("taken back") if ended is not None and pod in ended.taken_back else ""


def _turn_so_far(turn: Turn) -> TurnView:
    tones: dict[trace.MemberOutcome | None, Tone] = {"fits": "good", "preempts": "warn", None: ""}
    return TurnView(
        pod=turn.pod,
        label=fmt.pod_name(turn.pod),
        cycle=turn.cycle,
        tone=tones.get(turn.outcome, "bad"),
        outcome=words.outcome_words(turn.outcome, turn.node),
        node=turn.node,
        message="",
        then="",
    )


def _placements(cycle: GroupCycle) -> PlacementsView | None:
    """Return the table of placements, where the group was tried in some: those that were compared, the best
    first, then the others with what is lacking."""
    tried = {each.placement: each for each in cycle.passes if each.placement}
    if not tried:
        return None
    compared = cycle.compared.scores if cycle.compared else []
    plugins = [*compared[0].scores] if compared else []
    chosen = cycle.ended.placement if cycle.ended and cycle.ended.verdict in ("scheduled", "waiting") else ""
    rows = [
        PlacementView(
            each.placement,
            each.placement == chosen,
            [each.scores[plugin] for plugin in plugins],
            each.total,
            _pods_placed(tried.get(each.placement)) or str(each.pods),
            "",
        )
        for each in compared
    ]
    scored = {each.placement for each in compared}
    for name, each in tried.items():
        if name not in scored:
            reason = "" if each.verdict == "scheduled" else _why_not(each)
            rows.append(PlacementView(name, name == chosen, [], 0, _pods_placed(each), reason))
    sentence = _comparison(compared, cycle.compared)
    if chosen and not compared:
        text = gettext(
            "%(placement)s is the only placement in which the group can be scheduled: no scores are computed."
        )
        sentence = text % {"placement": chosen}
    return PlacementsView(plugins, rows, sentence)


def _pods_placed(tried: trace.PodGroupTried | None) -> str:
    if tried is None:
        return ""
    placed = sum(each.outcome in ("fits", "preempts") for each in tried.members)
    return gettext("%(n)s of %(size)s") % {"n": placed, "size": len(tried.members)}


def _why_not(tried: trace.PodGroupTried) -> str:
    """Return why a placement does not hold the group. Only the pass that counts has decisions, so the
    messages of the members say it."""
    first = next((each for each in tried.members if each.outcome in ("infeasible", "error")), None)
    if first is None:
        return words.verdict_words(tried.verdict)
    return f"{fmt.pod_name(first.pod)}: {reasons.short(first.message)}"


def _comparison(compared: Sequence[trace.PlacementScore], event: trace.PlacementsScored | None) -> str:
    """Return "rack-2 won: 100 + 40 against 100 + 31 of rack-1."""
    if event is None or len(compared) < 2:
        return ""
    best, second = compared[0], compared[1]
    values = {
        "best": best.placement,
        "sum": " + ".join(map(str, best.scores.values())),
        "other": second.placement,
        "against": " + ".join(map(str, second.scores.values())),
    }
    if event.tied > 1:
        text = gettext("%(best)s was selected at random: %(sum)s, as %(other)s.")
    else:
        text = gettext("%(best)s was selected: %(sum)s against %(against)s of %(other)s.")
    return text % values


def _preemption(cycle: GroupCycle) -> PreemptionView | None:
    event = cycle.preempted
    if event is None:
        return None
    if event.victims:
        count = ngettext("%(n)s victim", "%(n)s victims", event.victim_count) % {"n": event.victim_count}
        text = gettext(
            "All units of lower priority than %(priority)s were taken off their nodes. As the group then "
            "fits, they were put back one by one as long as it still did: first those whose eviction "
            "violates a PodDisruptionBudget, then the others, the most important first. What stays off is "
            "evicted. "
            "%(victims)s: %(pods)s."
        )
        sentence = text % {
            "priority": fmt.number(event.priority),
            "victims": count,
            "pods": fmt.first_pods(event.victims, VICTIMS_AT_MOST),
        }
    else:
        text = gettext("Evicting pods does not help: %(message)s")
        sentence = text % {"message": reasons.short(event.message)}
    tried = cycle.counting.members if cycle.counting else []
    infeasible = [each.pod for each in tried if each.outcome == "infeasible"]
    return PreemptionView(
        sentence=sentence,
        units=[
            UnitView(
                number=number,
                pods=fmt.first_pods(each.pods, VICTIMS_AT_MOST),
                group=each.group,
                label=fmt.pod_name(each.group),
                priority=fmt.compact(each.priority),
                violates=each.violates,
                reprieved=each.reprieved,
            )
            for number, each in enumerate(event.units, start=1)
        ],
        room=words.room_for_others(infeasible) if event.victims else "",
    )


def _outcome(cycle: GroupCycle) -> list[str]:
    """Return what became of the pods, in sentences."""
    ended = cycle.ended
    if ended is None:
        return []
    found = []
    if ended.bound_count:
        text = ngettext(
            "%(n)s pod goes on to binding: %(pods)s.",
            "%(n)s pods go on to binding: %(pods)s.",
            ended.bound_count,
        )
        nodes = [f"{fmt.pod_name(pod)} → {node_name(node)}" for pod, node in ended.bound.items()]
        named = fmt.first_pods(nodes, VICTIMS_AT_MOST)
        found.append(text % {"n": ended.bound_count, "pods": named})
    if ended.taken_back_count:
        text = ngettext(
            "%(n)s pod had a place, which is taken back: %(pods)s.",
            "%(n)s pods had a place, which is taken back: %(pods)s.",
            ended.taken_back_count,
        )
        pods = fmt.first_pods(ended.taken_back, VICTIMS_AT_MOST)
        found.append(text % {"n": ended.taken_back_count, "pods": pods})
    if ended.passes > len(cycle.passes):
        text = gettext("The group was tried %(n)s times in this cycle, with the passes of the preemption.")
        found.append(text % {"n": ended.passes})
    return found
