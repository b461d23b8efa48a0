"""The taint eviction controller: deletes pods that do not tolerate a NoExecute taint of their node, or do so
no longer (pkg/controller/tainteviction/taint_eviction.go).

The time of toleration is counted from when the taint was added or the pod was bound, not from when this
controller first observed it, so that a new leader deletes the pod at the same time."""

from collections.abc import Iterator

from simulator.api import SECOND, Change, Manifest, Micros
from simulator.controllers.controller import Controller
from simulator.objects.conditions import condition, holds_since, with_condition
from simulator.objects.metadata import is_terminating
from simulator.objects.pod import Toleration
from simulator.objects.timestamps import micros
from simulator.trace import PodEvicted

REASON = "DeletionByTaintManager"
MESSAGE = "Taint manager: deleting due to NoExecute taint"


class TaintEvictionController(Controller):
    component = "TaintEviction"
    resource = "pods"
    watches = ("pods", "nodes")

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if new is None:
            return
        if resource == "pods":
            if new["spec"].get("nodeName") and self._taints_of_node(new):
                self.enqueue(key)
        elif no_execute_taints(new) != (no_execute_taints(old) if old is not None else []):
            for pod in self._pods.values():
                if pod.node_name == key:
                    self.enqueue(pod.key)

    def sync(self, key: str, manifest: Manifest) -> None:
        taints = self._taints_of_node(manifest)
        if not taints or is_terminating(manifest):
            return
        # The node lifecycle controller adds the time to a taint without one.
        ends = [
            (end, taint["key"])
            for taint in taints
            if "timeAdded" in taint and (end := tolerated_until(manifest, taint)) is not None
        ]
        if not ends:
            return
        end, taint_key = min(ends)
        if end > self._world.now:
            self.enqueue(key, end)
            return
        event = PodEvicted(
            t=self._world.now,
            pod=key,
            node=manifest["spec"]["nodeName"],
            reason=f"taint {taint_key}:NoExecute",
        )
        self.write("pods", manifest, self._delete, event)

    def _taints_of_node(self, pod: Manifest) -> list[Manifest]:
        node = self._world.informer.get("nodes", pod["spec"].get("nodeName", ""))
        return no_execute_taints(node) if node is not None else []

    def _delete(self, pod: Manifest) -> list[Change]:
        now = self._world.now
        marked = with_condition(pod, now, "DisruptionTarget", "True", reason=REASON, message=MESSAGE)
        return self._world.server.delete_by_component(marked)


def no_execute_taints(node: Manifest) -> list[Manifest]:
    taints = (node.get("spec") or {}).get("taints") or ()
    return [taint for taint in taints if taint["effect"] == "NoExecute"]


def tolerated_until(pod: Manifest, taint: Manifest) -> Micros | None:
    """Return the time until which the pod tolerates the taint: None = forever, 0 = it does not tolerate
    it."""
    matching = [*_matching_tolerations(pod, taint)]
    if not matching:
        return 0
    seconds: list[int] = [t["tolerationSeconds"] for t in matching if t.get("tolerationSeconds") is not None]
    if not seconds:
        return None
    scheduled = condition(pod, "PodScheduled") or {}
    begin = max(micros(taint["timeAdded"]), holds_since(scheduled, pod))
    return begin + max(0, min(seconds)) * SECOND


def _matching_tolerations(pod: Manifest, taint: Manifest) -> Iterator[Manifest]:
    for manifest in pod["spec"].get("tolerations") or ():
        toleration = Toleration(*(manifest.get(field) or "" for field in Toleration._fields))
        if toleration.tolerates(taint["key"], taint.get("value") or "", taint["effect"]):
            yield manifest
