"""The place of each pending pod in the queue: its moves as trace events, its places as entries to display."""

from collections.abc import Callable

from msgspec import UNSET

from simulator.api import Micros
from simulator.client.world import World
from simulator.framework.cluster_event import ASSIGNED_POD_ADD, UNSCHEDULED_POD_DELETE
from simulator.framework.waiting_pods import WaitingPod
from simulator.objects.conditions import condition
from simulator.queueing.active_queue import SortKey
from simulator.queueing.queued_pod import QueuedPod
from simulator.queueing.scheduling_queue import Move
from simulator.scheduler.pod_group_retries import PodGroupRetries
from simulator.trace import IN_FLIGHT, Lane, QueueMoved, QueuePlace


class Lanes:
    """Follows the scheduling queue's moves. A pod in flight stays in that lane until it is back in the queue,
    or until the watch shows that it is bound or deleted.

    ``expiration`` returns the end of a pod's backoff; ``leftover_time`` the time at which a pod is moved out
    of unschedulablePods without an event, None if it is not; ``nominated_node`` its nominated node, by uid;
    ``waiting_pod`` its wait on Permit, by uid; ``sort_key`` is that of a QueueSort plugin other than
    PrioritySort, None if PrioritySort or no plugin sorts activeQ; ``retries`` are those of pod groups."""

    def __init__(
        self,
        world: World,
        expiration: Callable[[QueuedPod], Micros],
        nominated_node: Callable[[str], str],
        waiting_pod: Callable[[str], WaitingPod | None],
        sort_key: SortKey | None = None,
        *,
        leftover_time: Callable[[QueuedPod], Micros | None],
        retries: PodGroupRetries | None = None,
    ) -> None:
        self._world = world
        self._expiration = expiration
        self._leftover_time = leftover_time
        self._nominated_node = nominated_node
        self._waiting_pod = waiting_pod
        self._retries = retries
        if retries is not None:
            retries.retried = self.entry_changed
        self._sort_key = sort_key
        self._places: dict[str, tuple[QueuedPod, Lane, Micros]] = {}
        self._changed: dict[str, None] = {}  # a set in the order of insertion

    def moved(self, move: Move) -> None:
        """Note that the queue moved a pod."""
        key = move.info.pod.key
        if move.target is None:
            self._left(key, move.info.pod.uid, move.event)
            return
        self._places[key] = move.info, move.target, self._world.now
        self._changed[key] = None
        backoff = self._expiration(move.info) if move.target == "backoffQ" else None
        self._world.emit(
            QueueMoved(
                t=self._world.now,
                pod=key,
                source=move.source or "",
                target=move.target,
                event=move.event,
                plugin=move.plugin,
                backoff_until=backoff,
            )
        )

    @property
    def only_gated(self) -> bool:
        """Whether all pending pods are gated."""
        return all(lane == "gated" for _, lane, _ in self._places.values())

    @property
    def is_empty(self) -> bool:
        return not self._places

    def bound(self, key: str, uid: str) -> None:
        """Remove a pod that the watch shows with a node."""
        self._left(key, uid, ASSIGNED_POD_ADD.label)

    def gone(self, key: str, uid: str) -> None:
        """Remove a pod that was deleted, or has finished."""
        self._left(key, uid, UNSCHEDULED_POD_DELETE.label)

    def _left(self, key: str, uid: str, event: str) -> None:
        """Remove the pod, unless it has left already or another pod of this name is in its place."""
        info, lane, _ = self._places.get(key, (None, None, 0))
        if info is None or info.pod.uid != uid:
            return
        del self._places[key]
        self._changed[key] = None
        self._world.emit(QueueMoved(t=self._world.now, pod=key, source=lane or "", target="", event=event))

    def restored(self, place: QueuePlace) -> None:
        """Note that a pod is again where it was before this scheduler started, if it is there."""
        info, lane, _ = self._places.get(place.pod, (None, None, 0))
        if info is not None and lane == place.lane:
            self._places[place.pod] = info, lane, place.since

    def entry_changed(self, key: str) -> None:
        """Note that a field of the pod's entry has changed."""
        if key in self._places:
            self._changed[key] = None

    def take(self) -> dict[str, QueuePlace | None]:
        """Return the entries that have changed since the last call; None = the pod has left all lanes."""
        changed, self._changed = self._changed, {}
        return {key: self._entry(key) for key in changed}

    def _entry(self, key: str) -> QueuePlace | None:
        if key not in self._places:
            return None
        info, lane, since = self._places[key]
        manifest = self._world.informer.get("pods", key) or info.pod.manifest
        scheduled = condition(manifest, "PodScheduled") or {}
        waiting = self._waiting_pod(info.pod.uid) if lane == "waiting" else None
        plugins = waiting.pending_plugins if waiting else info.unschedulable_plugins | info.pending_plugins
        retry_at = self._leftover_time(info) if lane == "unschedulable" else None
        retried_since = self._retries.retried_since(info) if self._retries else None
        in_flight = lane in IN_FLIGHT
        all_rejected = info.unschedulable_count == info.attempts
        return QueuePlace(
            pod=key,
            uid=info.pod.uid,
            lane=lane,
            priority=info.pod.priority,
            since=since,
            queued=info.timestamp,
            attempts=info.attempts,
            place=info.place,
            sequence=info.sequence,
            sort_key=self._plain_sort_key(info),
            backoff_until=self._expiration(info) if lane == "backoffQ" else None,
            message=scheduled.get("message", ""),
            plugins=sorted(plugins),
            gate=info.gating_plugin,
            nominated_node=self._nominated_node(info.pod.uid),
            wait_until=waiting.next_timeout()[1] if waiting else None,
            retry_at=UNSET if retry_at is None else retry_at,
            retried_since=UNSET if retried_since is None else retried_since,
            retry_time=self._retries.retry_time if self._retries and retried_since is not None else UNSET,
            pending_plugins=sorted(info.pending_plugins) or UNSET,
            unschedulable_count=UNSET if in_flight or all_rejected else info.unschedulable_count,
            consecutive_errors=info.consecutive_errors or UNSET,
        )

    def _plain_sort_key(self, info: QueuedPod) -> list[int | float | str]:
        if self._sort_key is None:
            return []
        key = self._sort_key(info.pod, info.timestamp)
        return [*key] if all(isinstance(part, int | float | str) for part in key) else []
