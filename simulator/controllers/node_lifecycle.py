"""Nodes that are not heard, or are in trouble, are tainted, and their pods are not ready any more
(pkg/controller/nodelifecycle/node_lifecycle_controller.go, v1.34)."""

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.timestamps import micros, timestamp
from simulator.controllers.controller import Controller, is_finished
from simulator.controllers.pods import is_ready
from simulator.objects.node_conditions import FAILED_SINCE, condition_status, is_broken, with_node_condition
from simulator.objects.pod_status import with_condition

GRACE_PERIOD: Micros = 50 * SECOND
"""How long a kubelet may be silent before its node counts as unknown (--node-monitor-grace-period)."""
PREFIX = "node.kubernetes.io/"
BY_CONDITION = (
    ("Ready", "False", "not-ready"),
    ("Ready", "Unknown", "unreachable"),
    ("MemoryPressure", "True", "memory-pressure"),
    ("DiskPressure", "True", "disk-pressure"),
    ("PIDPressure", "True", "pid-pressure"),
    ("NetworkUnavailable", "True", "network-unavailable"),
)
"""Condition, its status, and the taint that follows from it (nodeConditionToTaintKeyStatusMap)."""
EVICTING = ("not-ready", "unreachable")
"""Those that come with the effect NoExecute, too."""


class NodeLifecycleController(Controller):
    resource = "nodes"
    kind = "NodeLifecycle"
    dependents = ()

    def sync(self, key: str, manifest: Manifest) -> None:
        self.patch("nodes", manifest, self._judged)
        since = (manifest["metadata"].get("annotations") or {}).get(FAILED_SINCE)
        if is_broken(manifest) and since is not None and micros(since) + GRACE_PERIOD > self._world.now:
            self.enqueue(key, micros(since) + GRACE_PERIOD)
        if condition_status(manifest, "Ready") in ("False", "Unknown"):
            self._mark_pods_not_ready(key)

    def _judged(self, node: Manifest) -> Manifest:
        """With the conditions and taints that it is to have."""
        now = self._world.now
        since = (node["metadata"].get("annotations") or {}).get(FAILED_SINCE)
        if is_broken(node) and since is not None and micros(since) + GRACE_PERIOD <= now:
            message = "Kubelet stopped posting node status."
            reason = "NodeStatusUnknown"
            node = with_node_condition(node, now, "Ready", "Unknown", reason=reason, message=message)
        spec = node.get("spec") or {}
        taints = self._taints(node)
        return node if taints == (spec.get("taints") or []) else {**node, "spec": {**spec, "taints": taints}}

    def _taints(self, node: Manifest) -> list[Manifest]:
        wanted = taints_of(node)
        old = (node.get("spec") or {}).get("taints") or []
        kept = [t for t in old if (t["key"], t["effect"]) in wanted or not _managed(t)]
        there = {(taint["key"], taint["effect"]) for taint in kept}
        added = [{"key": key, "effect": effect} for key, effect in wanted if (key, effect) not in there]
        stamp = {"timeAdded": timestamp(self._world.now)}
        # Evictions are timed from here on, whoever put the taint there.
        return [{**stamp, **t} if t["effect"] == "NoExecute" else t for t in (*kept, *added)]

    def _mark_pods_not_ready(self, node: str) -> None:
        def not_ready(pod: Manifest) -> Manifest:
            for kind in ("ContainersReady", "Ready"):
                pod = with_condition(pod, self._world.now, kind, "False", reason="NodeNotReady")
            return pod

        for pod in [*self._world.informer.of("pods").values()]:
            if pod["spec"].get("nodeName") == node and is_ready(pod) and not is_finished(pod):
                self.patch("pods", pod, not_ready)


def taints_of(node: Manifest) -> list[tuple[str, str]]:
    """Key and effect of each taint that follows from what is said of the node."""
    found = []
    for kind, status, name in BY_CONDITION:
        if condition_status(node, kind) == status:
            effects = ("NoSchedule", "NoExecute") if name in EVICTING else ("NoSchedule",)
            found += [(PREFIX + name, effect) for effect in effects]
    if (node.get("spec") or {}).get("unschedulable"):
        found.append((PREFIX + "unschedulable", "NoSchedule"))
    return found


def _managed(taint: Manifest) -> bool:
    """Whether it is this controller's to give and take."""
    prefix, slash, name = taint["key"].rpartition("/")
    if prefix + slash != PREFIX:
        return False
    if taint["effect"] == "NoExecute":
        return name in EVICTING
    known = (*(name for _, _, name in BY_CONDITION), "unschedulable")
    return taint["effect"] == "NoSchedule" and name in known
