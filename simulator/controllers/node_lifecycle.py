"""The node lifecycle controller: taints nodes by their conditions, and marks the pods of nodes that are not
ready (pkg/controller/nodelifecycle/node_lifecycle_controller.go)."""

from simulator.api import SECOND, Manifest, Micros
from simulator.controllers.controller import Controller
from simulator.controllers.pods import is_finished, is_ready
from simulator.controllers.work_queue import ObjectKey
from simulator.objects.conditions import condition_status, with_condition
from simulator.objects.metadata import annotations_of
from simulator.objects.node_status import FAILED_SINCE, is_broken, with_node_condition
from simulator.objects.timestamps import micros, timestamp

GRACE_PERIOD: Micros = 50 * SECOND
"""The time without a status from the kubelet after which its node's status is Unknown
(--node-monitor-grace-period)."""
PREFIX = "node.kubernetes.io/"
TAINT_BY_CONDITION = (
    ("Ready", "False", "not-ready"),
    ("Ready", "Unknown", "unreachable"),
    ("MemoryPressure", "True", "memory-pressure"),
    ("DiskPressure", "True", "disk-pressure"),
    ("PIDPressure", "True", "pid-pressure"),
    ("NetworkUnavailable", "True", "network-unavailable"),
)
"""A condition, its status, and the taint of a node that has it (nodeConditionToTaintKeyStatusMap)."""
NO_EXECUTE_TAINTS = ("not-ready", "unreachable")
"""The taints that are also added with the effect NoExecute."""


class NodeLifecycleController(Controller):
    component = "NodeLifecycle"
    resource = "nodes"
    watches = ("nodes",)

    def sync(self, key: str, manifest: Manifest) -> None:
        self.patch("nodes", manifest, self._with_conditions_and_taints)
        due = _unknown_at(manifest)
        if due is not None and due > self._world.now:
            self.enqueue(key, due)
        if condition_status(manifest, "Ready") in ("False", "Unknown"):
            self._mark_pods_not_ready(key)

    def _with_conditions_and_taints(self, node: Manifest) -> Manifest:
        due = _unknown_at(node)
        if due is not None and due <= self._world.now:
            reason, message = "NodeStatusUnknown", "Kubelet stopped posting node status."
            node = with_node_condition(
                node, self._world.now, "Ready", "Unknown", reason=reason, message=message
            )
        spec = node.get("spec") or {}
        taints = self._taints(node)
        return node if taints == (spec.get("taints") or []) else {**node, "spec": {**spec, "taints": taints}}

    def _taints(self, node: Manifest) -> list[Manifest]:
        """Return the taints that the node is to have: those of its conditions, and those of others."""
        wanted = condition_taints(node)
        old = (node.get("spec") or {}).get("taints") or []
        kept = [taint for taint in old if _identity(taint) in wanted or not _is_managed(taint)]
        known = {_identity(taint) for taint in kept}
        added = [{"key": key, "effect": effect} for key, effect in wanted if (key, effect) not in known]
        # Evictions are timed from timeAdded, also for taints of other writers.
        stamp = {"timeAdded": timestamp(self._world.now)}
        return [{**stamp, **t} if t["effect"] == "NoExecute" else t for t in (*kept, *added)]

    def _mark_pods_not_ready(self, node: str) -> None:
        """Mark the pods of a node as not ready (MarkPodsNotReady)."""

        def not_ready(pod: Manifest) -> Manifest:
            for kind in ("ContainersReady", "Ready"):
                pod = with_condition(pod, self._world.now, kind, "False", reason="NodeNotReady")
            return pod

        pods = [pod.manifest for pod in self._pods.values() if pod.node_name == node]
        ready = [pod for pod in pods if is_ready(pod) and not is_finished(pod)]
        for pod in self.part_of(ObjectKey(self.resource, node), ready):
            self.patch("pods", pod, not_ready)


def _unknown_at(node: Manifest) -> Micros | None:
    """Return the time at which the grace period of a failed node's kubelet ends; None = the kubelet posts its
    status."""
    since = annotations_of(node).get(FAILED_SINCE)
    return micros(since) + GRACE_PERIOD if is_broken(node) and since is not None else None


def condition_taints(node: Manifest) -> list[tuple[str, str]]:
    """Return key and effect of the taints for the node's conditions and its spec.unschedulable."""
    found = []
    for kind, status, name in TAINT_BY_CONDITION:
        if condition_status(node, kind) == status:
            effects = ("NoSchedule", "NoExecute") if name in NO_EXECUTE_TAINTS else ("NoSchedule",)
            found += [(PREFIX + name, effect) for effect in effects]
    if (node.get("spec") or {}).get("unschedulable"):
        found.append((PREFIX + "unschedulable", "NoSchedule"))
    return found


def _identity(taint: Manifest) -> tuple[str, str]:
    return taint["key"], taint["effect"]


def _is_managed(taint: Manifest) -> bool:
    """Whether this controller adds and removes such a taint."""
    prefix, slash, name = taint["key"].rpartition("/")
    if prefix + slash != PREFIX:
        return False
    if taint["effect"] == "NoExecute":
        return name in NO_EXECUTE_TAINTS
    known = (*(name for _, _, name in TAINT_BY_CONDITION), "unschedulable")
    return taint["effect"] == "NoSchedule" and name in known
