"""The simulated cluster as a state machine. Its inputs are changes of objects and the time; its outputs are
changes of objects, trace events, decisions, and the pods' places in the queue.

It never waits and reads no clock: :meth:`Simulation.step` does one thing that is due, and
:meth:`Simulation.next_due` says when the next is. The same inputs give the same trace, byte for byte.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from simulator.api import ApiServerLost, Manifest, Micros, Storage, WatchEvent
from simulator.apiserver.component_writes import MakeServer
from simulator.apiserver.served_features import in_version
from simulator.client.event_recorder import Note
from simulator.client.informer import Pipeline
from simulator.client.shared_informer import SharedInformer
from simulator.client.world import World
from simulator.cluster.cluster import Cluster
from simulator.decision import Decision, UnderWay
from simulator.framework.extender import Transport
from simulator.framework.interface import Plugin
from simulator.framework.observer import Observer
from simulator.kernel.environment import Process, Turn
from simulator.plugins.registry import load
from simulator.queueing.queue_version import QueueVersion
from simulator.queueing.scheduling_queue import SchedulingQueue
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.outside import OutsideSchedulers
from simulator.scheduler.scheduler import Scheduler
from simulator.scheduler.scheduling_loop import SchedulingLoop
from simulator.trace import Event, QueuePlace, WatchRelisted
from simulator.versions.features import Features, stored_features
from simulator.watch_handlers import WatchHandlers


class Options(msgspec.Struct, frozen=True):
    seed: int = 0
    """Decides what upstream leaves to chance."""
    pace: Micros = 0
    """The simulated time that one scheduling cycle takes."""
    config: Manifest | None = None
    """KubeSchedulerConfiguration; None = the default one."""
    first_cycle: int = 1
    """The number of the first scheduling cycle; a successor continues the numbers."""
    queue: QueueVersion = QueueVersion.KUBERNETES
    """The scheduling queue."""
    stands_down: Literal[True] | UnsetType = UNSET
    """Whether the scheduler leaves all pods to outside schedulers, also those that its profiles name."""
    kubernetes: str | UnsetType = UNSET
    """The version of Kubernetes; unset in what was recorded before there was a choice."""
    feature_gates: dict[str, bool] | UnsetType = UNSET
    """The feature gates that are set."""
    controllers: bool = True
    """Whether the controllers of :mod:`simulator.controllers.manager` run, kubelets among them; without them
    there is only the scheduler."""

    def features(self) -> Features:
        """Raises UnknownVersion, FeatureGateError."""
        return stored_features(self.kubernetes, self.feature_gates)


class Simulation:
    """The components of one cluster. They write to ``storage`` what the API server decides, and observe all
    writes, also their own, only through :meth:`observe`."""

    def __init__(
        self,
        storage: Storage,
        make_server: MakeServer,
        options: Options,
        *,
        plugins: Mapping[str, type[Plugin]] | None = None,
        transport: Transport | None = None,
        observer: Observer | None = None,
    ) -> None:
        """``plugins`` are those that profiles may enable, by name; None = all that are installed. Extenders
        are called through ``transport``; their answers are inputs, too: the trace is the same only if they
        are. ``observer`` gets the durations of the scheduling cycles.

        Raises ConfigError for a configuration with which the scheduler would not start."""
        self.features = features = options.features()
        self._world = World(storage, make_server, features)
        self._scheduler = Scheduler(
            self._world,
            load(options.config, features=features),
            seed=options.seed,
            plugins=plugins,
            transport=transport,
            queue=options.queue,
            observer=observer,
            stands_down=bool(options.stands_down),
        )
        self._outside = OutsideSchedulers(self._world, self._scheduler.profiles)
        self._loop = SchedulingLoop(self._scheduler, pace=options.pace, first_cycle=options.first_cycle)
        self._handlers = WatchHandlers(
            self._world, self._scheduler, self._outside, with_controllers=options.controllers
        )
        queue = self._scheduler.queue
        self._informer = SharedInformer(self._world, self._handlers.of, lambda: queue.examined)
        self._cycle: Process | None = None
        """The cycle that stands at a point."""
        self.cycles = 0
        """The number of scheduling and binding cycles that have begun."""

    def keep_queue(self, places: Iterable[QueuePlace]) -> None:
        """Continue the scheduling queue of an earlier Simulation: the pods of the first list that are in it
        have these places. To be called before the first list."""
        self._scheduler.queue.keep(places)

    def observe(self, events: Iterable[WatchEvent], wall: int | None = None) -> None:
        """Add events of the watch, in order of version; the next steps take them in. Objects that are added
        before the first step are those of the first list. ``wall``: the wall time in microseconds at which
        the events were received, by which the latency of outside schedulers is measured; None = not known."""
        self._outside.wall = wall
        for event in events:
            self._world.informer.watch(event)

    def relist(self, listed: Sequence[WatchEvent], version: int) -> None:
        """Begin the watch, or begin it again after it broke. ``listed`` are all objects at ``version``, the
        oldest first."""
        gone = self._world.informer.replace(listed, version)
        self._world.listed(version)
        if self._handlers.started:
            self._world.emit(
                WatchRelisted(t=self._world.now, version=version, objects=len(listed), gone=gone)
            )

    def pipeline(self) -> Pipeline:
        """Return the counts of each stage of the informer."""
        return self._world.informer.pipeline()

    def next_due(self) -> Micros | None:
        """Return the time at which there is something to do; None = not before an event comes."""
        if self._world.informer.waiting or self._cycle is not None:
            return self._world.now
        return self._world.agenda.due()

    @property
    def now(self) -> Micros:
        """The time of the last step."""
        return self._world.now

    @property
    def rests(self) -> bool:
        """Whether nothing is left to do at this time except to pop the next pod."""
        if self._cycle is not None or self._world.informer.waiting:
            return False
        first = self._world.agenda.first()
        return first is None or first.time > self._world.now or first.turn == Turn.NEXT_POD

    @property
    def waits_for_pace(self) -> bool:
        """Whether a cycle has been started, and runs when the time that it takes is over."""
        return self._loop.waits_for_pace

    @property
    def in_cycle(self) -> bool:
        """Whether a cycle stands at an extension point; only steps with ``by_point`` leave it there."""
        return self._cycle is not None

    @property
    def under_way(self) -> UnderWay | None:
        """The cycle that stands at an extension point, with its record until now; None = no cycle does."""
        if self._cycle is None or self._cycle.point is None:
            return None
        name, cycle, pod, so_far = self._cycle.point
        return UnderWay(point=name, cycle=cycle, pod=pod, decision=so_far() if so_far else None)

    @property
    def nothing_pending(self) -> bool:
        """Whether no pod waits to be scheduled, except those that are gated. Pods that wait for an outside
        scheduler count only while this one stands down: otherwise it is possible that no scheduler schedules
        them."""
        return (
            not self._world.informer.waiting
            and self._scheduler.lanes.only_gated
            and (bool(self._scheduler.profiles) or self._outside.only_gated)
        )

    @property
    def all_tried(self) -> bool:
        """Whether the attempts that :meth:`try_each` asked for are over, or cannot begin as their pods have
        left activeQ."""
        return self._cycle is None and self._loop.all_tried

    @in_version
    def try_each(self, now: Micros) -> None:
        """Move all pods of the queue to activeQ that no plugin gates, without backoff and queueing hints
        (PriorityQueue.Activate), so that each gets an attempt. To be called when no cycle stands at a point
        and all that was observed is taken in."""
        self._world.now = max(self._world.now, now)
        self._loop.try_each()
        self._loop.set_timers()

    @in_version
    def complete_backoffs(self, now: Micros) -> None:
        """Move all pods from backoffQ to activeQ, as if time had passed without any cycle."""
        self._world.now = max(self._world.now, now)
        self._loop.complete_backoffs()
        self._loop.set_timers()

    @property
    def queue(self) -> SchedulingQueue:
        """The scheduling queue, for a caller that changes nothing in it."""
        return self._scheduler.queue

    @property
    def cluster(self) -> Cluster:
        """The cluster as columns, with the assumed pods, for a caller that changes nothing in it."""
        return self._scheduler.cache.cluster

    @property
    def is_idle(self) -> bool:
        """Whether nothing is due at any time and no pod is in the queue. A new Simulation of the same objects
        has the same queue then."""
        return self.next_due() is None and self._scheduler.lanes.is_empty and self._outside.is_empty

    def is_bound(self, pod: str) -> bool:
        """Whether the informer has shown a pod (``namespace/name``) with a node."""
        found = self._handlers.pods.get(pod)
        return found is not None and bool(found.node_name)

    @in_version
    def take_in(self, now: Micros) -> bool:
        """Take in some of what was observed, and do nothing else. Return whether there was anything.

        A cycle that stands at a point works on the cluster as it was when the cycle began, as upstream's does
        on its snapshot: changes wait until it ends."""
        waiting = self._world.informer.waiting
        if self._cycle is not None:
            return False
        if waiting:
            try:
                self._informer.process(now)
                if not self._world.informer.waiting:
                    self._handlers.first_list_ends()
                self._loop.set_timers()
            except ApiServerLost as lost:
                raise lost.error from None
        else:
            self._handlers.first_list_ends()
        return bool(waiting)

    @in_version
    def step(self, now: Micros, *, by_point: bool = False) -> bool:
        """Take in changes, or do the next entry of the agenda that is due at ``now``. Return False if there
        is neither. The order is described in :mod:`simulator.kernel.environment`.

        A cycle is one step; with ``by_point``, each of its extension points is one. The same happens in the
        same order, and nothing else happens between the points.

        Raises what ended the connection to the API server (a lost lease, say), or EndlessMoment; the
        simulation cannot be used after that. What a component or a plugin raises is contained."""
        if self.take_in(now):
            return True
        try:
            done = self._go_on(by_point) if self._cycle is not None else self._begin(now, by_point)
            self._world.current = None
            if self._cycle is None:  # nothing else happens between the points of a cycle
                self._loop.set_timers()
        except ApiServerLost as lost:
            raise lost.error from None
        return done

    def _begin(self, now: Micros, by_point: bool) -> bool:
        """Do the first entry of the agenda; whether it is due."""
        due = self._world.agenda.due()
        if due is None or due > now:
            return False
        self._cycle = self._world.step()
        if self._cycle is not None:
            self.cycles += 1
            if self._cycle.point is None or not by_point:
                self._go_on(by_point)
        return True

    def _go_on(self, by_point: bool) -> bool:
        """Run the cycle to its next point, or to its end or next wait."""
        while self._cycle is not None:
            self._cycle = self._cycle.resume()
            if by_point:
                break
        return True

    def take_trace(self) -> list[Event]:
        """Return the trace events since the last call."""
        trace, self._world.trace = self._world.trace, []
        return trace

    def give_back_trace(self, trace: list[Event]) -> None:
        """Put back the trace that was taken for a commit which was then refused, without the events of that
        write."""
        self._world.trace[:0] = trace

    def take_decisions(self) -> list[Decision]:
        """Return the Decisions since last asked."""
        return self._scheduler.decisions.take()

    def make_no_decisions(self) -> None:
        """Make and keep no Decisions from now on, for a caller that takes none."""
        self._scheduler.decisions.wanted = False
        self._scheduler.decisions.take()

    def before_searches(self, listener: Callable[[Attempt], None]) -> None:
        """Call ``listener`` with each attempt before it is run. It changes nothing; what it raises is
        logged."""
        self._scheduler.decisions.before_search = listener

    def before_events(self, listener: Callable[[Note], object]) -> None:
        """Call ``listener`` with each Event of the scheduler before it is written."""
        self._world.events.before_event = listener

    def take_queue_places(self) -> dict[str, QueuePlace | None]:
        """Return the places in the queue that have changed since the last call; None = the pod has left the
        queue."""
        # A pod that changes its schedulerName leaves one of the two, and comes to the other.
        own, outside = self._scheduler.lanes.take(), self._outside.take_queue_places()
        return own | {pod: entry for pod, entry in outside.items() if entry is not None or not own.get(pod)}
