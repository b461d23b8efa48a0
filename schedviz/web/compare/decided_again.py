"""The decisions of side A that the scheduler of side B would make otherwise, summed by cause."""

from typing import Final

import msgspec
from django.utils.translation import gettext, gettext_noop

from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator.compare.changed_decisions import SchedulerAnswer
from simulator.compare.second_scheduler import RunDecisions
from simulator.versions.changes import Kind
from simulator.words import CHANGED, SEVERAL_CHANGES

KINDS: Final[dict[Kind, str]] = {
    "configuration": gettext_noop("configuration"),
    "formula": gettext_noop("formula"),
    "gate": gettext_noop("feature gate"),
    "hint": gettext_noop("queueing hint"),
    "message": gettext_noop("message"),
    "plugin": gettext_noop("plugin"),
}
NODES_AT_MOST: Final = 3
"""Maximum number of nodes with equal scores that a row names."""


class CauseRow(msgspec.Struct, frozen=True):
    kind: str
    name: str
    """The feature gate, field of the version (docs/VERSIONS.md) or part of a configuration; "" = several."""
    text: str
    count: int
    share: int
    """In percent of the decisions that change."""


class DecisionRow(msgspec.Struct, frozen=True):
    cycle: int
    pod: str
    effect: str
    a: str
    b: str
    causes: list[str]


class DecidedAgainView(msgspec.Struct, frozen=True):
    decided: int
    changed: int
    complete: bool
    causes: list[CauseRow]
    rows: list[DecisionRow]
    """In the order of the cycles; those in which only the message differs come last."""
    more: int
    """Number of decisions that change and have no row."""


def present_decided_again(found: RunDecisions) -> DecidedAgainView:
    changes = {change.name: change for change in found.changes}
    texts = {change.name: gettext(change.text) % change.values for change in found.changes}
    texts[""] = gettext(SEVERAL_CHANGES)
    causes = [
        CauseRow(
            kind=gettext(KINDS[changes[each.cause].kind]) if each.cause else "",
            name=each.cause,
            text=texts[each.cause],
            count=each.count,
            share=round(100 * each.count / found.changed),
        )
        for each in found.causes
    ]
    rows = [
        DecisionRow(
            cycle=each.cycle,
            pod=fmt.pod_name(each.pod),
            effect=gettext(CHANGED[each.effect]),
            a=_decision_text(each.before),
            b=_decision_text(each.after),
            causes=each.causes,
        )
        for each in sorted(found.decisions, key=lambda each: each.effect == "message")
    ]
    return DecidedAgainView(
        found.decided, found.changed, found.complete, causes, rows, found.changed - len(rows)
    )


def decided_nodes(found: RunDecisions) -> set[str]:
    """Return the names of all nodes of the rows."""
    return {node for each in found.decisions for side in (each.before, each.after) for node in side.nodes}


def _decision_text(decision: SchedulerAnswer) -> str:
    nodes = ", ".join(node_name(node) for node in decision.nodes[:NODES_AT_MOST])
    more = len(decision.nodes[NODES_AT_MOST:]) + decision.more
    if more:
        nodes = gettext("%(nodes)s and %(n)d more") % {"nodes": nodes, "n": more}
    match decision.outcome:
        case "fits":
            return nodes
        case "preempts":
            return gettext("nominated to %(node)s: %(message)s") % {
                "node": nodes,
                "message": decision.message,
            }
        case "ignored":
            return gettext("no profile has its schedulerName")
        case _:
            return decision.message
