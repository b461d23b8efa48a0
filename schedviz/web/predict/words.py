"""The translated texts of questions, answers and mistakes."""

from typing import cast

from django.utils.translation import gettext, ngettext

from schedviz.web.cycle import cycle, preemption, score_table
from schedviz.web.queue.lanes import LaneName, title
from schedviz.web.reasons import messages as reasons
from schedviz.web.reasons.plugin_reasons import counted_text
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator.decision import Decision

from .grade import Grade
from .question import UNKNOWN, GuessKind, GuessQuestion, Popped, answer


def question(asked: GuessQuestion) -> str:
    pod = {"pod": fmt.pod_name(asked.pod)}
    return {
        "next": gettext("Which pod is scheduled next?"),
        "nodes": gettext("Which nodes pass the filters for %(pod)s?") % pod,
        "winner": gettext("Which node is chosen for %(pod)s?") % pod,
        "victims": gettext("%(pod)s fits no node. Which pods are evicted for it?") % pod,
    }[asked.kind]


def how(asked: GuessQuestion) -> str:
    """Return the sentence that says how to answer the question."""
    return {
        "next": gettext("Click a pod in the queue, or choose here."),
        "nodes": gettext(
            "Click every node that passes, or choose here. If no node passes, submit without a choice."
        ),
        "winner": gettext("Click a node, or choose here."),
        "victims": gettext(
            "Click every pod that is evicted, or choose here. If no pod is evicted, submit without a choice."
        ),
    }[asked.kind]


def solution(kind: GuessKind, decision: Decision, point: str) -> str:
    """Return the right answer, as a short text."""
    found = sorted(answer(kind, decision, point) or ())
    if kind == "nodes":
        return fmt.listed(map(node_name, found)) or gettext("no node")
    if kind == "winner":
        return node_name(decision.selected) or gettext("no node")
    return fmt.listed([fmt.pod_name(pod) for pod in found]) or gettext("no pod")


def why_next(decision: Decision, popped: Popped) -> str:
    """Return the rule by which the pod of a cycle was popped, as far as it is known."""
    values = {"pod": fmt.pod_name(decision.pod), "priority": fmt.number(decision.priority)}
    if popped.lane == "backoffQ":
        return gettext("activeQ was empty, so %(pod)s was popped from backoffQ.") % values
    if popped.lane == "activeQ" and popped.order == "priority":
        text = gettext(
            "%(pod)s has priority %(priority)s. activeQ is sorted by priority, then by the time when a "
            "pod was queued."
        )
        return text % values
    if popped.lane == "activeQ" and popped.order == "arrival":
        return gettext("%(pod)s was the first in activeQ, which this version sorts by arrival.") % values
    if popped.lane == "activeQ" and popped.order == "plugin":
        return gettext("%(pod)s was the first in activeQ, which a QueueSort plugin sorts.") % values
    return gettext("%(pod)s was popped from the queue.") % values


def why(kind: GuessKind, decision: Decision, popped: Popped = UNKNOWN) -> str:
    """Return the sentence that says why the answer is right, from the reasons in the decision."""
    pod = fmt.pod_name(decision.pod)
    if kind == "next":
        return why_next(decision, popped)
    if kind == "nodes":
        if not decision.feasible:
            return reasons.fits_no_node(pod, decision.message)
        total, passed = len(decision.nodes), len(decision.feasible)
        failures = [
            counted_text(reason, decision.verdicts.count(number))
            for number, failure in enumerate(decision.failures, start=1)
            for reason in failure.reasons
        ]
        text = ngettext("%(n)s of %(total)s nodes passes", "%(n)s of %(total)s nodes pass", passed)
        parts = {"counted": text % {"n": passed, "total": total}, "reasons": fmt.listed(failures)}
        return (gettext("%(counted)s; %(reasons)s.") if failures else gettext("%(counted)s.")) % parts
    if kind == "winner":
        scores = score_table.scores(decision)
        return scores.sentence if scores else cycle.headline(decision)
    return preemption.preemption_sentence(decision) if decision.preemption else cycle.headline(decision)


def mistake(grade: Grade, decision: Decision) -> str:
    """Return the explanation of a mistake; "" if it was not recognized."""
    is_pod = "/" in grade.subject
    values = {
        "subject": fmt.pod_name(grade.subject) if is_pod else node_name(grade.subject),
        "detail": grade.detail,
        "pod": fmt.pod_name(decision.pod),
        "priority": fmt.number(decision.priority),
    }
    if grade.mistake in ("not-active", "not-popped", "behind"):
        values["detail"] = title(cast(LaneName, grade.detail))
    if grade.mistake == "several-nodes":
        values["detail"] = fmt.listed(map(node_name, grade.detail.split(", ")))
    if grade.mistake == "other-node":
        values["detail"] = preemption.preemption_sentence(decision)
    if not grade.mistake:
        return ""
    return {
        "not-active": gettext("As long as activeQ has pods, they are popped: %(subject)s is in %(detail)s."),
        "not-popped": gettext("Pods in %(detail)s are not popped: %(subject)s is there."),
        "behind": gettext("%(subject)s was not the first in %(detail)s when %(pod)s was popped."),
        "gated": gettext("The plugin %(detail)s holds %(subject)s, so it is not in activeQ."),
        "size-or-age": gettext(
            "activeQ compares priority first; size does not count: %(subject)s has %(detail)s, %(pod)s "
            "has %(priority)s."
        ),
        "queued-later": gettext("Their priority is the same: %(subject)s is behind %(pod)s in the queue."),
        "taint": gettext("%(subject)s has a taint that %(pod)s does not tolerate (%(detail)s)."),
        "cordoned": gettext("%(subject)s is cordoned: no new pods are scheduled to it."),
        "plugin": gettext("%(subject)s does not pass %(detail)s."),
        "sum-of-nodes": gettext(
            "Free resources of several nodes do not add up: one node must fit the whole pod "
            "(%(subject)s: %(detail)s)."
        ),
        "lower-priority": gettext(
            "Filters count every pod on %(subject)s, also those with lower priority. Preemption "
            "follows only if no node passes."
        ),
        "limits": gettext(
            "Limits do not count. The filter compares only requests, and by requests %(subject)s has "
            "enough free resources."
        ),
        "missed": gettext("%(subject)s passes every filter."),
        "room-only": gettext(
            "Free resources are one score of several: %(subject)s has the best one, but %(detail)s decided."
        ),
        "scores": gettext("%(subject)s has a lower score mainly because of %(detail)s."),
        "not-lower": gettext(
            "Only pods of lower priority are evicted: %(subject)s has %(detail)s, %(pod)s has %(priority)s."
        ),
        "several-nodes": gettext(
            "Preemption evicts pods from one node only. These are on several: %(detail)s."
        ),
        "pdb-wall": gettext(
            "Preemption avoids violating a PodDisruptionBudget, but may violate it. %(subject)s is evicted."
        ),
        "too-many": gettext("Fewer victims are enough: %(subject)s is not evicted."),
        "too-few": gettext("Evicting only these does not make %(pod)s fit: %(subject)s is evicted, too."),
        "other-node": gettext("The rules do not choose %(subject)s. %(detail)s"),
        "nobody": gettext("Evicting pods with lower priority makes %(pod)s fit, so it preempts."),
        "no-help": gettext("Evicting pods with lower priority would make %(pod)s fit on no node."),
        "not-tried": gettext("Preemption was not tried for %(pod)s, so no pod is evicted."),
    }[grade.mistake] % values
