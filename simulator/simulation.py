"""The whole simulated cluster as a state machine: object changes and the time go in, object changes, trace
events, decisions and the pods' places in the queue come out.

It never waits and never looks at a clock: :meth:`Simulation.step` does one thing that is due, and
:meth:`Simulation.next_due` says when the next will be. The same inputs give the same trace, byte for byte.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from simulator.api import ApiServer, Manifest, Micros, WatchEvent
from simulator.config import load
from simulator.controllers.manager import ControllerManager
from simulator.decision import Decision, UnderWay
from simulator.framework.interface import Plugin
from simulator.objects.node import Node
from simulator.objects.node_conditions import heard
from simulator.objects.pod import Pod
from simulator.objects.volumes import PVCS
from simulator.queueing.cluster_event import NODE, ClusterEvent, node_scheduling_properties_change
from simulator.queueing.versions import TODAY, QueueVersion
from simulator.scheduler.event_recorder import EVENTS
from simulator.scheduler.extender import Transport
from simulator.scheduler.points import Point, Points
from simulator.scheduler.scheduler import Scheduler
from simulator.trace import Event, LaneEntry, NodeChanged, PodRemoved, WatchRelisted
from simulator.world.disruption import BUDGETS, DisruptionController
from simulator.world.informer import Pipeline
from simulator.world.kubelet import Kubelet
from simulator.world.pod_gc import PodGarbageCollector
from simulator.world.timetable import TIMETABLES, TimetableController
from simulator.world.world import World

OBJECTS_AT_ONCE = 200
"""Objects popped from the delta FIFO by one step: some 20 ms of work, so that a step stays a small thing."""


class Options(msgspec.Struct, frozen=True):
    seed: int = 0
    """Settles every tie."""
    pace: Micros = 0
    """Simulated time that one scheduling cycle takes; 0 = none."""
    config: Manifest | None = None
    """KubeSchedulerConfiguration; None = the default one."""
    first_cycle: int = 1
    """The number of the first scheduling cycle: a successor goes on counting."""
    queue: QueueVersion = TODAY
    """The scheduler's queue: today's, or an older one."""
    controllers: bool = True
    """Whether kubelets, the disruption controller and timetables act; without them the scheduler is alone."""


class Simulation:
    """One cluster. ``api`` is where all components write; they see the outcome, as everybody's writes, only
    through :meth:`observe`."""

    def __init__(
        self,
        api: ApiServer,
        options: Options,
        plugins: Mapping[str, type[Plugin]] | None = None,
        transport: Transport | None = None,
    ) -> None:
        """``plugins`` are those that profiles may enable, by name; None = all that are installed. Extenders
        are called through ``transport``; their answers are inputs like any others, and the trace is the same
        only if they are.

        Raises ConfigError for a configuration that the scheduler would not start with."""
        self._world = World(api)
        self._scheduler = Scheduler(
            self._world,
            load(options.config),
            seed=options.seed,
            pace=options.pace,
            first_cycle=options.first_cycle,
            plugins=plugins,
            transport=transport,
            queue=options.queue,
        )
        self._nodes: dict[str, Node] = {}
        self._pods: dict[str, Pod] = {}
        self._started = False
        self._cycle: Points | None = None
        self._point: Point | None = None
        self.cycles = 0
        """How many scheduling and binding cycles have begun."""
        self._acting = options.controllers
        self._kubelet = Kubelet(self._world)
        self._disruption = DisruptionController(self._world, self._pods)
        self._pod_gc = PodGarbageCollector(self._world, self._pods)
        self._timetable = TimetableController(self._world)
        self._controllers = ControllerManager(self._world)

    def observe(self, events: Iterable[WatchEvent]) -> None:
        """The watch's events, in order of version; they are taken in by the next steps. What comes before the
        first step is what was there already."""
        for event in events:
            self._world.informer.watch(event)

    def relist(self, listed: Sequence[WatchEvent], version: int) -> None:
        """The watch begins, or broke and begins anew: all that there is at ``version``, oldest first."""
        gone = self._world.informer.replace(listed, version)
        self._world.listed(version)
        if self._started:
            self._world.emit(
                WatchRelisted(t=self._world.now, version=version, objects=len(listed), gone=gone)
            )

    def pipeline(self) -> Pipeline:
        """What came in by which stage."""
        return self._world.informer.pipeline()

    def next_due(self) -> Micros | None:
        """When there is something to do; None = only an event can bring work."""
        if self._world.informer.waiting or self._cycle is not None:
            return self._world.now
        times = (self._world.agenda.due(), self._scheduler.due())
        return min((time for time in times if time is not None), default=None)

    @property
    def now(self) -> Micros:
        """When the last thing happened."""
        return self._world.now

    @property
    def rests(self) -> bool:
        """Nothing is left to do at this time, but to pop the next pod."""
        planned = self._world.agenda.due()
        quiet = self._cycle is None and (planned is None or planned > self._world.now)
        return quiet and not self._world.informer.waiting and self._scheduler.rests

    @property
    def in_cycle(self) -> bool:
        """Whether a cycle stands between two extension points; only steps by points leave one there."""
        return self._cycle is not None

    @property
    def under_way(self) -> UnderWay | None:
        """Where that cycle stands, with what it knows so far."""
        if self._point is None:
            return None
        so_far = self._point.so_far
        return UnderWay(
            point=self._point.name,
            cycle=self._point.cycle,
            pod=self._point.pod,
            decision=so_far() if so_far else None,
        )

    @property
    def nothing_pending(self) -> bool:
        """No pod is on its way to a node; gated ones have not set out."""
        return not self._world.informer.waiting and self._scheduler.lanes.only_gated

    def is_bound(self, pod: str) -> bool:
        """Whether a pod, ``namespace/name``, has been seen to have a node."""
        return pod in self._pods and bool(self._pods[pod].node_name)

    def take_in(self, now: Micros) -> bool:
        """Take in some of what was observed, and do nothing else; whether there was anything.

        A cycle that is under way works on what it saw when it began, as upstream's does on its snapshot: all
        that comes meanwhile waits until it is over."""
        informer = self._world.informer
        if self._cycle is not None:
            return False
        if not informer.waiting:
            self._started = True
            return False
        for _ in range(min(OBJECTS_AT_ONCE, informer.waiting)):
            for event in informer.pop():
                if not self._world.is_own(event.version):
                    self._world.now = max(self._world.now, now)
                self._take_in(event)
        self._started = self._started or not informer.waiting
        self._scheduler.plan()
        return True

    def step(self, now: Micros, *, by_point: bool = False) -> bool:
        """Do one thing that is due at ``now``; False = nothing is. A cycle is one thing, or
        with ``by_point`` each of its extension points: the same happens in the same order, and nothing comes
        between them.

        It is done at its own time, however late the call: only events from outside happen when they are seen.
        Exceptions are the API server's (a lost lease, say) or faults of the simulation: it is of no use after
        one."""
        if self._cycle is not None:
            self._go_on(by_point)
            self._scheduler.plan()
            return True
        if self.take_in(now):
            return True
        planned, scheduler = self._world.agenda.due(), self._scheduler.due()
        due = min((time for time in (planned, scheduler) if time is not None), default=None)
        if due is None or due > now:
            return False
        self._world.now = max(self._world.now, due)
        if planned is not None and planned <= due:
            self._cycle = self._world.agenda.run_first()
        else:
            self._cycle = self._scheduler.step()
        if self._cycle is not None:
            self.cycles += 1
            self._go_on(by_point)
        self._scheduler.plan()
        return True

    def _go_on(self, by_point: bool) -> None:
        """On with the cycle that is under way, to its next extension point or to its end."""
        assert self._cycle is not None, "a cycle is under way"
        self._point = next(self._cycle, None)
        while self._point is not None and not by_point:
            self._point = next(self._cycle, None)
        if self._point is None:
            self._cycle = None

    def take_trace(self) -> list[Event]:
        """The trace since last asked."""
        trace, self._world.trace = self._world.trace, []
        return trace

    def give_back_trace(self, trace: list[Event]) -> None:
        """The commit that it was taken for was refused: it is still to be told, but for what that write would
        have meant."""
        self._world.trace[:0] = trace

    def take_decisions(self) -> list[Decision]:
        decisions, self._scheduler.decisions = self._scheduler.decisions, []
        return decisions

    def take_lanes(self) -> dict[str, LaneEntry | None]:
        """The places in the queue that are new since last asked; None = the pod left the queue."""
        return self._scheduler.lanes.take()

    # The watch

    def _take_in(self, event: WatchEvent) -> None:
        old = self._world.informer.apply(event)
        if event.resource == EVENTS:
            # Nobody acts on those: upstream's informers do not even watch them.
            self._world.events.changed(event.key, old, None if event.type == "DELETED" else event.object)
            return
        if event.resource == "pods":
            self._pod_changed(event)
        elif event.resource == "nodes":
            self._node_changed(event)
        else:
            new = None if event.type == "DELETED" else event.object
            self._scheduler.handlers.object_changed(event.resource, event.key, old, new)
            if self._acting and event.resource == TIMETABLES:
                self._timetable.timetable_changed(event.key, new)
            elif self._acting and event.resource == BUDGETS:
                self._disruption.budget_changed(event.object)
            elif self._acting and event.resource == PVCS:
                self._kubelet.claim_changed(event.key, self._pods.values())
        if self._acting:
            current = None if event.type == "DELETED" else event.object
            self._controllers.changed(event.resource, event.key, old, current)
        self._world.observed(event.resource, event.key)

    def _pod_changed(self, event: WatchEvent) -> None:
        old = self._pods.get(event.key)
        new = None if event.type == "DELETED" else Pod.parse(event.object)
        if new is not None:
            self._pods[event.key] = new
        else:
            self._pods.pop(event.key, None)
        if old is not None and new is None:
            self._world.emit(PodRemoved(t=self._world.now, pod=old.key, node=old.node_name))
        if old is None and new is None:
            return
        self._scheduler.pod_changed(old, new)
        if self._acting:
            self._kubelet.pod_changed(old, new)
            self._pod_gc.pod_changed(old, new)
            self._disruption.pod_changed(old, new)

    def _node_changed(self, event: WatchEvent) -> None:
        old = self._nodes.get(event.key)
        if event.type == "DELETED":
            if old is not None:
                del self._nodes[event.key]
                self._node_event(event.key, "deleted")
                self._scheduler.handlers.node_changed(old, None)
                if self._acting:
                    self._pod_gc.node_gone(event.key)
            return
        new = self._nodes[event.key] = Node.parse(event.object)
        if old is None:
            self._node_event(event.key, "added")
        else:
            self._node_event(event.key, "updated", node_scheduling_properties_change(new, old))
        self._scheduler.handlers.node_changed(old, new)
        if self._acting and (old is None or heard(old.manifest) != heard(new.manifest)):
            self._kubelet.node_changed(new.name, self._pods.values())

    def _node_event(
        self,
        node: str,
        change: Literal["added", "updated", "deleted"],
        events: Sequence[ClusterEvent] = (),
    ) -> None:
        """What was there from the start is no news."""
        if self._started:
            labels = [event.label.removeprefix(NODE) for event in events]
            self._world.emit(NodeChanged(t=self._world.now, node=node, change=change, events=labels))
