"""The words for where a pod is and why, and for what an attempt says of a node: the one table for the
commands, the Python client and the page, which translates them.

Values are inserted by their names, as by ``%``."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal

from simulator.api import SECOND, Micros
from simulator.decision import Decision, Preemption, Shortage
from simulator.objects.amount_text import amount_text, distinct_amounts
from simulator.plugins.node_resources.fit import lacking_resource


def gettext_noop(text: str) -> str:
    """Mark a text for the catalogue of translations (tests/messages.py), as Django's function does."""
    return text


def plural_noop(one: str, many: str) -> tuple[str, str]:
    """Mark both forms of a text for the catalogue of translations."""
    return one, many


# Nodes

Unseen = Literal["nominated", "hinted", "enough", "pre-filter", "error", ""]
"""Why a node was not looked at; "" = the attempt is not finished, or the node is not in the placement of its
group."""

UNSEEN: Final[dict[Unseen, str]] = {
    "nominated": gettext_noop("not looked at: the nominated node fits"),
    "hinted": gettext_noop("not looked at: the next best node of the cycle before fits"),
    "enough": gettext_noop("not looked at: enough other nodes fit"),
    "pre-filter": gettext_noop("not looked at: %(plugin)s rejected the pod for all nodes"),
    "error": gettext_noop("not looked at: the attempt ended with an error"),
    "": gettext_noop("not looked at"),
}

SHORTAGE: Final = gettext_noop("needs %(needs)s, free %(free)s of %(allocatable)s")
LARGEST_SHORTAGE: Final = gettext_noop("needs %(needs)s, free at most %(free)s of %(allocatable)s")
"""SHORTAGE of the node that lacks least, for several."""


def is_refused_by_pre_filter(decision: Decision) -> bool:
    """Whether a PreFilter plugin rejected the pod, so that no node was looked at."""
    return decision.pre_filter is not None and decision.pre_filter.code in (
        "Unschedulable",
        "UnschedulableAndUnresolvable",
        "Pending",
    )


def unseen_kind(decision: Decision) -> Unseen:
    """Return why the nodes with the verdict -1 were not looked at."""
    if decision.hinted is True:
        return "hinted"
    if decision.nominated_shortcut:
        return "nominated"
    if is_refused_by_pre_filter(decision):
        return "pre-filter"
    if decision.outcome == "error":
        return "error"
    return "enough" if decision.sample and decision.sample.is_enough else ""


def unseen_values(decision: Decision) -> dict[str, str]:
    return {"plugin": decision.pre_filter.plugin if decision.pre_filter else ""}


def shortage_values(shortage: Shortage, *, decimal: bool = False) -> dict[str, str]:
    """Return the values of SHORTAGE. decimal: in decimal units, as the request is written."""
    resource = shortage.resource
    needs, free = distinct_amounts(resource, shortage.needs, shortage.free, decimal=decimal)
    return {
        "needs": needs,
        "free": free,
        "allocatable": amount_text(resource, shortage.allocatable, decimal=decimal),
    }


