"""The scheduler's parts, and what its cycles ask of them (the struct Scheduler in
pkg/scheduler/scheduler.go). :mod:`simulator.scheduler.scheduling_loop` runs it."""

from collections.abc import Mapping

from simulator.api import SECOND
from simulator.client.world import World
from simulator.config import Configuration
from simulator.framework.batch import make_batch
from simulator.framework.cycle_state import PODS_TO_ACTIVATE, CycleState
from simulator.framework.extender import Transport
from simulator.framework.interface import Plugin
from simulator.framework.observer import NoObserver, Observer
from simulator.framework.waiting_pods import WaitingPod
from simulator.kernel.requests import Signal
from simulator.objects.pod import Pod
from simulator.plugins.priority_sort import PrioritySort
from simulator.plugins.registry import profiles
from simulator.queueing.hint_map import queue_profile
from simulator.queueing.older_queues import QUEUES
from simulator.queueing.queue_version import QueueVersion
from simulator.queueing.scheduling_queue import Move
from simulator.scheduler.cache import Cache
from simulator.scheduler.decision_log import DecisionLog
from simulator.scheduler.event_handlers import EventHandlers
from simulator.scheduler.lanes import Lanes
from simulator.scheduler.pod_annotations import FaultInjection, apply_annotation
from simulator.scheduler.pod_group_retries import PodGroupRetries
from simulator.versions.feature_gates import GENERIC_WORKLOAD


class Scheduler:
    """The scheduler. ``seed`` and the number of a cycle decide what upstream leaves to chance."""

    def __init__(
        self,
        world: World,
        configuration: Configuration,
        *,
        seed: int,
        plugins: Mapping[str, type[Plugin]] | None = None,
        transport: Transport | None = None,
        queue: QueueVersion = QueueVersion.KUBERNETES,
        observer: Observer | None = None,
        stands_down: bool = False,
    ) -> None:
        """``stands_down``: leave all pods to outside schedulers."""
        self.world = world
        self.seed = seed
        self.features = configuration.features
        self.observer = observer or NoObserver()
        self.cache = Cache()
        self.faults = FaultInjection()
        self.frameworks = profiles(configuration, plugins, transport, self.cache.cluster)
        for framework in self.frameworks.values():
            framework.pods = self.cache.pods
            framework.client = world
        self.batches = {name: make_batch(framework) for name, framework in self.frameworks.items()}
        with_pod_groups = self.features.enabled(GENERIC_WORKLOAD) and queue is QueueVersion.KUBERNETES
        queue_sort = next(iter(self.frameworks.values())).queue_sort_plugins[0]
        self.queue = QUEUES[queue](
            world.clock,
            {name: queue_profile(framework) for name, framework in self.frameworks.items()},
            self.cache.pods.get,
            sort_key=queue_sort.sort_key,
            moved=self._moved,
            initial_backoff=configuration.pod_initial_backoff_seconds * SECOND,
            max_backoff=configuration.pod_max_backoff_seconds * SECOND,
            with_pod_groups=with_pod_groups,
        )
        self.retries = PodGroupRetries(self.queue, world.clock, world.emit) if with_pod_groups else None
        """The retries of pod groups; None if their pods are scheduled as others are (GenericWorkload)."""
        has_own_order = queue is QueueVersion.FIFO or isinstance(queue_sort, PrioritySort)
        self.lanes = Lanes(
            world,
            self.queue.backoff_q.expiration,
            self.queue.nominator.node_of,
            self.waiting_pod,
            None if has_own_order else queue_sort.sort_key,
            leftover_time=self.queue.leftover_time,
            retries=self.retries,
        )
        self.profiles = frozenset[str]() if stands_down else frozenset(self.frameworks)
        """The schedulerNames of the pods that this scheduler schedules."""
        self.handlers = EventHandlers(
            self.cache,
            self.queue,
            self.profiles,
            configuration.features.version,
            self._reject_waiting_pod,
            retries=self.retries,
        )
        self.decisions = DecisionLog(world)
        self.pods_in_pre_bind: dict[str, Signal] = {}
        """Uid -> what cancels the binding of a pod for which a PreBind plugin works (podsInPreBindMap)."""
        self.next_start_node_index = 0
        """The index of the node at which the search of the next cycle begins (nextStartNodeIndex)."""

    def _moved(self, move: Move) -> None:
        self.lanes.moved(move)

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Handle a pod's new version, or (``new`` None) its deletion, when the informer shows it."""
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
                apply_annotation(old, pod, waiting)
            self.lanes.entry_changed(pod.key)

    def restore_queue(self) -> None:
        """Put the pods of the first list to the places that they had in the queue of an earlier scheduler."""
        for place in self.queue.restore():
            self.lanes.restored(place)

    def activate(self, state: CycleState) -> None:
        """Move the pods to activeQ that plugins named in the state of a cycle that succeeded."""
        pods = state.find(PODS_TO_ACTIVATE)
        if pods:
            self.queue.activate(pods)
            state.write(PODS_TO_ACTIVATE, [])

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        """Return the pod if it waits on Permit, in whichever profile."""
        found = (framework.waiting_pods.get(uid) for framework in self.frameworks.values())
        return next((waiting for waiting in found if waiting is not None), None)

    def _reject_waiting_pod(self, uid: str) -> bool:
        waiting = self.waiting_pod(uid)
        if waiting is not None:
            waiting.reject("", "removed")
        return waiting is not None
