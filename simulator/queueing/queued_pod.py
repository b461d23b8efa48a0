"""A pod in the scheduling queue (QueuedPodInfo, pkg/scheduler/framework/types.go, v1.34)."""

from dataclasses import dataclass, field

from simulator.api import Micros
from simulator.objects.pod import Pod
from simulator.trace import Lane


@dataclass(slots=True)
class QueuedPod:
    pod: Pod
    timestamp: Micros
    """When it was added, or last failed: orders pods of equal priority. Moves do not change it."""
    sequence: int
    """Orders pods of equal timestamp, which upstream leaves to its heap: simulated time may stand still."""
    place: int = 0
    """Its place in the line of a queue that knows no priority; 0 in the others."""
    attempts: int = 0
    unschedulable_count: int = 0
    """How often it was rejected, over its whole life."""
    consecutive_errors: int = 0
    backoff_expiration: Micros | None = None
    """A whole second; None = not worked out since the last failure."""
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    gating_plugin: str = ""
    """The PreEnqueue plugin that keeps it out of activeQ and backoffQ."""
    lane: Lane | None = None

    @property
    def gated(self) -> bool:
        return bool(self.gating_plugin)

    @property
    def failed_by_error(self) -> bool:
        """No plugin rejected it: a fault sent it back."""
        return not self.unschedulable_plugins and not self.pending_plugins
