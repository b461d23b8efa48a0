"""The number of feasible nodes that end the search of a scheduling cycle, and the result of the search:
ScheduleResult (pkg/scheduler/scheduler.go) and FitError (pkg/scheduler/framework/types.go).

The scheduler acts on these. A :class:`simulator.decision.Decision` is the record of the same for display."""

from typing import NamedTuple

from simulator.decision import MIN_FEASIBLE_NODES_TO_FIND
from simulator.framework.runtime import Framework
from simulator.framework.status import SelectedCandidate

MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND = 5
"""The least share of the nodes, however large the cluster is."""


def num_feasible_nodes_to_find(nodes: int, percentage: int) -> int:
    """Return the number of feasible nodes that end a search. ``percentage`` is percentageOfNodesToScore; 0 =
    a share that shrinks as the cluster grows."""
    if nodes < MIN_FEASIBLE_NODES_TO_FIND:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES_TO_FIND)


def enough_feasible_nodes(framework: Framework, nodes: int, *, exhaustive: bool) -> int:
    """Return how many feasible nodes of ``nodes`` end a search: one, where no plugin or extender filters or
    scores them afterwards, unless the search is ``exhaustive``."""
    chooses = framework.score_plugins or any(
        extender.config.filter_verb or extender.config.prioritize_verb for extender in framework.extenders
    )
    if not chooses and not exhaustive:
        return 1
    return num_feasible_nodes_to_find(nodes, framework.profile.percentage_of_nodes_to_score)


class FitError(NamedTuple):
    """No node fits. ``message`` is that of the PodScheduled condition, with the part of PostFilter."""

    message: str
    unschedulable_plugins: frozenset[str]
    nominated_node: str | None = None
    """The nomination of the pod: "" clears it, None leaves it as it is."""
    candidate: SelectedCandidate | None = None
    """The candidate that preemption selected."""


class ScheduleResult(NamedTuple):
    """The result of a search. ``suggested_host`` is the name of the chosen node. Where it is empty, either
    ``error`` is the message of the fault that ended the search, or ``fit_error`` says why no node fits."""

    suggested_host: str
    error: str = ""
    fit_error: FitError | None = None
