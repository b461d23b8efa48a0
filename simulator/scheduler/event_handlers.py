"""The informers' handlers, which keep cache and queue up to date (pkg/scheduler/eventhandlers.go).

Each handler returns the cluster events of a change, in order, whether or not they moved a pod.
"""

from collections.abc import Callable, Container

from simulator.api import Manifest
from simulator.framework import cluster_event
from simulator.framework.cluster_event import EVENT_RESOURCES, ActionType, ClusterEvent
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.queueing.scheduling_queue import SchedulingQueue
from simulator.scheduler.cache import Cache
from simulator.scheduler.pod_group_retries import PodGroupRetries
from simulator.versions.kubernetes_version import KubernetesVersion


class EventHandlers:
    """The handlers of changes in the cluster. ``profiles`` are the schedulerNames of this scheduler;
    ``reject_waiting_pod`` ends the wait of a pod (by uid) on Permit, and returns whether it waited."""

    def __init__(
        self,
        cache: Cache,
        queue: SchedulingQueue,
        profiles: Container[str],
        version: KubernetesVersion,
        reject_waiting_pod: Callable[[str], bool] = lambda uid: False,
        *,
        retries: PodGroupRetries | None = None,
    ) -> None:
        """``retries``: None if pods of a PodGroup are scheduled as others are."""
        self._retries = retries
        self._cache = cache
        self._queue = queue
        self._profiles = profiles
        self._version = version
        self._reject_waiting_pod = reject_waiting_pod

    # Pods: upstream has one handler for those with a node and one for those without

    def pod_changed(self, old: Pod | None, new: Pod | None) -> list[ClusterEvent]:
        """Handle a change of a pod. ``old`` is None for a new pod, ``new`` for a deleted one. A finished pod
        counts as deleted: the scheduler's watch leaves those out."""
        old, new = (pod if pod is not None and not pod.finished else None for pod in (old, new))
        if new is not None:
            self._cache.pods[new.key] = new
        elif old is not None:
            del self._cache.pods[old.key]
        events: list[ClusterEvent] = []
        if old is not None and new is not None and old.uid != new.uid:
            # Deleted and created again; only a relist shows that as one change.
            return self.pod_changed(old, None) + self.pod_changed(None, new)
        queued_before, queued = self._unscheduled(old), self._unscheduled(new)
        if self._retries is not None:
            self._retries.pod_changed(old, new)
            self._note_member(old, new)
        if queued is not None:
            if queued_before is not None:
                events += self._update_in_queue(queued_before, queued)
            else:
                self._queue.add(queued)
                if self._retries is not None:
                    events += self._move(cluster_event.UNSCHEDULED_POD_ADD, None, queued)
        elif queued_before is not None:
            events += self._delete_from_queue(queued_before, bound=new is not None)
        assigned_before, assigned = self._assigned(old), self._assigned(new)
        if assigned is not None:
            events += self._assigned_changed(assigned_before, assigned)
        elif assigned_before is not None:
            self._cache.remove_pod(assigned_before)
            events += self._move(cluster_event.ASSIGNED_POD_DELETE, assigned_before, None)
        return events

    def _note_member(self, old: Pod | None, new: Pod | None) -> None:
        """Update the pods of their group: those that this scheduler schedules, and those with a node."""
        if new is not None and new.pod_group and (self._assigned(new) or self._unscheduled(new)):
            self._cache.cluster.pod_groups.set_pod(new)
        elif old is not None and old.pod_group:
            self._cache.cluster.pod_groups.remove_pod(old)

    def _unscheduled(self, pod: Pod | None) -> Pod | None:
        return pod if pod is not None and not pod.node_name and pod.scheduler_name in self._profiles else None

    def _assigned(self, pod: Pod | None) -> Pod | None:
        return pod if pod is not None and pod.node_name else None

    def _update_in_queue(self, old: Pod, new: Pod) -> list[ClusterEvent]:
        if old.resource_version == new.resource_version:
            return []
        if self._cache.assumed(new.uid):
            deleted = new.terminating and not old.terminating
            return self._assumed_deleted(new) if deleted and self._version.deleted_pods_free_nodes else []
        events = self._queue.update(old, new)
        if old.nominated_node_name and old.nominated_node_name != new.nominated_node_name:
            events = events + self._nomination_ended(old)
        return events

    def _delete_from_queue(self, pod: Pod, *, bound: bool) -> list[ClusterEvent]:
        self._queue.delete(pod)
        if bound and not self._version.nomination_ends_with_binding:
            return []
        if self._version.deleted_pods_free_nodes and self._cache.assumed(pod.uid):
            return self._assumed_deleted(pod)
        if self._reject_waiting_pod(pod.uid):  # until v1.34, where it was assumed
            return self._move(cluster_event.ASSIGNED_POD_DELETE, pod, None)
        return self._nomination_ended(pod) if pod.nominated_node_name else []

    def _assumed_deleted(self, pod: Pod) -> list[ClusterEvent]:
        """Take a pod from its node whose binding is under way, and will fail (handleAssumedPodDeletion). One
        that waits on Permit is rejected instead, and leaves the node by that."""
        assumed = self._cache.assumed_pod(pod.uid)
        if not self._reject_waiting_pod(pod.uid):
            self._cache.forget(assumed)
        return self._move(cluster_event.ASSIGNED_POD_DELETE, assumed, None)

    def _nomination_ended(self, pod: Pod) -> list[ClusterEvent]:
        """Requeue the pods of lower or equal priority, which had to leave room for the pod on its nominated
        node."""
        event = cluster_event.ASSIGNED_POD_DELETE
        self._queue.move_all(event, pod, None, lambda other: other.priority <= pod.priority)
        return [event]

    def _assigned_changed(self, old: Pod | None, new: Pod) -> list[ClusterEvent]:
        self._cache.add_pod(new)
        if old is None:
            return self._move(cluster_event.ASSIGNED_POD_ADD, None, new)
        return self._move_each(cluster_event.pod_scheduling_properties_change(new, old), old, new)

    # Nodes and all other kinds

    def node_changed(self, old: Node | None, new: Node | None) -> list[ClusterEvent]:
        if self._retries is not None:
            self._retries.changed()
        if new is None:
            assert old is not None, "a change has an object before or after it"
            # The queue's event comes first: upstream defers the removal from the cache.
            events = self._move(cluster_event.NODE_DELETE, old, None)
            self._cache.cluster.remove_node(old.name)
            return events
        self._cache.cluster.add_node(new)
        if old is None:
            return self._move(cluster_event.NODE_ADD, None, new)
        return self._move_each(cluster_event.node_scheduling_properties_change(new, old), old, new)

    def object_changed(
        self, resource: str, key: str, old: Manifest | None, new: Manifest | None
    ) -> list[ClusterEvent]:
        """Handle a change of an object of any other kind: it is kept for the plugins, and makes an event if a
        plugin registered one."""
        self._cache.cluster.set_object(resource, key, new)
        if self._retries is not None:
            self._retries.object_changed(resource, old, new)
        kind = EVENT_RESOURCES.get(resource)
        if kind is None:
            return []
        added_or_updated = ActionType.ADD if old is None else ActionType.UPDATE
        event = ClusterEvent(kind, ActionType.DELETE if new is None else added_or_updated)
        return self._move(event, old, new) if self._queue.hints.interested_in(event) else []

    def _move(self, event: ClusterEvent, old: object, new: object) -> list[ClusterEvent]:
        self._queue.move_all(event, old, new)
        return [event]

    def _move_each(self, events: list[ClusterEvent], old: object, new: object) -> list[ClusterEvent]:
        for event in events:
            self._queue.move_all(event, old, new)
        return events
