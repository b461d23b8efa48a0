"""What is said of a pod group and of its members, in the active language."""

from collections.abc import Callable, Sequence
from typing import Final

from django.utils.translation import gettext, ngettext

from schedviz.web.reasons import messages as reasons
from schedviz.web.reasons.pod_reasons import lack_on_every_node, nearest_node
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from schedviz.web.text.tone import Tone
from simulator import trace
from simulator.decision import Decision

NAMED_AT_MOST: Final = 3
"""Maximum number of members that a sentence about a group speaks of."""

LOOKED_AT: Final = 16
"""Maximum number of members whose decisions are read for such a sentence."""

FindDecision = Callable[[int], Decision | None]
TONES: Final[dict[trace.GroupVerdict, Tone]] = {
    "scheduled": "good",
    "unschedulable": "bad",
    "waiting": "warn",
    "error": "bad",
}


def verdict_words(verdict: trace.GroupVerdict) -> str:
    return {
        "scheduled": gettext("can be scheduled"),
        "unschedulable": gettext("unschedulable"),
        "waiting": gettext("waits for evictions"),
        "error": gettext("failed with an error"),
    }[verdict]


def outcome_words(outcome: trace.MemberOutcome | None, node: str) -> str:
    """Return what became of a member's turn. None: it is being tried."""
    values = {"node": node_name(node)}
    match outcome:
        case "fits":
            return gettext("fits on %(node)s") % values
        case "preempts":
            return gettext("preempts on %(node)s") % values
        case "infeasible":
            return gettext("does not fit")
        case "error":
            return gettext("failed")
        case None:
            return gettext("is being tried")


def lacking_sentences(tried: trace.PodGroupTried, find: FindDecision) -> list[str]:
    """Return what the members lack that do not fit: those that lack the same in one sentence."""
    members = [each for each in tried.members if each.outcome in ("infeasible", "error")]
    same: dict[str, list[str]] = {}
    alone: list[str] = []
    for member in members[:LOOKED_AT]:
        decision = find(member.cycle) if member.outcome == "infeasible" else None
        if lack := lack_on_every_node(decision) if decision else "":
            same.setdefault(lack, []).append(member.pod)
        else:
            alone.append(_alone(member, decision))
    found = [_lack_sentence(pods, lack, tried.placement) for lack, pods in same.items()]
    found += alone[:NAMED_AT_MOST]
    more = len(members) - sum(map(len, same.values())) - min(len(alone), NAMED_AT_MOST)
    if more > 0:
        text = ngettext("%(n)s more member does not fit.", "%(n)s more members do not fit.", more)
        found.append(text % {"n": more})
    return found


def _lack_sentence(pods: Sequence[str], lack: str, placement: str) -> str:
    text = ngettext(
        "%(pods)s lacks %(amount)s on every node.", "%(pods)s lack %(amount)s on every node.", len(pods)
    )
    if placement:
        text = ngettext(
            "%(pods)s lacks %(amount)s on every node of %(placement)s.",
            "%(pods)s lack %(amount)s on every node of %(placement)s.",
            len(pods),
        )
    return text % {"pods": fmt.first_pods(pods), "amount": lack, "placement": placement}


def _alone(member: trace.MemberTried, decision: Decision | None) -> str:
    pod = fmt.pod_name(member.pod)
    if member.outcome == "error":
        return gettext("%(pod)s failed: %(message)s") % {"pod": pod, "message": member.message}
    nearest = nearest_node(decision) if decision else ""
    return " ".join(filter(None, [reasons.fits_no_node(pod, member.message), nearest]))


def fit_sentence(tried: trace.PodGroupTried, bound: int, size: int, min_count: int | None) -> str:
    """Return "7 of 8 fit; the group needs 8." ``bound``: the members that had a node before."""
    fit = bound + sum(each.outcome in ("fits", "preempts") for each in tried.members)
    values = {"fit": fit, "size": max(size, bound + len(tried.members)), "min": min_count}
    if min_count is None:
        return gettext("%(fit)s of %(size)s fit.") % values
    return gettext("%(fit)s of %(size)s fit; the group needs %(min)s.") % values


def diagnosis(
    tried: trace.PodGroupTried, bound: int, size: int, min_count: int | None, find: FindDecision
) -> list[str]:
    """Return why a group is pending, in sentences: how many fit, and what the others lack."""
    return [fit_sentence(tried, bound, size, min_count), *lacking_sentences(tried, find)]


def room_for_others(pods: Sequence[str]) -> str:
    """Return what the rules let happen to the room of members without a nomination; "" without members."""
    if not pods:
        return ""
    text = gettext(
        "%(pods)s did not fit before the evictions, and so has no nomination: other pods may take the room "
        "that is freed for it. Then the group preempts again."
    )
    if len(pods) > 1:
        text = gettext(
            "%(pods)s did not fit before the evictions, and so have no nomination: other pods may take the "
            "room that is freed for them. Then the group preempts again."
        )
    return text % {"pods": fmt.first_pods(pods)}
