"""The later outcome of a preemption: where the preemptor was bound in the end, and why not on the freed
node."""

from collections.abc import Callable, Iterable

from django.utils.translation import gettext

from schedviz.web.cycle.why import comparison_sentence
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator import trace
from simulator.decision import Decision
from simulator.what_if.comparison import compare_nodes


def later_turn(
    decision: Decision, events: Iterable[trace.Event], find: Callable[[int], Decision | None]
) -> str:
    """Return the end of a preemption in a sentence; empty while it has none, and for a cycle that did not
    preempt.

    events: the trace events of the preemptor, oldest first. find: the decision of a cycle."""
    found = decision.preemption
    if found is None or not found.chosen:
        return ""
    values = {"pod": fmt.pod_name(decision.pod), "freed": node_name(found.chosen)}
    started = False
    for event in events:
        started = started or getattr(event, "cycle", 0) == decision.cycle
        if not started:
            continue
        match event:
            case trace.Nominated(cycle=cycle, node=node) if cycle > decision.cycle and node != found.chosen:
                text = gettext(
                    "%(pod)s preempted pods on %(freed)s, then again on %(node)s (cycle %(cycle)s)."
                )
                return text % {**values, "node": node_name(node), "cycle": cycle}
            case trace.Bound(cycle=cycle, node=node) if node == found.chosen:
                text = gettext("%(pod)s was bound to %(freed)s in cycle %(cycle)s.")
                return text % {**values, "cycle": cycle}
            case trace.OutsideBound(node=node):
                text = gettext(
                    "%(pod)s preempted pods on %(freed)s, then an outside scheduler bound it to %(node)s."
                )
                return text % {**values, "node": node_name(node)}
            case trace.Bound(cycle=cycle, node=node):
                values |= {"node": node_name(node), "cycle": str(cycle)}
                bound = find(cycle)
                if bound is None:
                    text = gettext(
                        "%(pod)s preempted pods on %(freed)s, then was bound to %(node)s (cycle %(cycle)s)."
                    )
                    return text % values
                why = reason(bound, found.chosen)
                text = gettext(
                    "%(pod)s preempted pods on %(freed)s, then was bound to %(node)s (cycle "
                    "%(cycle)s), because: %(why)s"
                )
                return text % {**values, "why": why}
            case trace.PodRemoved():
                return gettext("%(pod)s was deleted before it was bound.") % values
            case _:
                pass
    return ""


def reason(decision: Decision, freed: str) -> str:
    """Return the reason for which the cycle that bound the pod did not choose the freed node."""
    if freed not in decision.nodes:
        return gettext("%(node)s no longer existed.") % {"node": node_name(freed)}
    return comparison_sentence(compare_nodes(decision, freed))
