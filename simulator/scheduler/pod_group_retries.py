"""The endless retry of pod groups that fail.

Members of a group that were rejected go to backoffQ whatever the reason, and backoffQ is popped while activeQ
is empty: v1.36 tries a failed group again and again without pause. As long as nothing changes, each try ends
as the one before. So a group is *stale* from the time at which it was popped until something changes, and
while only stale groups wait, no cycle is run: the tries are counted when something changes, as if each had
taken its time."""

from collections.abc import Callable
from typing import Final

from simulator.api import Manifest, Micros
from simulator.framework.cluster_event import EVENT_RESOURCES
from simulator.objects.pod import Pod
from simulator.objects.pod_group import POD_GROUPS
from simulator.queueing.backoff_queue import ORDERING_WINDOW
from simulator.queueing.queued_pod import QueuedPod
from simulator.queueing.scheduling_queue import SchedulingQueue
from simulator.trace import Event, PodGroupRetried

RETRY_TIME: Final[Micros] = 1000
"""The least simulated time of a retry: that of a cycle with its writes on an idle control plane."""
_READ: Final = frozenset((*EVENT_RESOURCES, "namespaces", "poddisruptionbudgets.policy"))
"""The resources of which a change can change what becomes of a group, without pods and nodes."""
_FOR_SPREADING: Final = frozenset(
    ("services", "replicationcontrollers", "replicasets.apps", "statefulsets.apps")
)
"""Those that only their spec makes so: their selectors are the defaults of PodTopologySpread."""


class PodGroupRetries:
    """Which groups are stale, and the retries that are only counted. ``retry_time`` is the simulated time of
    one."""

    def __init__(
        self,
        queue: SchedulingQueue,
        clock: Callable[[], Micros],
        emit: Callable[[Event], None],
    ) -> None:
        self._queue = queue
        self._clock = clock
        self._emit = emit
        self.retry_time: Micros = RETRY_TIME
        self._stale: set[str] = set()
        """The groups that were popped since the last change. Each has a pod in flight, or in the queue."""
        self._resting_since: Micros | None = None
        self._retried: set[str] = set()
        """The groups that are tried without pause since then."""
        self.retried: Callable[[str], object] = lambda pod: None
        """Is called with the key of each pod whose retries begin to be counted, or were counted."""

    def popped(self, group: str) -> None:
        self._stale.add(group)

    def rest(self) -> bool:
        """Return whether only pods of stale groups could be popped, so that none needs to be. To be asked
        after each step; the retries count from then on."""
        queue = self._queue
        resting = (
            bool(self._stale)
            and not queue.active_q
            and all(map(self._is_stale, queue.backoff_q.rejected.items()))
        )
        if not resting:
            self._count_retries()
        elif self._resting_since is None:
            self._resting_since = self._clock()
            self._begin_retries()
        return resting

    def _begin_retries(self) -> None:
        """Note the groups that are tried without pause: those of which a pod was rejected."""
        for group, members in self._queue.members_in_backoff().items():
            if group in self._stale and not all(info.failed_by_error for info in members):
                self._retried.add(group)
                for info in members:
                    self.retried(info.pod.key)

    def retried_since(self, info: QueuedPod) -> Micros | None:
        """Return the time from which a pod's retries are only counted; None if there are none: a group of
        which no pod was rejected is tried again when its backoff ends."""
        return self._resting_since if info.pod.pod_group in self._retried else None

    def next_completion(self) -> Micros | None:
        """Return the earliest time at which the backoff of a pod is completed that is of no stale group."""
        backoff_q = self._queue.backoff_q
        ends = [backoff_q.expiration(info) for info in backoff_q.errors.items() if not self._is_stale(info)]
        return min(ends) + ORDERING_WINDOW if ends else None

    def _is_stale(self, info: QueuedPod) -> bool:
        return info.pod.pod_group in self._stale

    # Changes

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        if old is None or new is None or _matters(old) != _matters(new):
            self.changed()

    def object_changed(self, resource: str, old: Manifest | None, new: Manifest | None) -> None:
        """Note a change of an object that is neither a pod nor a node. The condition of a PodGroup, which the
        scheduler sets itself, is none."""
        if resource in _FOR_SPREADING or resource == POD_GROUPS:
            if (old or {}).get("spec") != (new or {}).get("spec"):
                self.changed()
        elif resource in _READ:
            self.changed()

    def changed(self) -> None:
        """Note a change: no group is stale any more."""
        self._count_retries()
        self._stale.clear()

    def time_passes(self) -> None:
        """Forget the retries until now: no time has passed in which there could be any."""
        self._resting_since, self._retried = None, set()
        self._stale.clear()

    def _count_retries(self) -> None:
        """Count the retries since the last cycle ended."""
        since, self._resting_since = self._resting_since, None
        if since is None:
            return
        retried, self._retried = self._retried, set()
        for group, members in sorted(self._queue.members_in_backoff().items()):
            if group not in self._stale:
                continue
            times = (self._clock() - since) // self.retry_time
            if group not in retried:
                times = self._completed_backoffs(since, members[0].consecutive_errors)
            for info in members if times else ():
                self._queue.failed_again(info, times, self._clock())
                self.retried(info.pod.key)
            if times:
                self._emit(PodGroupRetried(t=self._clock(), group=group, since=since, count=times))

    def _completed_backoffs(self, since: Micros, errors: int) -> int:
        """Return how often a group was tried of which no pod was rejected: each time when its backoff had
        ended."""
        backoff_q, now, times = self._queue.backoff_q, self._clock(), 0
        longest = backoff_q.duration(64)
        while (duration := backoff_q.duration(errors + times)) < longest and since + duration <= now:
            since, times = since + duration, times + 1
        return times + max(0, now - since) // longest


def _matters(pod: Pod) -> tuple[object, ...]:
    """Return what of a pod can change what becomes of a group: not its conditions."""
    return (
        pod.uid,
        pod.spec,
        pod.labels,
        pod.nominated_node_name,
        pod.terminating,
        pod.finished,
        pod.requests,
    )
