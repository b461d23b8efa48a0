"""The kubelets' way out of a shortage: while a node is short of something, they end one pod after the other
(pkg/kubelet/eviction: eviction_manager.go and helpers.go, v1.34).

Upstream asks first who uses more than it requested. Usage is not simulated; a pod that requests nothing uses
more than that whatever it does."""

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.timestamps import micros
from simulator.apiserver.validation import SYSTEM_CLASSES
from simulator.controllers.controller import Controller
from simulator.controllers.pods import is_active
from simulator.objects import container_status
from simulator.objects.node_conditions import condition_status, is_silent, node_condition
from simulator.objects.pod import Pod
from simulator.objects.pod_status import with_condition, with_status
from simulator.trace import PodEvicted

INTERVAL: Micros = 10 * SECOND
"""Between two looks, and thus two evictions (monitoringInterval)."""
RESOURCES = {"MemoryPressure": "memory", "DiskPressure": "ephemeral-storage", "PIDPressure": "pids"}
CRITICAL = min(SYSTEM_CLASSES.values())
"""Pods of this priority and above are not evicted (IsCriticalPodBasedOnPriority)."""


class EvictionManager(Controller):
    resource = "nodes"
    kind = "Kubelet"
    dependents = ()

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if resource == "nodes" and new is not None and shortage(new):
            self._look_again(key, new)

    def _look_again(self, key: str, node: Manifest) -> None:
        """Looks are told by the condition's own time, so that a successor keeps their pace."""
        since = micros((node_condition(node, shortage(node)) or {}).get("lastTransitionTime", EPOCH))
        self.enqueue(key, since + ((self._world.now - since) // INTERVAL + 1) * INTERVAL)

    def sync(self, key: str, manifest: Manifest) -> None:
        kind = shortage(manifest)
        if not kind or is_silent(manifest):
            return
        self._look_again(key, manifest)
        resource = RESOURCES[kind]
        pods = [
            Pod.parse(pod)
            for pod in self._world.informer.of("pods").values()
            if pod["spec"].get("nodeName") == key and is_active(pod)
        ]
        ranked = sorted(
            (pod for pod in pods if pod.priority < CRITICAL and pod.phase == "Running"),
            key=lambda pod: (
                pod.requests.get(resource, 0) > 0,
                pod.priority,
                -pod.requests.get(resource, 0),
                pod.key,
            ),
        )
        if ranked:
            self._evict(ranked[0], resource)

    def _evict(self, pod: Pod, resource: str) -> None:
        now = self._world.now
        message = f"The node was low on resource: {resource}. "

        def evicted(manifest: Manifest) -> Manifest:
            since = container_status.running_since(manifest) or now
            ended = container_status.ended_containers(manifest, now, since, exit_code=137)
            new = with_status(
                manifest, phase="Failed", reason="Evicted", message=message, containerStatuses=ended
            )
            why = {"reason": "TerminationByKubelet", "message": message}
            new = with_condition(new, now, "DisruptionTarget", "True", **why)
            return with_condition(new, now, "Ready", "False", reason="PodFailed")

        event = PodEvicted(t=now, pod=pod.key, node=pod.node_name, reason=f"low on {resource}")
        self._world.update("pods", pod.key, pod.uid, evicted, event=lambda: event)


def rank(pod: Pod, resource: str) -> tuple[bool, int, int, str]:
    """Who asks for nothing goes first, then the least important, then the biggest."""
    asked = pod.requests.get(resource, 0)
    return asked > 0, pod.priority, -asked, pod.key


EPOCH = "1970-01-01T00:00:00Z"


def shortage(node: Manifest) -> str:
    """The condition that says what the node is short of; "" = of nothing. Memory comes first, as upstream."""
    return next((kind for kind in RESOURCES if condition_status(node, kind) == "True"), "")
