"""What the plugins have to say when an event comes: which pods it may help, and which may be queued at all
(QueueingHintMap and PreEnqueue in pkg/scheduler/backend/queue/scheduling_queue.go, v1.34)."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from simulator.objects.pod import Pod
from simulator.queueing.cluster_event import ClusterEvent
from simulator.queueing.hint import Registered
from simulator.queueing.queued_pod import QueuedPod

PreEnqueue = Callable[[Pod], bool]
"""Whether the pod may enter activeQ or backoffQ."""


class QueueProfile(NamedTuple):
    """What one profile's plugins have to say to the queue, by the plugin's name."""

    registered: Mapping[str, list[Registered]]
    pre_enqueue: Mapping[str, PreEnqueue]


class Strategy(Enum):
    """How to requeue a pod (queueingStrategy)."""

    SKIP = 0
    AFTER_BACKOFF = 1
    IMMEDIATELY = 2


def says_queue(registered: Registered, pod: Pod, old: Any, new: Any) -> bool:
    """A hint that fails counts as Queue: better an attempt too many than a pod that is never tried again."""
    try:
        return registered.hint(pod, old, new)
    except Exception:  # whatever it is: see above
        return True


class HintMap:
    """``profiles`` by schedulerName."""

    def __init__(self, profiles: Mapping[str, QueueProfile]) -> None:
        self._profiles = profiles
        self._events = {r.event for p in profiles.values() for rs in p.registered.values() for r in rs}

    def interested_in(self, event: ClusterEvent) -> bool:
        """Whether some plugin registered the event: others move nothing and are not recorded."""
        return any(registered.matches(event) for registered in self._events)

    def interest_gating_plugin(self, info: QueuedPod, event: ClusterEvent) -> bool:
        """Whether the plugin that gates the pod registered the event."""
        registered = self._profiles[info.pod.scheduler_name].registered.get(info.gating_plugin, ())
        return any(r.event.matches(event) for r in registered)

    def worth_requeuing(
        self, info: QueuedPod, event: ClusterEvent, old: Any, new: Any
    ) -> tuple[Strategy, str]:
        """isPodWorthRequeuing; with the plugin that said so. Queue from a plugin on which the pod is pending
        needs no backoff: it was not the pod that failed."""
        if info.failed_by_error:
            return Strategy.AFTER_BACKOFF, ""
        if event.wildcard:
            meant = new is None or (isinstance(new, Pod) and new.uid == info.pod.uid)
            return (Strategy.AFTER_BACKOFF if meant else Strategy.SKIP), ""
        by = ""
        for plugin, registered in self._profiles[info.pod.scheduler_name].registered.items():
            pending = plugin in info.pending_plugins
            if not pending and (by or plugin not in info.unschedulable_plugins):
                continue
            if any(r.event.matches(event) and says_queue(r, info.pod, old, new) for r in registered):
                if pending:
                    return Strategy.IMMEDIATELY, plugin
                by = plugin
        return (Strategy.AFTER_BACKOFF, by) if by else (Strategy.SKIP, "")

    def gate(self, info: QueuedPod) -> bool:
        """Run the PreEnqueue plugins, first the one that gated the pod last time; whether one objects."""
        plugins = self._profiles[info.pod.scheduler_name].pre_enqueue
        for name in sorted(plugins, key=lambda name: name != info.gating_plugin):
            if not plugins[name](info.pod):
                info.unschedulable_plugins.add(name)
                info.gating_plugin = name
                return True
        info.gating_plugin = ""
        return False
