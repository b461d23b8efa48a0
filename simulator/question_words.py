"""The words of the answers of questions about a whole cluster (:mod:`simulator.questions`), for the commands,
programs and the page, which translates them.

Values are inserted by their names, as by ``%``."""

from typing import Final

from simulator.words import gettext_noop

FITS: Final = gettext_noop("%(fits)s of %(all)s fit.")
STAY_PENDING: Final = gettext_noop("Pending: %(count)s. The most common reason: %(why)s")
EVICTED: Final = gettext_noop(
    "Evicted by preemption: %(count)s. Running again: %(again)s; pending: %(pending)s; not created again: "
    "%(gone)s."
)
DRAINED: Final = gettext_noop(
    "Nodes: %(nodes)s. Pods that leave them: %(count)s. Running again: %(again)s; pending: %(pending)s; not "
    "created again: %(gone)s."
)
DRAINED_NOTHING: Final = gettext_noop("Nodes: %(nodes)s. No pod leaves them.")
DRAINED_IN_ROUNDS: Final = gettext_noop(
    "Disruption budgets let them leave in %(rounds)s rounds; the last one leaves after %(time)s."
)
KEPT_BY_BUDGET: Final = gettext_noop(
    "Not evicted: %(count)s with a disruption budget; kubectl drain tries again every 5 s until its timeout. "
    "%(why)s"
)
KEPT_BY_DRAIN: Final[dict[str, str]] = {
    "no owner": gettext_noop(
        "Not evicted: %(count)s without a controller, which nothing would create again. kubectl drain needs "
        "--force for these."
    ),
    "local storage": gettext_noop(
        "Not evicted: %(count)s with emptyDir volumes, whose data would be lost. kubectl drain needs "
        "--delete-emptydir-data for these."
    ),
}
MORE_FIT: Final = gettext_noop("%(count)s more of %(what)s fit, on %(nodes)s of %(all)s nodes.")
AT_LEAST_MORE_FIT: Final = gettext_noop(
    "At least %(count)s more of %(what)s fit, on %(nodes)s of %(all)s nodes."
)
LIMITED_BY: Final = gettext_noop("%(resource)s is what most nodes lack for one more: %(nodes)s of %(all)s.")
NO_MORE_BECAUSE: Final = gettext_noop("The next one fits nowhere: %(why)s")
NO_PROFILE: Final = gettext_noop("No profile has the schedulerName %(name)s: this scheduler does not see it.")
NO_ROOM_NEEDED: Final = gettext_noop("No pod is pending that a node would help.")
ADD_NODES: Final = gettext_noop(
    "Nodes like %(shape)s that are needed: %(nodes)s. With them, %(pods)s of %(all)s pending pods run."
)
ADD_COSTS: Final = gettext_noop("That costs %(cost)s, the least of the shapes that let as many pods run.")
NO_NODES_HELP: Final = gettext_noop("No number of nodes of these shapes lets a pending pod run.")
STAY_WITHOUT_NODE: Final = gettext_noop("%(count)s stay pending with any number: %(why)s")
REMOVABLE: Final = gettext_noop("%(count)s of %(all)s nodes can be removed together: %(names)s.")
REMOVABLE_AND_MORE: Final = gettext_noop(
    "%(count)s of %(all)s nodes can be removed together: %(names)s and %(more)s more."
)
NONE_REMOVABLE: Final = gettext_noop("None of %(all)s nodes can be removed.")
REMOVABLE_ALONE: Final = gettext_noop("Each by itself: %(count)s.")
KEPT_NODES: Final[dict[str, str]] = {
    "pending": gettext_noop(
        "Kept, as a pod has no other node: %(count)s, such as %(node)s by %(pod)s: %(why)s"
    ),
    "budget": gettext_noop("Kept by a disruption budget: %(count)s, such as %(node)s by %(pod)s: %(why)s"),
    "no owner": gettext_noop(
        "Kept by a pod that nothing creates again: %(count)s, such as %(node)s by %(pod)s."
    ),
    "local storage": gettext_noop(
        "Kept by a pod with emptyDir volumes: %(count)s, such as %(node)s by %(pod)s."
    ),
    "static": gettext_noop("Kept by a static pod: %(count)s, such as %(node)s by %(pod)s."),
}
TOLERATES_CORDON: Final = gettext_noop(
    "It tolerates the taint of cordoned nodes, and would be placed there again."
)
EVICTIONS: Final = gettext_noop("Evictions: %(count)s. Pods that ran again: %(again)s.")
NO_EVICTIONS: Final = gettext_noop("No pod was evicted.")
MOST_EVICTIONS: Final = gettext_noop(
    "Most were for %(by)s: %(count)s. Most pods were lost by %(owner)s: %(lost)s."
)
MOST_EVICTIONS_UNEXPLAINED: Final = gettext_noop(
    "Of most it is not known who caused them: %(count)s. Most pods were lost by %(owner)s: %(lost)s."
)
RAN_AGAIN_AFTER: Final = gettext_noop("Until a pod ran again: median %(median)s, longest %(longest)s.")
WITH_SEEDS: Final = gettext_noop(
    "Nodes of equal score are drawn. With %(seeds)s seeds the figure is from %(least)s to %(most)s."
)
STOPPED_EARLY: Final = gettext_noop("It was stopped early: this is what was found until then.")
OWNERS_MADE_UP: Final = gettext_noop(
    "The objects lack %(count)s ReplicaSets of pods: these were made up of the pods, so that evicted pods "
    "are created again."
)
OWNERS_MISSING: Final = gettext_noop(
    "The objects lack the controllers of %(count)s pods, so these are not created again here."
)

