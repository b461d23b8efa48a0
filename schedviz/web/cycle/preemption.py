"""The preemption of one cycle: the candidates side by side, and the rule that chose one of them.

The rules are those of pickOneNodeForPreemption (pkg/scheduler/framework/preemption/preemption.go).
They are applied in order until one candidate is left.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from django.utils.translation import gettext, ngettext

from schedviz.web.reasons.plugin_reasons import meaning_of
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator import words
from simulator.decision import Candidate, Decision

CANDIDATES_AT_MOST: Final = 20
"""Maximum number of candidates that are shown. Preemption itself examines a tenth of the nodes, and at least
100."""
VICTIMS_AT_MOST: Final = 8

NOT_STARTED: Final = "~"
"""The value in place of a start time that is missing: it is later than every time. For a pod without
status.startTime kube-scheduler takes the present time (GetPodStartTime in pkg/scheduler/util/utils.go)."""

GREATEST_WINS: Final = (False, False, False, False, True)
"""Whether each rule keeps the candidates with the largest figure instead of the smallest."""


class RuleFigure(msgspec.Struct, frozen=True):
    """One cell of the table: a candidate under a rule. ``lost``: the rule removes the candidate. ``idle``:
    the rule does not apply to it any more."""

    text: str
    lost: bool
    idle: bool


class VictimView(msgspec.Struct, frozen=True):
    pod: str
    label: str
    priority: str
    violates_pdb: bool


class CandidateView(msgspec.Struct, frozen=True):
    node: str
    chosen: bool
    victims: list[VictimView]
    more: int
    figures: list[RuleFigure]


class PreemptionView(msgspec.Struct, frozen=True):
    chosen: str
    rule: int
    sentence: str
    detail: str
    candidates: list[CandidateView]
    more: int
    now: str
    """The time of the cycle, if rule 5 takes it for victims without a start time; otherwise empty."""
    others: list[tuple[str, str]]
    """The reasons for which other nodes are no candidates: their number with the reason, and the explanation
    of the reason."""


def present_preemption(decision: Decision) -> PreemptionView | None:
    found = decision.preemption
    if found is None:
        return None
    out = eliminating_rules(found.candidates)
    ordered = sorted(
        found.candidates,
        key=lambda each: (each.node != found.chosen, -out.get(each.node, len(GREATEST_WINS) + 1), each.node),
    )
    return PreemptionView(
        chosen=found.chosen,
        rule=found.rule,
        sentence=preemption_sentence(decision),
        detail=earlier_rules(found.candidates, out, found.rule),
        candidates=[
            present_candidate(each, each.node == found.chosen, out, found.rule)
            for each in ordered[:CANDIDATES_AT_MOST]
        ],
        more=max(0, len(ordered) - CANDIDATES_AT_MOST),
        now=""
        if all(each.earliest_start for each in found.candidates)
        else fmt.clock(decision.t).partition(".")[0],
        others=others(decision),
    )


def eliminating_rules(candidates: Sequence[Candidate]) -> dict[str, int]:
    """Return the rule, from 1, that removes each candidate, by node; without candidates that no rule
    removes."""
    out: dict[str, int] = {}
    left = list(candidates)
    for rule, is_greatest in enumerate(GREATEST_WINS, start=1):
        if len(left) < 2:
            break
        figures = {each.node: compared_figure(each, rule) for each in left}
        best = (max if is_greatest else min)(figures.values())
        out.update({each.node: rule for each in left if figures[each.node] != best})
        left = [each for each in left if figures[each.node] == best]
    return out


def compared_figure(candidate: Candidate, rule: int) -> Any:
    figure = candidate.figures[rule - 1]
    return NOT_STARTED if figure == "" else figure


def present_candidate(candidate: Candidate, chosen: bool, out: dict[str, int], decided: int) -> CandidateView:
    last = out.get(candidate.node, decided)
    return CandidateView(
        node=candidate.node,
        chosen=chosen,
        victims=[
            VictimView(
                victim.pod, fmt.pod_name(victim.pod), fmt.compact(victim.priority), victim.violates_pdb
            )
            for victim in candidate.victims[:VICTIMS_AT_MOST]
        ],
        more=max(0, len(candidate.victims) - VICTIMS_AT_MOST),
        figures=[
            RuleFigure(text, lost=out.get(candidate.node) == rule, idle=rule > last > 0)
            for rule, text in enumerate(texts(candidate), start=1)
        ],
    )


def texts(candidate: Candidate) -> list[str]:
    return [
        str(candidate.pdb_violations),
        fmt.compact(candidate.highest_priority),
        sum_text(candidate),
        str(len(candidate.victims)),
        time_of(candidate.earliest_start) or gettext("now"),
    ]


def sum_text(candidate: Candidate) -> str:
    """Return the sum of the victims' priorities as "2·2³¹+200". Upstream adds 2^31 to each priority, so that
    more victims never have a smaller sum; in this form the sum of the priorities is visible."""
    victims = len(candidate.victims)
    priorities = candidate.priority_sum - victims * (1 << 31)
    return f"{victims if victims != 1 else ''}{'·' if victims != 1 else ''}2³¹{priorities:+d}".replace(
        "-", "\u2212"
    )


def time_of(timestamp: str) -> str:
    return timestamp.partition("T")[2].removesuffix("Z") or timestamp


def preemption_sentence(decision: Decision) -> str:
    """Return the result of the preemption in a sentence: the rule that decided, or why no node was chosen."""
    found = decision.preemption
    assert found is not None
    if not found.eligible:
        reason = meaning_of(found.ineligible_reason) or found.ineligible_reason
        return gettext("Not tried: %(reason)s") % {"reason": reason}
    if not found.chosen:
        return gettext("Evicting pods with lower priority would make no node fit.")
    chosen = found.chosen_candidate
    values = words.preemption_values(found) | {"node": node_name(found.chosen)}
    if chosen is not None and values["figure"]:
        values["figure"] = texts(chosen)[found.rule - 1]
    return gettext(words.preemption_rule(found)) % values


def earlier_rules(candidates: Sequence[Candidate], out: dict[str, int], decided: int) -> str:
    """Return sentences about the nodes that were removed by the rules before the deciding one."""
    parts = []
    for rule in range(1, decided):
        nodes = [node_name(each.node) for each in candidates if out.get(each.node) == rule]
        if nodes:
            parts.append(
                ngettext(
                    "Rule %(rule)s removed %(nodes)s.",
                    "Rule %(rule)s removed %(n)s nodes: %(nodes)s.",
                    len(nodes),
                )
                % {
                    "rule": rule,
                    "n": len(nodes),
                    "nodes": ", ".join(nodes[:4]) + (", …" if len(nodes) > 4 else ""),
                }
            )
    return " ".join(parts)


def others(decision: Decision) -> list[tuple[str, str]]:
    assert decision.preemption is not None
    counts: dict[str, int] = {}
    for failure in decision.preemption.non_candidates.values():
        reason = ", ".join(failure.reasons) or failure.plugin
        counts[reason] = counts.get(reason, 0) + 1
    return [
        (f"{count} {reason}", meaning_of(reason))
        for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
