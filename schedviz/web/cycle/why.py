"""The reasons for which a node was chosen and not another one, and a pod was evicted, from the decision of
the cycle."""

from collections.abc import Sequence
from typing import Final

import msgspec
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from schedviz.jobs.job import JobState
from schedviz.jobs.question import Question
from schedviz.web.cycle import preemption
from schedviz.web.cycle.sampling import sample_sentence
from schedviz.web.reasons.plugin_reasons import meaning_of
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from schedviz.web.what_if.what_if import outcome_sentence, pod_links
from simulator.decision import Decision, NodeSample
from simulator.what_if.comparison import NodeComparison, ScoreDifference, compare_nodes, rank_nodes
from simulator.what_if.eviction import Eviction, Prevention, explain_eviction

LEFT_OUT: Final = gettext_noop("A node that was not looked at can have had a higher score.")
OTHERS_AT_MOST: Final = 500
"""Maximum number of nodes in each list of nodes to compare with."""


class ScoreRowView(msgspec.Struct, frozen=True):
    plugin: str
    weight: int
    raw: tuple[int, int]
    weighted: tuple[int, int]
    difference: str
    decides: bool


class WhyView(msgspec.Struct, frozen=True):
    cycle: int
    node: str
    other: str
    passed: list[str]
    """``passed``, ``refused``: the nodes to compare with. Those that passed are sorted by their totals."""
    refused: list[str]
    sentence: str
    detail: str
    sides: list[ScoreRowView]
    totals: tuple[int, int] | None
    sample: str = ""
    """The sentence that says that other nodes were not looked at; "" = all were."""


class EvictionView(msgspec.Struct, frozen=True):
    by: SafeString
    cycle: int
    node: str
    rule: str
    sentences: list[str]
    spared: SafeString


class PreventionsView(msgspec.Struct, frozen=True):
    state: JobState
    finished: bool
    savings: list[tuple[str, SafeString]]
    """Changes that would have prevented the eviction, each with the outcome for the preemptor."""
    trouble: str


def present_why(decision: Decision, other: str) -> WhyView:
    """Compare the chosen node with another one. other: its name; an unknown name = the next best node.
    Raises LookupError for a decision without a chosen node."""
    passed = [node for node in rank_nodes(decision) if node != decision.selected]
    among = {*passed}
    refused = [node for node in decision.nodes if node != decision.selected and node not in among]
    if other not in decision.nodes or other == decision.selected:
        other = next(iter([*passed, *refused]), "")
    found = compare_nodes(decision, other) if other else None
    sample = decision.sample
    return WhyView(
        cycle=decision.cycle,
        node=decision.selected,
        other=other,
        passed=passed[:OTHERS_AT_MOST],
        refused=refused[:OTHERS_AT_MOST],
        sentence=comparison_sentence(found, sample) if found else gettext("There is no other node."),
        detail=filter_reasons(found) if found else "",
        sample=f"{sample_sentence(sample)} {gettext(LEFT_OUT)}" if sample else "",
        sides=[side(each) for each in found.differences if any(each.raw) or each.difference] if found else [],
        totals=found.totals if found else None,
    )


def side(found: ScoreDifference) -> ScoreRowView:
    return ScoreRowView(
        found.plugin,
        found.weight,
        found.raw,
        found.weighted,
        f"{found.difference:+d}".replace("-", "\u2212"),
        found.decides,
    )


