"""The result of a comparison as plain data."""

from typing import Literal

import msgspec

from simulator.api import Micros
from simulator.compare.second_scheduler import RunDecisions
from simulator.decision import Decision

Unit = Literal["pods", "percent", "points"]
"""The unit of a curve. ``points`` are percentage points, for standard deviations."""
Since = Literal["archive", "stood-down", "bound"]
"""The reason for the beginning of a comparison with an outside scheduler: older writes are not stored; the
sandbox's scheduler stood down then; or it is the last start of a leader before an outside scheduler bound a
pod."""


class Curve(msgspec.Struct, frozen=True):
    """A metric over simulated time, as a step function: each value is valid until the next point's time."""

    name: str
    """The name of the metric: ``pending``, ``requested:<resource>``, ...; see
    :class:`simulator.compare.observer.Observer`."""
    unit: Unit
    points: list[tuple[Micros, float]]
    """The points of the curve (time since the start, value), thinned out. Mean and peak are computed from all
    values."""
    mean: float
    """The mean over time."""
    peak: float
    last: float


class WaitTimes(msgspec.Struct, frozen=True):
    """The times for which the pods of one priority waited for a node, from their creation or the removal of
    their last scheduling gate."""

    priority: int
    bound: int
    median: Micros | None
    """The median wait of bound pods; None if none was bound. So is ``p90``, the 90th percentile."""
    p90: Micros | None
    pending: int
    """Number of pods that still wait at the end."""
    longest_pending: Micros
    """The longest wait of those pods; 0 if there are none."""


class RunOutcome(msgspec.Struct, frozen=True):
    """The result of one side."""

    cycles: int
    bound: int
    preempted: int
    """Number of pods evicted by preemption."""
    curves: list[Curve]
    waits: list[WaitTimes]
    """The waits, highest priority first."""
    distribution: Curve | None = None
    """The share of the bound pods over the longest wait among them; None if no pod was bound."""

    def curve(self, name: str) -> Curve | None:
        return next((curve for curve in self.curves if curve.name == name), None)


class Difference(msgspec.Struct, frozen=True):
    """The first scheduling cycle in which the two sides differ."""

    cycle: int
    kind: Literal["pod", "outcome", "node", "victims", "none"]
    """The part that differs: the pod that was popped, the outcome, the node that was chosen or nominated, or
    its victims; ``none``: one side has no such cycle."""
    a: Decision | None
    b: Decision | None


class PodDifference(msgspec.Struct, frozen=True):
    """The first pod that an outside scheduler (``a``) and the model (``b``) placed differently: of those that
    the outside scheduler bound, in that order, or else of those that only the model bound."""

    pod: str
    a: str
    """The node of the pod on side A; "" = it was not bound. ``b`` is that of side B."""
    b: str
    a_time: Micros | None
    """The time of the binding on side A; None = it was not bound. ``b_time`` is that of side B."""
    b_time: Micros | None
    decision: Decision | None
    """The model's last decision for the pod; None if it is not kept, or the model made none."""


class PodsCompared(msgspec.Struct, frozen=True):
    """The pods that an outside scheduler and the model placed on the same nodes, and on others, of those that
    either of them bound."""

    same: int
    different: int
    first: PodDifference | None
    since: Since = "archive"
    """The reason for the beginning of the comparison."""


class PlacedPod(msgspec.Struct, frozen=True):
    """A pod that was placed again."""

    pod: str
    before: str
    """The node that it had."""
    a: str | None
    """Its node on side A at the end; "" = it has none, None = the pod is gone. ``b`` is that of side B."""
    b: str | None


class PlacedPods(msgspec.Struct, frozen=True):
    """The pods that were placed again, and where they are at the end."""

    total: int
    moved_a: int
    """Number of pods with another node than before on side A. ``moved_b`` is that of side B."""
    moved_b: int
    without_node_a: int
    """Number of pods that wait for a node on side A. ``without_node_b`` is that of side B."""
    without_node_b: int
    different: int
    """Number of pods that do not have the same node on both sides."""
    changed: int
    """Number of pods that are not on their node of before on both sides."""
    moves: list[PlacedPod]
    """The pods that are not on their node of before on both sides, in the order in which they were placed;
    those that differ between the sides first. The first MAX_MOVES."""


class Comparison(msgspec.Struct, frozen=True):
    start: Micros
    end: Micros
    """The simulated time that was compared, since the start."""
    complete: bool
    """Whether the comparison was completed. False: it was stopped early."""
    reference: dict[str, int]
    """The requests of the reference pod for fragmentation; empty if there is none."""
    a: RunOutcome
    b: RunOutcome
    difference: Difference | None
    """The first cycle that differs; None if no cycle does."""
    placed: PlacedPods | None = None
    """The pods that were placed again; None if bound pods kept their nodes."""
    kept: int = 0
    """Number of pods that had nodes at the start and kept them, as a scheduler moves no pod."""
    pods: PodsCompared | None = None
    """The comparison of pods, instead of ``difference``, where A is the recording of an outside scheduler,
    which has no cycles."""
    decided_again: RunDecisions | None = None
    """The decisions of side A that the scheduler of side B would have made otherwise; None if both sides have
    the same version, feature gates and configuration."""
