"""The loop of scheduling cycles (Run in pkg/scheduler/scheduler.go and ScheduleOne in schedule_one.go),
and the flushes of the queue (Run in backend/queue/scheduling_queue.go): four timers of the agenda."""

from functools import partial
from typing import Final

from simulator.api import Micros
from simulator.client.event_recorder import FAILED_SCHEDULING, Note
from simulator.kernel.containment import Actor, Run
from simulator.kernel.environment import Action, Process, Timer, Turn
from simulator.queueing.queued_pod import QueuedPod
from simulator.scheduler.pod_group_retries import RETRY_TIME
from simulator.scheduler.schedule_one import schedule_one
from simulator.scheduler.schedule_one_podgroup import pod_group_infos, report_start, schedule_one_podgroup
from simulator.scheduler.scheduler import Scheduler
from simulator.trace import CycleStarted

SCHEDULER: Final = Actor("Scheduler", "", "")
"""The scheduler, for what it does for no pod in particular."""


class SchedulingLoop:
    """Runs one cycle after the other, each of which takes ``pace``. The first one has the number
    ``first_cycle``."""

    def __init__(self, scheduler: Scheduler, *, pace: Micros, first_cycle: int) -> None:
        self._scheduler = scheduler
        self._world = scheduler.world
        self._pace = pace
        self._retries = scheduler.retries
        if self._retries is not None:
            self._retries.retry_time = max(pace, RETRY_TIME)
        self._next_number = first_cycle
        self._untried: dict[str, str] = {}
        """The pods that are to be tried once and have not been popped yet: their keys by uid."""
        self._cycle: Process | None = None
        """The cycle that has been started, and runs when its time is over."""
        queue = scheduler.queue
        self._backoff_flush = self._timer(Turn.BACKOFF_FLUSH, queue.flush_backoff_completed)
        self._leftover_flush = self._timer(Turn.LEFTOVER_FLUSH, queue.flush_unschedulable_leftover)
        self._cycle_end = self._timer(Turn.CYCLE, self._take_cycle)
        self._next_pod = self._timer(Turn.NEXT_POD, self._schedule_next)

    def _timer(self, turn: Turn, action: Action) -> Timer:
        return Timer(self._world, turn, SCHEDULER, action)

    @property
    def waits_for_pace(self) -> bool:
        """Whether a cycle has been started whose time is not over yet."""
        return self._cycle is not None

    def try_each(self) -> None:
        """Activate all pods of the queue, and note those that are in activeQ then."""
        queue = self._scheduler.queue
        queue.activate([info.pod for info in queue.pending()])
        self._untried = {info.pod.uid: info.pod.key for info in queue.pending() if info.lane == "activeQ"}

    @property
    def all_tried(self) -> bool:
        """Whether the pods that :meth:`try_each` noted have been tried, or have left activeQ."""
        while self._untried:
            uid, key = next(iter(self._untried.items()))
            info = self._scheduler.queue.get(key)
            if info is not None and info.pod.uid == uid and info.lane == "activeQ":
                return False
            del self._untried[uid]
        return self._cycle is None

    def complete_backoffs(self) -> None:
        """Move all pods from backoffQ to activeQ, and forget the retries of pod groups until now."""
        self._scheduler.queue.complete_backoffs()
        if self._retries is not None:
            self._retries.time_passes()

    def set_timers(self) -> None:
        """Set the timers to the queue's state; to be called after each step.

        The leftover flush is set when a pod has become unschedulable, to the first of its regular times at
        which a pod has been so for too long. It holds until then: a pod that becomes unschedulable later is
        not due earlier."""
        queue = self._scheduler.queue
        # A pod group is not tried again while nothing has changed for it.
        retries = self._retries if self._cycle is None else None
        resting = retries is not None and retries.rest()
        completion = retries.next_completion() if retries and resting else queue.backoff_q.next_completion()
        self._backoff_flush.set(completion)
        if not queue.unschedulable_pods:
            self._leftover_flush.set(None)
        elif self._leftover_flush.time is None:
            self._leftover_flush.set(queue.next_leftover())
        waiting = self._cycle is None and not resting and (queue.active_q or queue.backoff_q.rejected)
        self._next_pod.set(self._world.now if waiting else None)

    def _schedule_next(self) -> Process | None:
        """Start the cycle of the next pod, up to the search for a node (ScheduleOne)."""
        queue = self._scheduler.queue
        again = not queue.active_q
        info = queue.pop()
        if info is not None:
            self._untried.pop(info.pod.uid, None)
        cycle = self._start(info) if info is not None else None
        pace = self._pace
        if again and info is not None and self._tries_group(info):
            pace = max(pace, RETRY_TIME)
        if cycle is None or not pace:
            return cycle
        self._cycle = cycle
        self._cycle_end.set(self._world.now + pace)
        return None

    def _take_cycle(self) -> Process | None:
        cycle, self._cycle = self._cycle, None
        return cycle

    def _start(self, info: QueuedPod) -> Process | None:
        """Return the cycle of a pod that was popped; None if it is skipped, or postponed."""
        world, pod = self._world, info.pod
        run = Run(Actor("Scheduler", "pods", pod.key))
        until = world.limit.postponed_until(run)
        if until is not None:
            # The pod stays in flight, so that events which come meanwhile are kept for it.
            world.plan(until, Turn.BINDING, run.actor, partial(self._start, info))
            return None
        world.current = run
        infos = self._to_try(info)
        if not infos:
            return None
        number = self._next_number
        if self._tries_group(info):
            self._next_number += 1 + len(infos)
            report_start(self._scheduler, info, infos, number)
            steps = schedule_one_podgroup(self._scheduler, infos, number)
            return world.process(Turn.CYCLE, run.actor, steps)
        self._next_number += 1
        world.emit(
            CycleStarted(t=world.now, cycle=number, pod=pod.key, attempt=info.attempts, priority=pod.priority)
        )
        return world.process(Turn.CYCLE, run.actor, schedule_one(self._scheduler, info, number))

    def _tries_group(self, info: QueuedPod) -> bool:
        """Whether the pod is tried together with its group."""
        return self._retries is not None and bool(info.pod.pod_group)

    def _to_try(self, popped: QueuedPod) -> list[QueuedPod]:
        """Return the pods of the cycle: the one that was popped, or those of its group; without those that
        are skipped (skipPodGroupPodSchedule)."""
        infos = [popped]
        if self._retries is not None and popped.pod.pod_group:
            self._retries.popped(popped.pod.pod_group)
            infos = pod_group_infos(self._scheduler, popped)
        skipped = [info for info in infos if self._skip(info)]
        for info in skipped:
            self._skipped(info)
        return [info for info in infos if info not in skipped] if skipped else infos

    def _skip(self, info: QueuedPod) -> bool:
        """Whether the pod is skipped: it is being deleted, or was updated after it had been assumed
        (skipPodSchedule)."""
        cache, pod = self._scheduler.cache, info.pod
        current = cache.pods.get(pod.key)
        return (
            pod.terminating
            or cache.assumed(pod.uid)
            or (current is not None and current.uid == pod.uid and current.terminating)
        )

    def _skipped(self, info: QueuedPod) -> None:
        scheduler, pod = self._scheduler, info.pod
        if not scheduler.cache.assumed(pod.uid):
            self._world.record(Note(FAILED_SCHEDULING, f"skip schedule deleting pod: {pod.key}", pod))
        scheduler.queue.done(pod.uid)
        scheduler.lanes.gone(pod.key, pod.uid)