def comparison_sentence(found: NodeComparison, sample: NodeSample | None = None) -> str:
    """Return the comparison in a sentence. ``sample``: the nodes that were looked at, if these are not
    all."""
    values = {"node": node_name(found.node), "other": node_name(found.other)}
    if found.how == "refused" and found.failure:
        return gettext("%(other)s was filtered out by %(plugin)s.") % {
            **values,
            "plugin": found.failure.plugin,
        }
    if found.how == "unseen" and sample:
        text = gettext("%(other)s was not looked at. It can have had a higher score than %(node)s.")
        return text % values
    if found.how == "unseen" or found.totals is None:
        return (
            gettext("There are no scores to compare: %(other)s was not scored together with %(node)s.")
            % values
        )
    if found.how == "lot":
        return gettext("%(node)s and %(other)s have the same total; %(node)s is selected at random.") % values
    values["lead"] = fmt.number(found.totals[0] - found.totals[1])
    deciders = [each.plugin for each in found.differences if each.decides]
    if len(deciders) == 1:
        text = gettext(
            "%(node)s is ahead by %(lead)s. %(plugin)s decided: without it, %(node)s would not have been "
            "ahead."
        )
        return text % {**values, "plugin": deciders[0]}
    if deciders:
        text = gettext(
            "%(node)s is ahead by %(lead)s. Without any one of %(plugins)s it would not have been ahead."
        )
        return text % {**values, "plugins": fmt.listed(deciders)}
    text = gettext("%(node)s is ahead by %(lead)s. No single plugin decided; %(plugin)s contributed most.")
    return text % {**values, "plugin": found.differences[0].plugin}


def filter_reasons(found: NodeComparison) -> str:
    if found.failure is None:
        return ""
    texts = [f"{reason}: {meaning_of(reason)}".removesuffix(": ") for reason in found.failure.reasons]
    return " ".join(texts)


# Evictions


def present_eviction(decision: Decision, victim: str, base: str) -> EvictionView | None:
    """Return the reasons for which a cycle evicted a pod; None if it did not evict it."""
    try:
        found = explain_eviction(decision, victim)
    except LookupError:
        return None
    return EvictionView(
        by=pod_links([found.preemptor], base),
        cycle=found.cycle,
        node=found.node,
        rule=preemption.preemption_sentence(decision),
        sentences=[*eviction_reasons(found)],
        spared=pod_links(found.spared, base),
    )


def eviction_reasons(found: Eviction) -> Sequence[str]:
    values = {
        "low": fmt.number(found.priority),
        "high": fmt.number(found.preemptor_priority),
        "pod": fmt.pod_name(found.preemptor),
        "node": node_name(found.node),
    }
    texts = [
        gettext("Its priority, %(low)s, is lower than that of %(pod)s, %(high)s, so it could be evicted.")
        % values
    ]
    if found.turn:
        text = gettext(
            "The scheduler simulated %(node)s without its pods with lower priority, and put them back "
            "one by one: first those whose eviction violates a PodDisruptionBudget, and of these and of "
            "the others the most important first. This pod was number %(turn)s of %(n)s: with it, "
            "%(pod)s did not fit."
        )
        texts.append(text % {**values, "turn": found.turn, "n": len(found.tried)})
    if found.violates_pdb:
        texts.append(
            gettext(
                "Its PodDisruptionBudget was violated: preemption respects PodDisruptionBudgets only "
                "where possible."
            )
        )
    return texts


PREVENTIONS: Final = {
    "priority": gettext_noop("This pod has priority {after} instead of {before}."),
    "budget": gettext_noop("A PodDisruptionBudget for {what} allows no disruption."),
    "request": gettext_noop("The preemptor requests less: {what} {after} instead of {before}."),
    "preemptor-priority": gettext_noop("The preemptor has priority {after} instead of {before}."),
}


def present_preventions(question: Question, base: str) -> PreventionsView:
    return PreventionsView(
        state=question.state,
        finished=question.finished,
        savings=[(prevention_sentence(each), prevention_outcome(each, base)) for each in question.savings],
        trouble=question.trouble,
    )


def prevention_sentence(prevention: Prevention) -> str:
    """Return the change that would have prevented the eviction, in a sentence."""
    return gettext(PREVENTIONS[prevention.kind]).format(
        what=prevention.what, before=prevention.before, after=prevention.after
    )


def prevention_outcome(prevention: Prevention, base: str) -> SafeString:
    """Return a text about what the preemptor would have done with the prevention."""
    if prevention.outcome.kind in ("bound", "nominated"):
        return outcome_sentence(prevention.outcome, base)
    return SafeString(gettext("Then the preemptor stays pending."))
