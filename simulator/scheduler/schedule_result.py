"""The result of the search of a scheduling cycle: ScheduleResult (pkg/scheduler/scheduler.go) and FitError
(pkg/scheduler/framework/types.go), v1.34.

The scheduler acts on these. A :class:`simulator.decision.Decision` is the record of the same for display."""

from typing import NamedTuple

from simulator.framework.status import SelectedCandidate


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
