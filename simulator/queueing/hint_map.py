"""HintMap: calls the queueing hints and the PreEnqueue plugins of the profiles (queueingHintMap and
preEnqueuePluginMap in pkg/scheduler/backend/queue/scheduling_queue.go)."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from simulator.framework.cluster_event import NODE, ActionType, ClusterEvent
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.runtime import Framework
from simulator.framework.status import Status
from simulator.objects.pod import Pod
from simulator.queueing.queued_pod import QueuedPod

RunPreEnqueue = Callable[[Pod, str], Status | None]
"""``pre_enqueue(pod, first)`` runs the PreEnqueue plugins, the plugin named ``first`` before the others. It
returns the status that keeps the pod gated, None if the pod can enter activeQ or backoffQ."""


_Registered = Sequence[tuple[str, Sequence[ClusterEventWithHint]]]
"""Plugins by name, each with what it registered."""


class QueueProfile(NamedTuple):
    """The parts of a profile that the queue uses."""

    registered: Mapping[str, list[ClusterEventWithHint]]
    """The registered events by the name of the plugin."""
    pre_enqueue: RunPreEnqueue


def queue_profile(framework: Framework) -> QueueProfile:
    events = framework.events_to_register()
    return QueueProfile(
        {plugin: with_node_taint_updates(registered) for plugin, registered in events.items()},
        framework.run_pre_enqueue,
    )


def with_node_taint_updates(registered: list[ClusterEventWithHint]) -> list[ClusterEventWithHint]:
    """Add Node/UpdateNodeTaint to the events of a plugin that registers Node/Add (buildQueueingHintMap in
    pkg/scheduler/scheduler.go). preCheck can drop the Add event of a node with a taint; then the update that
    removes the taint is the first event of the node for the plugin."""
    node = [r.event.action for r in registered if r.event.resource == NODE]
    if any(a & ActionType.ADD for a in node) and not any(a & ActionType.UPDATE_NODE_TAINT for a in node):
        return [*registered, register(NODE, ActionType.UPDATE_NODE_TAINT)]
    return registered


class QueueingStrategy(Enum):
    """The way in which a pod is requeued (queueingStrategy): not at all, after its backoff, or
    immediately."""

    SKIP = 0
    AFTER_BACKOFF = 1
    IMMEDIATELY = 2


def call_hint(registered: ClusterEventWithHint, pod: Pod, old: Any, new: Any) -> bool:
    """Return the result of a queueing hint. A hint that raises counts as Queue (True), because otherwise the
    pod could remain unschedulable forever."""
    try:
        return registered.hint(pod, old, new)
    except Exception:  # a plugin can raise anything
        return True


class HintMap:
    """The queueing hints and PreEnqueue plugins. ``profiles`` are by schedulerName."""

    def __init__(self, profiles: Mapping[str, QueueProfile]) -> None:
        self._profiles = profiles
        self._events = {r.event for p in profiles.values() for rs in p.registered.values() for r in rs}
        self._interests: dict[ClusterEvent, bool] = {}
        """The answers of :meth:`interested_in`; there are few kinds of events."""
        self._registered_for: dict[tuple[str, ClusterEvent], _Registered] = {}
        """The answers of :meth:`_find_registered`."""

    def interested_in(self, event: ClusterEvent) -> bool:
        """Whether any plugin registered the event. Other events move no pods."""
        known = self._interests.get(event)
        if known is None:
            known = self._interests[event] = any(registered.matches(event) for registered in self._events)
        return known

    def gating_plugin_registered(self, info: QueuedPod, event: ClusterEvent) -> bool:
        """Whether the plugin that gates the pod registered the event."""
        registered = self._profiles[info.pod.scheduler_name].registered.get(info.gating_plugin, ())
        return any(r.event.matches(event) for r in registered)

    def is_pod_worth_requeuing(
        self, info: QueuedPod, event: ClusterEvent, old: Any, new: Any
    ) -> tuple[QueueingStrategy, str]:
        """Return how to requeue the pod after an event, and the plugin whose hint returned Queue, "" if none
        did (isPodWorthRequeuing).

        If this plugin rejected the pod with status Pending, the pod is requeued without backoff."""
        if info.failed_by_error:
            return QueueingStrategy.AFTER_BACKOFF, ""
        if event.wildcard:
            concerned = new is None or (isinstance(new, Pod) and new.uid == info.pod.uid)
            return (QueueingStrategy.AFTER_BACKOFF if concerned else QueueingStrategy.SKIP), ""
        queued_by = ""
        for plugin, registered in self._find_registered(info.pod.scheduler_name, event):
            pending = plugin in info.pending_plugins
            if not pending and (queued_by or plugin not in info.unschedulable_plugins):
                continue
            if any(call_hint(r, info.pod, old, new) for r in registered):
                if pending:
                    return QueueingStrategy.IMMEDIATELY, plugin
                queued_by = plugin
        return (QueueingStrategy.AFTER_BACKOFF if queued_by else QueueingStrategy.SKIP), queued_by

    def _find_registered(self, profile: str, event: ClusterEvent) -> _Registered:
        """Return the plugins of a profile that registered the event, each with what it registered for it. It
        is asked for each pod that an event may move."""
        known = self._registered_for.get((profile, event))
        if known is None:
            matching = [
                (plugin, [r for r in registered if r.event.matches(event)])
                for plugin, registered in self._profiles[profile].registered.items()
            ]
            known = self._registered_for[profile, event] = [found for found in matching if found[1]]
        return known

    def run_pre_enqueue(self, info: QueuedPod) -> bool:
        """Run the PreEnqueue plugins, first the plugin that gated the pod last time. Set
        ``info.gating_plugin``. Return whether the pod is gated."""
        profile = self._profiles[info.pod.scheduler_name]
        status = profile.pre_enqueue(info.pod, info.gating_plugin)
        info.gating_plugin = status.plugin if status is not None else ""
        if status is not None:
            info.unschedulable_plugins.add(status.plugin)
        return status is not None
