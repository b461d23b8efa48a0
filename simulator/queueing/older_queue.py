"""What the older queues have in common: the SchedulingQueue less what came after them."""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from simulator.api import Micros
from simulator.objects.pod import Pod
from simulator.queueing.active_queue import ActiveQueue
from simulator.queueing.hint import Registered
from simulator.queueing.hint_map import HintMap, QueueProfile
from simulator.queueing.pod_backoff import PodBackoff
from simulator.queueing.queued_pod import QueuedPod
from simulator.queueing.scheduling_queue import SchedulingQueue

GATES = "SchedulingGates"


class OlderQueue(SchedulingQueue):
    """Without queueing hints, without events kept for pods in flight, without a flush of pods that wait for
    long, and with the backoff of the time.

    Two liberties. Scheduling gates are honoured, as the API of today promises: to the versions told here the
    field meant nothing. And a pod that changes while it is in flight keeps to that lane until its attempt is
    over, where the real queues took it in a second time at once."""

    registered: Mapping[str, list[Registered]] = {}
    """What moves pods, whatever their plugins say."""

    def __init__(
        self,
        clock: Callable[[], Micros],
        profiles: Mapping[str, QueueProfile],
        lister: Callable[[str], Pod | None],
        **options: Any,
    ) -> None:
        """See :class:`SchedulingQueue`; the backoff of ``options`` counts for today's queue only."""
        super().__init__(clock, profiles, lister, **options)
        self._sequence = count(1)
        self.backoff_q = PodBackoff(clock, self._order)
        self.active_q = ActiveQueue(self._order, self.backoff_q)
        self.hints = HintMap(
            {
                name: QueueProfile(
                    self.registered,
                    {GATES: profile.pre_enqueue[GATES]} if GATES in profile.pre_enqueue else {},
                )
                for name, profile in profiles.items()
            }
        )

    def _updated_in_flight(self, info: QueuedPod) -> bool:
        """Whether the pod changed since it was popped: nothing but that is recorded here."""
        uid = info.pod.uid
        return self.active_q.in_flight(uid) and any(
            recorded.new.uid == uid for recorded in self.active_q.events_since_pop(info.pod)
        )

    def flush_unschedulable_leftover(self) -> None:
        """Not yet: a pod that no event helps waits for ever."""

    def next_leftover(self) -> Micros | None:
        return None
