"""Pods that do not tolerate a NoExecute taint of their node are deleted, at once or when their tolerance ends
(pkg/controller/tainteviction/taint_eviction.go, v1.34).

Times are counted from when the taint was added or the pod was placed, not from when this controller first saw
it: a successor waits no longer."""

from collections.abc import Iterator

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.resources import PODS
from simulator.apiserver.timestamps import micros
from simulator.controllers.controller import Controller
from simulator.objects.pod import Toleration
from simulator.objects.pod_status import condition, with_condition
from simulator.trace import PodEvicted

REASON = "DeletionByTaintManager"
MESSAGE = "Taint manager: deleting due to NoExecute taint"


class TaintEvictionController(Controller):
    resource = "pods"
    kind = "TaintEviction"
    dependents = ()

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if resource == "pods" and new is not None:
            if new["spec"].get("nodeName") and self._taints(new):
                self.enqueue(key)
        elif resource == "nodes" and new is not None:
            before = evicting_taints(old) if old is not None else []
            if evicting_taints(new) != before:
                for pod_key, pod in self._world.informer.of("pods").items():
                    if pod["spec"].get("nodeName") == key:
                        self.enqueue(pod_key)

    def sync(self, key: str, manifest: Manifest) -> None:
        taints = self._taints(manifest)
        if not taints or "deletionTimestamp" in manifest["metadata"]:
            return
        # A taint without a time is about to get one.
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
        self._world.update("pods", key, manifest["metadata"]["uid"], self._deleted, event=lambda: event)

    def _taints(self, pod: Manifest) -> list[Manifest]:
        node = self._world.informer.get("nodes", pod["spec"].get("nodeName", ""))
        return evicting_taints(node) if node is not None else []

    def _deleted(self, pod: Manifest) -> Manifest | None:
        now = self._world.now
        marked = with_condition(pod, now, "DisruptionTarget", "True", reason=REASON, message=MESSAGE)
        change = admit_delete(PODS, marked, now)
        return pod if change is None else change.object


def evicting_taints(node: Manifest) -> list[Manifest]:
    taints = (node.get("spec") or {}).get("taints") or ()
    return [taint for taint in taints if taint["effect"] == "NoExecute"]


def tolerated_until(pod: Manifest, taint: Manifest) -> Micros | None:
    """None = forever. The past = not at all."""
    matching = [*_matching(pod, taint)]
    if not matching:
        return 0
    seconds: list[int] = [t["tolerationSeconds"] for t in matching if t.get("tolerationSeconds") is not None]
    if not seconds:
        return None
    placed = condition(pod, "PodScheduled") or {}
    since = placed.get("lastTransitionTime") or pod["metadata"]["creationTimestamp"]
    begin = max(micros(taint["timeAdded"]), micros(since))
    return begin + max(0, min(seconds)) * SECOND


def _matching(pod: Manifest, taint: Manifest) -> Iterator[Manifest]:
    for given in pod["spec"].get("tolerations") or ():
        parsed = Toleration(*(given.get(field) or "" for field in Toleration._fields))
        if parsed.tolerates(taint["key"], taint.get("value") or "", taint["effect"]):
            yield given
