"""The scheduler: its queue and cache, fed by the watch, and what is due in it (pkg/scheduler/scheduler.go,
v1.34)."""

from collections.abc import Mapping

from simulator.api import SECOND, Micros
from simulator.config import Configuration
from simulator.decision import Decision
from simulator.framework.interface import PODS_TO_ACTIVATE, CycleState, Plugin
from simulator.framework.waiting_pods import WaitingPod
from simulator.objects.pod import Pod
from simulator.plugins.registry import profiles
from simulator.queueing.profile import queue_profile
from simulator.queueing.queued_pod import QueuedPod
from simulator.queueing.scheduling_queue import Move
from simulator.queueing.versions import QUEUES, TODAY, QueueVersion
from simulator.scheduler import permit_word
from simulator.scheduler.cache import Cache
from simulator.scheduler.event_handlers import EventHandlers
from simulator.scheduler.event_recorder import FAILED_SCHEDULING
from simulator.scheduler.extender import Transport
from simulator.scheduler.fault_injection import Faults
from simulator.scheduler.lanes import Lanes
from simulator.scheduler.points import Points
from simulator.scheduler.schedule_one import schedule_one
from simulator.trace import CycleStarted
from simulator.world.world import World

LEFTOVER_PERIOD: Micros = 30 * SECOND
"""How often the queue looks for pods that wait for too long."""


class Scheduler:
    """One attempt after the other, each taking ``pace`` microseconds; ``seed`` and the number of the cycle
    settle ties."""

    def __init__(
        self,
        world: World,
        configuration: Configuration,
        *,
        seed: int,
        pace: Micros,
        first_cycle: int,
        plugins: Mapping[str, type[Plugin]] | None = None,
        transport: Transport | None = None,
        queue: QueueVersion = TODAY,
    ) -> None:
        self.world = world
        self.seed = seed
        self.pace = pace
        self.next_cycle = first_cycle
        self.cache = Cache()
        self.faults = Faults()
        self.preempting: set[str] = set()
        """Uids of pods whose victims are still being told to go."""
        self.frameworks = profiles(configuration, plugins, transport)
        for framework in self.frameworks.values():
            framework.pods = self.cache.pods
        self.queue = QUEUES[queue](
            world.clock,
            {
                name: queue_profile(framework, self.cache.cluster, self.preempting)
                for name, framework in self.frameworks.items()
            },
            self.cache.pods.get,
            sort_key=next(iter(self.frameworks.values())).queue_sort_plugins[0].sort_key,
            moved=self._moved,
            initial_backoff=configuration.pod_initial_backoff_seconds * SECOND,
            max_backoff=configuration.pod_max_backoff_seconds * SECOND,
        )
        self.lanes = Lanes(
            world, self.queue.backoff_q.expiration, self.queue.nominator.node_of, self.waiting_pod
        )
        self.handlers = EventHandlers(self.cache, self.queue, self.frameworks, self._reject_waiting_pod)
        self.decisions: list[Decision] = []
        self._cycle: Points | None = None
        self._cycle_ends: Micros = 0
        self._leftover: Micros | None = None

    # What is due

    def due(self) -> Micros | None:
        """When there is something to do next; None = only an event can bring work."""
        times = [self.queue.backoff_q.next_completion(), self._leftover]
        if self._cycle is not None:
            times.append(self._cycle_ends)
        elif self.queue.active_q or self.queue.backoff_q.rejected:
            times.append(self.world.now)
        return min((time for time in times if time is not None), default=None)

    @property
    def rests(self) -> bool:
        """Nothing is due by now, but to pop the next pod."""
        times = [self.queue.backoff_q.next_completion(), self._leftover]
        if self._cycle is not None:
            times.append(self._cycle_ends)
        return all(time is None or time > self.world.now for time in times)

    def step(self) -> Points | None:
        """Do what is due by now: the flushes of the queue before the next attempt, which is handed back."""
        now = self.world.now
        completion, leftover = self.queue.backoff_q.next_completion(), self._leftover
        if completion is not None and completion <= now:
            self.queue.flush_backoff_completed()
        elif leftover is not None and leftover <= now:
            self._leftover = None
            self.queue.flush_unschedulable_leftover()
        elif self._cycle is None:
            self._start_cycle()
            if self.pace == 0:
                return self._take_cycle()
        elif self._cycle_ends <= now:
            return self._take_cycle()
        return None

    def _start_cycle(self) -> None:
        """ScheduleOne, up to where the search begins."""
        info = self.queue.pop()
        if info is None:
            return
        if self._skip(info):
            if not self.cache.assumed(info.pod.uid):
                note = f"skip schedule deleting pod: {info.pod.key}"
                recorded = self.world.events.event(FAILED_SCHEDULING, note, info.pod)
                self.world.write((), (), recorded)
            self.queue.done(info.pod.uid)
            self.lanes.gone(info.pod.key, info.pod.uid)
            return
        cycle, self.next_cycle = self.next_cycle, self.next_cycle + 1
        self.world.emit(
            CycleStarted(
                t=self.world.now,
                cycle=cycle,
                pod=info.pod.key,
                attempt=info.attempts,
                priority=info.pod.priority,
            )
        )
        self._cycle = schedule_one(self, info, cycle)
        self._cycle_ends = self.world.now + self.pace

    def _take_cycle(self) -> Points | None:
        cycle, self._cycle = self._cycle, None
        return cycle

    def _skip(self, info: QueuedPod) -> bool:
        """skipPodSchedule: a pod that is being deleted, or that was updated after it had been assumed."""
        current = self.cache.pods.get(info.pod.key)
        return (
            info.pod.terminating
            or self.cache.assumed(info.pod.uid)
            or (current is not None and current.uid == info.pod.uid and current.terminating)
        )

    def plan(self) -> None:
        """Note the first of the queue's regular looks that finds a pod that waited for too long: to be called
        after all that happens, so that what comes does not depend on who asks what is due, and when.

        Once worked out it holds until then: no pod comes to the unschedulable ones with an older timestamp
        than all that are there."""
        if not self.queue.unschedulable_pods:
            self._leftover = None
        elif self._leftover is None:
            oldest = self.queue.next_leftover()
            self._leftover = None if oldest is None else -(-oldest // LEFTOVER_PERIOD) * LEFTOVER_PERIOD

    # What the watch says

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        self.handlers.pod_changed(old, new)
        self.faults.pod_changed(old, new)
        pod = new or old
        assert pod is not None, "a change has an object before or after it"
        if new is None or new.finished:
            self.lanes.gone(pod.key, pod.uid)
        elif new.node_name:
            self.lanes.bound(pod.key, pod.uid)
        else:
            waiting = self.waiting_pod(pod.uid)
            if waiting is not None:
                permit_word.hear(old, pod, waiting)
            self.lanes.touched(pod.key)

    # What plugins ask for

    def activate(self, state: CycleState) -> None:
        """Call the pods that plugins have left in the state of a cycle that ended well."""
        pods = state.find(PODS_TO_ACTIVATE)
        if pods:
            self.queue.activate(pods)
            state.write(PODS_TO_ACTIVATE, [])

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        found = (framework.waiting_pods.get(uid) for framework in self.frameworks.values())
        return next((waiting for waiting in found if waiting is not None), None)

    def _reject_waiting_pod(self, uid: str) -> bool:
        waiting = self.waiting_pod(uid)
        if waiting is not None:
            waiting.reject("", "removed")
        return waiting is not None

    def _moved(self, move: Move) -> None:
        self.lanes.moved(move)
