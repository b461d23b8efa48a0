"""OlderQueue: base class for the queues of older versions."""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from simulator.api import Micros
from simulator.framework.queueing_hint import ClusterEventWithHint
from simulator.framework.status import Status
from simulator.objects.pod import Pod
from simulator.queueing.active_queue import ActiveQueue
from simulator.queueing.hint_map import HintMap, QueueProfile, RunPreEnqueue
from simulator.queueing.pod_backoff import PodBackoff
from simulator.queueing.queued_pod import QueuedPod
from simulator.queueing.scheduling_queue import SchedulingQueue

SCHEDULING_GATES = "SchedulingGates"


class OlderQueue(SchedulingQueue):
    """The SchedulingQueue without queueing hints, without cluster events for pods in flight, without
    flush_unschedulable_leftover, and with PodBackoff.

    It differs from the real queues in two points. It gates pods with scheduling gates, although these
    versions had no scheduling gates. And a pod that is updated while it is in flight is not added to the
    queue before its attempt is finished; the real queues added it immediately."""

    registered: Mapping[str, list[ClusterEventWithHint]] = {}
    """The events that move pods. The events that plugins register have no effect."""

    def __init__(
        self,
        clock: Callable[[], Micros],
        profiles: Mapping[str, QueueProfile],
        lister: Callable[[str], Pod | None],
        **options: Any,
    ) -> None:
        """See :class:`SchedulingQueue`. The backoff durations in ``options`` have no effect."""
        super().__init__(clock, profiles, lister, **options)
        self._sequence = count(1)
        self.backoff_q = PodBackoff(clock, self._order)
        self.active_q = ActiveQueue(self._order, self.backoff_q)
        self.hints = HintMap(
            {
                name: QueueProfile(self.registered, _scheduling_gates_only(profile.pre_enqueue))
                for name, profile in profiles.items()
            }
        )

    def _updated_in_flight(self, info: QueuedPod) -> bool:
        """Whether the pod was updated since it was popped."""
        uid = info.pod.uid
        return self.active_q.is_in_flight(uid) and any(
            event.new.uid == uid for event in self.active_q.cluster_events_for_pod(info.pod)
        )

    def flush_unschedulable_leftover(self) -> None:
        """Do nothing: these versions did not move pods after a time."""

    def leftover_time(self, info: QueuedPod) -> Micros | None:
        return None


def _scheduling_gates_only(pre_enqueue: RunPreEnqueue) -> RunPreEnqueue:
    """Return a function that runs the PreEnqueue plugins and ignores all of them except SchedulingGates."""

    def run(pod: Pod, first: str) -> Status | None:
        status = pre_enqueue(pod, SCHEDULING_GATES)
        return status if status is not None and status.plugin == SCHEDULING_GATES else None

    return run
