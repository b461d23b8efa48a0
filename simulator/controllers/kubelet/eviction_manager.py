"""The kubelets' node-pressure eviction: while a node is short of a resource, its kubelet ends one pod after
the other (pkg/kubelet/eviction: eviction_manager.go and helpers.go).

Upstream evicts pods first that use more than they request. Usage is not simulated: pods that request nothing
of the resource count as using more than that."""

from simulator.api import SECOND, Manifest, Micros
from simulator.controllers.controller import Controller
from simulator.controllers.kubelet import pod_status
from simulator.objects import container_status
from simulator.objects.conditions import condition, is_condition_true, with_condition
from simulator.objects.node_status import is_unreachable
from simulator.objects.pod import SYSTEM_CRITICAL_PRIORITY, Pod
from simulator.objects.status import with_status
from simulator.objects.timestamps import micros
from simulator.trace import PodEvicted

INTERVAL: Micros = 10 * SECOND
"""The interval between two syncs of a node, and so between two evictions (monitoringInterval)."""
RESOURCES = {"MemoryPressure": "memory", "DiskPressure": "ephemeral-storage", "PIDPressure": "pids"}
EPOCH = "1970-01-01T00:00:00Z"


class EvictionManager(Controller):
    component = "Kubelet"
    resource = "nodes"
    watches = ("nodes",)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if new is not None and pressure_of(new):
            self._enqueue_next(key, new)

    def _enqueue_next(self, key: str, node: Manifest) -> None:
        """Sync the node when the next interval begins. Intervals are counted from the condition's transition
        time, so that a new leader syncs at the same times."""
        pressure = condition(node, pressure_of(node)) or {}
        since = micros(pressure.get("lastTransitionTime") or EPOCH)
        self.enqueue(key, since + ((self._world.now - since) // INTERVAL + 1) * INTERVAL)

    def sync(self, key: str, manifest: Manifest) -> None:
        pressure = pressure_of(manifest)
        if not pressure or is_unreachable(manifest):
            return
        self._enqueue_next(key, manifest)
        resource = RESOURCES[pressure]
        candidates = (
            pod
            for pod in self._pods.values()
            if pod.node_name == key
            and pod.phase == "Running"
            and not pod.terminating
            and pod.priority < SYSTEM_CRITICAL_PRIORITY  # IsCriticalPodBasedOnPriority
        )
        victim = min(candidates, key=lambda pod: eviction_rank(pod, resource), default=None)
        if victim is not None:
            self._evict(victim, resource)

    def _evict(self, pod: Pod, resource: str) -> None:
        now = self._world.now
        message = f"The node was low on resource: {resource}. "

        def evicted(manifest: Manifest) -> Manifest:
            since = container_status.running_since(manifest) or now
            new = pod_status.ended(manifest, now, since, exit_code=pod_status.KILLED)
            new = with_status(new, reason="Evicted", message=message)
            return with_condition(
                new, now, "DisruptionTarget", "True", reason="TerminationByKubelet", message=message
            )

        event = PodEvicted(t=now, pod=pod.key, node=pod.node_name, reason=f"low on {resource}")
        self.patch("pods", pod.manifest, evicted, event)


def eviction_rank(pod: Pod, resource: str) -> tuple[bool, int, int, str]:
    """Return the rank of a pod. Pods of the lowest rank are evicted first: those that request nothing of the
    resource, then those of the lowest priority, then those that request most (rankMemoryPressure)."""
    request = pod.requests.get(resource, 0)
    return request > 0, pod.priority, -request, pod.key


def pressure_of(node: Manifest) -> str:
    """Return the type of the first pressure condition that is true, memory before the others as upstream; ""
    if there is none."""
    return next((kind for kind in RESOURCES if is_condition_true(node, kind)), "")