def with_amounts(
    reasons: Iterable[str],
    shortages: Iterable[Shortage],
    text: str = SHORTAGE,
    requests: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    """Yield the reasons of a rejected node, those of NodeResourcesFit with the amounts. text: for one node or
    for several. requests: the pod's requests as they are written, for the units."""
    lacking = {each.resource: each for each in shortages}
    for reason in reasons:
        shortage = lacking.get(lacking_resource(reason))
        if shortage is None:
            yield reason
            continue
        written = requests.get(shortage.resource, "")
        decimal = bool(written) and not written.endswith("i")
        yield f"{reason}: {text % shortage_values(shortage, decimal=decimal)}"


# Preemption

PREEMPTION_RULES: Final[dict[int, str]] = {
    0: gettext_noop("%(node)s is the only candidate."),
    1: gettext_noop("Rule 1 decided: %(node)s has the fewest PodDisruptionBudget violations, %(figure)s."),
    2: gettext_noop("Rule 2 decided: %(node)s's highest victim priority, %(figure)s, is the lowest."),
    3: gettext_noop("Rule 3 decided: %(node)s has the smallest sum of victim priorities."),
    4: gettext_noop("Rule 4 decided: %(node)s needs the fewest victims, %(figure)s."),
    5: gettext_noop("Rule 5 decided: %(node)s's most important victim started latest, at %(figure)s."),
    6: gettext_noop("All five rules leave more than one node: %(node)s is selected at random."),
}
"""The rules of pickOneNodeForPreemption (pkg/scheduler/framework/preemption/preemption.go) by which
the node was chosen."""
NO_START_TIME: Final = gettext_noop(
    "Rule 5 decided: the most important victims on %(node)s have no start time."
)
CHOSEN_BY_PLUGIN: Final = gettext_noop("The plugin %(plugin)s chose %(node)s.")


def preemption_rule(found: Preemption) -> str:
    """Return the sentence for the rule by which a preemption chose its node."""
    chosen = found.chosen_candidate
    if chosen is None:
        return CHOSEN_BY_PLUGIN
    if found.rule == 5 and not chosen.earliest_start:
        return NO_START_TIME
    return PREEMPTION_RULES[found.rule]


def preemption_values(found: Preemption) -> dict[str, str]:
    """Return the values of the sentence, as the recording has them."""
    chosen = found.chosen_candidate
    figure = chosen.figures[found.rule - 1] if chosen is not None and 1 <= found.rule <= 5 else ""
    return {"node": found.chosen, "plugin": found.plugin, "figure": str(figure)}


# Where a pod is, and why

PodReasonKind = Literal[
    "deleted", "finished", "terminating", "terminating-silent", "finalizers",
    "node-missing", "node-silent", "claim-missing", "claim-unbound", "claim-unselected", "starting",
    "restarting", "running",
    "arriving", "outside", "gated", "gated-by-plugin", "victims", "activeQ", "backoffQ", "unschedulable",
    "error", "group-failed", "group-retried", "any-event", "cycle", "binding", "binding-claims",
    "binding-devices", "permit",
]  # fmt: skip

POD_REASONS: Final[dict[PodReasonKind, str]] = {
    "deleted": gettext_noop("It was deleted."),
    "finished": gettext_noop("Its containers have ended: %(what)s."),
    "terminating": gettext_noop("It is being terminated, and is removed in %(time)s at the latest."),
    "terminating-silent": gettext_noop(
        "It is to be terminated, but the kubelet of %(node)s does not report: it is removed when the kubelet "
        "works again."
    ),
    "finalizers": gettext_noop("It is deleted, and is removed when its finalizers are: %(names)s."),
    "node-missing": gettext_noop("It is bound to %(node)s, which does not exist: no kubelet starts it."),
    "node-silent": gettext_noop("It is bound to %(node)s, whose kubelet does not report: it is not started."),
    "claim-missing": gettext_noop(
        "It is bound to %(node)s, and is not started: its claim %(names)s does not exist."
    ),
    "claim-unbound": gettext_noop(
        "It is bound to %(node)s, and is not started before its claim %(names)s is bound to a volume."
    ),
    "claim-unselected": gettext_noop(
        "It is bound to %(node)s, and is not started: its claim %(names)s waits until the scheduler "
        "selects a node for the volume, and spec.nodeName bypassed the scheduler."
    ),
    "starting": gettext_noop("It is bound to %(node)s, whose kubelet starts it."),
    "restarting": gettext_noop("Its containers have failed, and are started again in %(time)s."),
    "running": gettext_noop("It runs on %(node)s."),
    "arriving": gettext_noop("It is stored, and not in the scheduling queue yet."),
    "outside": gettext_noop("It waits for the scheduler %(what)s, which is not this sandbox's own."),
    "gated": gettext_noop("It is gated: it waits until its scheduling gates are removed (%(names)s)."),
    "gated-by-plugin": gettext_noop("It is gated: %(what)s keeps it out of activeQ."),
    "victims": gettext_noop(
        "It is nominated to %(node)s, and is tried again when its victims are gone: %(names)s."
    ),
    "activeQ": gettext_noop("It is in activeQ, and is tried after the pods before it."),
    "backoffQ": gettext_noop(
        "It backs off, and enters activeQ in %(time)s at the latest; earlier if activeQ is empty."
    ),
    "error": gettext_noop("Its last attempt ended with an error: it enters activeQ in %(time)s."),
    "group-failed": gettext_noop(
        "Its pod group %(what)s could not be scheduled: it is tried again in %(time)s, or with another pod "
        "of the group."
    ),
    "group-retried": gettext_noop(
        "Its pod group %(what)s is tried again without pause; nothing has changed since the last try."
    ),
    "unschedulable": gettext_noop(
        "It is tried again at the latest in %(time)s: nothing that the queueing hints of %(names)s wait for "
        "has happened."
    ),
    "any-event": gettext_noop("It is tried again after the next event that can make it schedulable."),
    "cycle": gettext_noop("Its scheduling cycle is under way."),
    "binding": gettext_noop("The scheduler has selected %(node)s, and binds the pod to it."),
    "binding-devices": gettext_noop(
        "The scheduler has selected %(node)s, and binds the pod when the devices of its claims are ready: "
        "%(names)s."
    ),
    "binding-claims": gettext_noop(
        "The scheduler has selected %(node)s, and binds the pod when its claims are bound to volumes: "
        "%(names)s."
    ),
    "permit": gettext_noop(
        "Resources on %(node)s are reserved for it. It waits on Permit for %(names)s, for at most %(time)s."
    ),
}


# Changes from one scheduler to another

CHANGED: Final[dict[str, str]] = {
    "runs": gettext_noop("would run, and did not"),
    "pends": gettext_noop("would be pending, and was not"),
    "elsewhere": gettext_noop("would run on another node"),
    "ties": gettext_noop("would run on one of other nodes with equal scores"),
    "preemption": gettext_noop("would preempt other pods"),
    "message": gettext_noop("would have another message"),
}
"""What another scheduler changes for a pod; the keys are those of
:data:`simulator.compare.changed_decisions.Effect`."""
CONFIGURATION_CHANGES: Final[dict[str, str]] = {
    "extenders": gettext_noop("The extenders are others."),
    "profile added": gettext_noop("There is a profile %(profile)s."),
    "profile removed": gettext_noop("There is no profile %(profile)s."),
    "percentageOfNodesToScore": gettext_noop("percentageOfNodesToScore is %(after)s instead of %(before)s."),
    "order": gettext_noop("Plugins run in another order."),
    "extensionPoints": gettext_noop("%(plugin)s runs at %(after)s instead of %(before)s."),
    "extensionPoints added": gettext_noop("%(plugin)s is enabled."),
    "extensionPoints removed": gettext_noop("%(plugin)s is disabled."),
    "weight": gettext_noop("%(plugin)s has the weight %(after)s instead of %(before)s."),
    "args": gettext_noop("%(plugin)s has %(after)s instead of %(before)s."),
}
"""What changes from one KubeSchedulerConfiguration to another; the keys are those of
:data:`simulator.compare.configuration_changes.Aspect`."""
SEVERAL_CHANGES: Final = gettext_noop("Several of the changes together.")


# Durations


def spoken_duration(duration: Micros) -> str:
    """Return a duration in its two largest units: ``4 min 12 s``, ``400 ms``."""
    if duration < SECOND:
        return f"{max(duration, 0) // 1000} ms"
    seconds = duration // SECOND
    units = (
        (seconds // 86400, "d"),
        (seconds // 3600 % 24, "h"),
        (seconds // 60 % 60, "min"),
        (seconds % 60, "s"),
    )
    first = next(place for place, (count, _) in enumerate(units) if count)
    return " ".join(f"{count} {unit}" for count, unit in units[first : first + 2] if count)
