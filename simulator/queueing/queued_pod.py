"""QueuedPod: a pod in the scheduling queue (QueuedPodInfo in pkg/scheduler/framework/types.go)."""

from dataclasses import dataclass, field

from simulator.api import Micros
from simulator.objects.pod import Pod
from simulator.trace import Lane


@dataclass(slots=True)
class QueuedPod:
    pod: Pod
    timestamp: Micros
    """Time at which the pod was added or its last attempt failed. Orders pods of equal priority."""
    sequence: int
    """Orders pods of equal timestamp. Upstream does not define their order, but here many pods have the same
    timestamp, because simulated time does not advance with each event."""
    place: int = 0
    """The pod's position in a Fifo; 0 in other queues."""
    attempts: int = 0
    first_active: int = 0
    """Orders pods by the time at which they entered activeQ first (InitialAttemptTimestamp), from 1; 0 before
    that."""
    unschedulable_count: int = 0
    """The number of attempts that ended with a rejection by plugins (UnschedulableCount)."""
    consecutive_errors: int = 0
    """The number of attempts in succession that ended with an error (ConsecutiveErrorsCount)."""
    backoff_expiration: Micros | None = None
    """Time at which the backoff ends; None = not computed since the last failure."""
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    gating_plugin: str = ""
    """The PreEnqueue plugin that keeps the pod out of activeQ and backoffQ, "" if none does."""
    lane: Lane | None = None

    @property
    def gated(self) -> bool:
        return bool(self.gating_plugin)

    @property
    def failed_by_error(self) -> bool:
        """Whether the last attempt failed by an error: no plugin rejected the pod."""
        return not self.unschedulable_plugins and not self.pending_plugins