ADDED: Final = gettext_noop("added")
DRAINED_NODE: Final = gettext_noop("drained")
REMOVED_NODE: Final = gettext_noop("removed")
ANSWER_TABLES: Final[dict[str, str]] = {
    "pods": gettext_noop("Pods"),
    "evicted": gettext_noop("Evicted by preemption"),
    "kept": gettext_noop("Pods that stay"),
    "places": gettext_noop("Nodes"),
    "reasons": gettext_noop("Why no more fits"),
    "tried": gettext_noop("Nodes"),
    "moves": gettext_noop("Where their pods go"),
    "shapes": gettext_noop("Shapes"),
    "causes": gettext_noop("For whom"),
    "suffered": gettext_noop("Who lost pods"),
    "repeated": gettext_noop("Evicted more than once"),
    "evictions": gettext_noop("Evictions"),
    "zones": gettext_noop("What is left in each zone"),
}
"""The titles of the lists of an answer, by the names of its fields."""
ANSWER_COLUMNS: Final[dict[str, str]] = {
    "after": gettext_noop("then"),
    "at": gettext_noop("after"),
    "because": gettext_noop("because"),
    "by": gettext_noop("for"),
    "cheapest": gettext_noop("best"),
    "cost": gettext_noop("cost"),
    "count": gettext_noop("count"),
    "cpu_after": gettext_noop("free cpu then"),
    "cpu_before": gettext_noop("free cpu now"),
    "limit": gettext_noop("lacks"),
    "memory_after": gettext_noop("free memory then"),
    "memory_before": gettext_noop("free memory now"),
    "node": gettext_noop("node"),
    "nodes": gettext_noop("nodes"),
    "of": gettext_noop("of"),
    "order": gettext_noop("round"),
    "owner": gettext_noop("owner"),
    "pending": gettext_noop("pending"),
    "pod": gettext_noop("pod"),
    "pods": gettext_noop("pods"),
    "priority": gettext_noop("priority"),
    "priority_class": gettext_noop("PriorityClass"),
    "ran_again": gettext_noop("ran again"),
    "reason": gettext_noop("reason"),
    "removable": gettext_noop("removable"),
    "replacement": gettext_noop("created again as"),
    "run": gettext_noop("run"),
    "shape": gettext_noop("shape"),
    "state": gettext_noop("state"),
    "time": gettext_noop("time"),
    "to": gettext_noop("on node"),
    "waited": gettext_noop("after"),
    "why": gettext_noop("why"),
    "zone": gettext_noop("zone"),
}
"""The titles of the columns, by the names of the fields."""
ANSWER_VALUES: Final = (
    gettext_noop("fits"), gettext_noop("pending"), gettext_noop("evicted"), gettext_noop("not created"),
    gettext_noop("runs"), gettext_noop("ending"), gettext_noop("together"), gettext_noop("alone"),
    gettext_noop("no"), gettext_noop("yes"), gettext_noop("daemon"), gettext_noop("static"),
    gettext_noop("leaving"), gettext_noop("no owner"), gettext_noop("local storage"), gettext_noop("budget"),
)  # fmt: skip
"""The words in the columns of an answer that are translated."""
