"""Run histories of operations on the scheduling queue, and print its states.

Reads histories as JSON Lines from standard input, ``{"name", "config", "steps": [{"op"}]}``, and writes for
each ``{"name", "steps": [{"result"?, "state"}]}``. Times are seconds since the start of the history. Before
each operation the clock advances by ``config.tickMillis``. The operations are those of the scheduler's event
handlers, scheduling cycle and failure handling.
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from simulator.api import SECOND, Manifest, Micros
from simulator.command_line.json_lines import answer_lines
from simulator.framework.cluster_event import ClusterEvent
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles
from simulator.queueing.hint_map import queue_profile
from simulator.queueing.queued_pod import QueuedPod
from simulator.queueing.scheduling_queue import SchedulingQueue
from simulator.scheduler.cache import Cache
from simulator.scheduler.event_handlers import EventHandlers
from simulator.scheduler.failure_handler import Requeued, binding_failed, scheduling_failed
from simulator.versions.features import UNSTATED_FEATURES

START: Micros = 1_735_689_600 * SECOND
"""The start of every history. Any whole second would do."""
MILLISECOND: Micros = SECOND // 1000

RESOURCES = {
    "CSIDriver": "csidrivers.storage.k8s.io",
    "CSINode": "csinodes.storage.k8s.io",
    "CSIStorageCapacity": "csistoragecapacities.storage.k8s.io",
    "Namespace": "namespaces",
    "PersistentVolume": "persistentvolumes",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "Service": "services",
    "StorageClass": "storageclasses.storage.k8s.io",
    "VolumeAttachment": "volumeattachments.storage.k8s.io",
}

Result = dict[str, Any]


def add_arguments(parser: ArgumentParser) -> None:
    """Add no arguments."""


def run(options: Namespace) -> int:
    return answer_lines(sys.stdin.buffer, sys.stdout.buffer, run_history)


def run_history(given: Manifest) -> Result:
    history = QueueHistory(given["config"])
    return {"name": given["name"], "steps": [history.run(step["op"]) for step in given["steps"]]}


class QueueHistory:
    """The queue of one history. The methods that end in ``_op`` are the operations; each returns its
    ``result``."""

    def __init__(self, config: Manifest) -> None:
        self.now = START
        self.tick = config["tickMillis"] * MILLISECOND
        self.cache = Cache()
        frameworks = profiles(load(None, features=UNSTATED_FEATURES), cluster=self.cache.cluster)
        self.queue = SchedulingQueue(
            lambda: self.now,
            {name: queue_profile(framework) for name, framework in frameworks.items()},
            self.cache.pods.get,
            initial_backoff=config["podInitialBackoffSeconds"] * SECOND,
            max_backoff=config["podMaxBackoffSeconds"] * SECOND,
            max_in_unschedulable_pods=config["podMaxInUnschedulablePodsSeconds"] * SECOND,
        )
        self.handlers = EventHandlers(self.cache, self.queue, frameworks, UNSTATED_FEATURES.version)
        self.nodes: dict[str, Node] = {}
        self.popped: dict[str, QueuedPod] = {}

    def run(self, op: Manifest) -> Result:
        """Run one operation, and return ``{"result"?, "state"}``."""
        self.now += self.tick
        result = OPERATIONS[op["type"]](self, op)
        return {**({"result": result} if result else {}), "state": self.state()}

    # Operations of the scheduling cycle and failure handling

    def pop_op(self, op: Manifest) -> Result:
        source = "active" if self.queue.active_q else "backoff"
        info = self.queue.pop()
        if info is None:
            return {"popped": "", "note": "nothing to pop: the real Pop would block"}
        self.popped[info.pod.key] = info
        return {"popped": info.pod.key, "attempts": info.attempts, "from": source}

    def fail_op(self, op: Manifest) -> Result:
        info = self.popped[op["pod"]]
        if not op.get("error"):
            info.unschedulable_plugins = set(op.get("unschedulablePlugins") or ())
            info.pending_plugins = set(op.get("pendingPlugins") or ())
        return self._note(scheduling_failed(self.cache, self.queue, info, _nominated_node(op)), info.pod.key)

    def _note(self, requeued: Requeued, key: str) -> Result:
        if requeued is Requeued.GONE:
            return {"note": "pod gone from the lister: not requeued"}
        if requeued is Requeued.ASSIGNED:
            return {"note": "pod has a node: not requeued"}
        if requeued is Requeued.PRESENT:
            places = {"activeQ": "active", "backoffQ": "backoff"}
            present = self.queue.get(key)
            place = places.get(str(present.lane), "unschedulable") if present else ""
            return {
                "note": f"AddUnschedulableIfNotPresent: Pod {key} is already present in the {place} queue"
            }
        return {}

    def assume_op(self, op: Manifest) -> Result:
        pod = self.popped[op["pod"]].pod
        if not self.cache.assumed(pod.uid):
            self.queue.nominator.delete(self.cache.assume(pod, op.get("node", "")))
        return {}

    def done_op(self, op: Manifest) -> Result:
        self.assume_op(op)
        self.queue.done(self.popped[op["pod"]].pod.uid)
        return {}

    def bind_failed_op(self, op: Manifest) -> Result:
        info = self.popped[op["pod"]]
        self.assume_op(op)
        info.unschedulable_plugins = set(op.get("unschedulablePlugins") or ())
        assumed = self.cache.assume(info.pod, op["node"])
        requeued = binding_failed(self.cache, self.queue, info, assumed, rejected=bool(op.get("rejected")))
        return {"events": ["AssignedPodDelete"], **self._note(requeued, info.pod.key)}

    def advance_op(self, op: Manifest) -> Result:
        self.now += round(op["seconds"] * SECOND)
        for flush in op.get("flush") or ():
            if flush == "backoff":
                self.queue.flush_backoff_completed()
            else:
                self.queue.flush_unschedulable_leftover()
        return {}

    def nominate_op(self, op: Manifest) -> Result:
        self.queue.nominator.add(self._current(op["pod"]), _nominated_node(op))
        return {}

    def unnominate_op(self, op: Manifest) -> Result:
        self.queue.nominator.delete(self._current(op["pod"]))
        return {}

    def activate_op(self, op: Manifest) -> Result:
        self.queue.activate([self.cache.pods[key] for key in op["pods"] if key in self.cache.pods])
        return {}

    def _current(self, key: str) -> Pod:
        return self.cache.pods.get(key) or self.popped[key].pod

    # Operations of the event handlers

    def pod_added_op(self, op: Manifest) -> Result:
        return _events(self.handlers.pod_changed(None, Pod.parse(op["pod"])))

    def pod_updated_op(self, op: Manifest) -> Result:
        new = Pod.parse(op["pod"])
        old = self.cache.pods.get(new.key)
        events = self.handlers.pod_changed(old, new)
        if events or old is None:
            return _events(events)
        if old.resource_version == new.resource_version:
            return {"note": "same resourceVersion: ignored"}
        return {"note": "pod is assumed: ignored"}

    def pod_deleted_op(self, op: Manifest) -> Result:
        return _events(self.handlers.pod_changed(self.cache.pods[op["pod"]], None))

    def bound_op(self, op: Manifest) -> Result:
        old = self.cache.pods[op["pod"]]
        spec = {**old.spec, "nodeName": op["node"]}
        return _events(self.handlers.pod_changed(old, Pod.parse({**old.manifest, "spec": spec})))

    def node_set_op(self, op: Manifest) -> Result:
        new = Node.parse(op["node"])
        events = self.handlers.node_changed(self.nodes.get(new.name), new)
        self.nodes[new.name] = new
        return _events(events) or {"note": "no scheduling property changed: no event"}

    def node_deleted_op(self, op: Manifest) -> Result:
        name = op["node"] if isinstance(op["node"], str) else op["node"]["metadata"]["name"]
        return _events(self.handlers.node_changed(self.nodes.pop(name), None))

    def object_op(self, op: Manifest) -> Result:
        resource = RESOURCES.get(op["kind"])
        if resource is None:
            return {"note": "no handler: kind not registered by any plugin"}
        metadata = op["object"]["metadata"]
        key = "/".join(part for part in (metadata.get("namespace"), metadata["name"]) if part)
        old = self.cache.cluster.objects(resource).get(key)
        events = (
            self.handlers.object_changed(resource, key, old or op["object"], None)
            if op["type"] == "objectDelete"
            else self.handlers.object_changed(resource, key, old, op["object"])
        )
        return _events(events) or {"note": "no handler: kind and action not registered by any plugin"}

    # The state

    def state(self) -> Result:
        queue = self.queue
        unschedulable = sorted(queue.unschedulable_pods.items())
        backing_off = [
            *({"pod": i.pod.key, "expires": self._expires(i)} for i in queue.backoff_q.rejected),
            *(
                {"pod": i.pod.key, "expires": self._expires(i), "errorQ": True}
                for i in queue.backoff_q.errors
            ),
        ]
        infos = [
            *queue.active_q,
            *queue.backoff_q.rejected,
            *queue.backoff_q.errors,
            *queue.unschedulable_pods.values(),
        ]
        return {
            "now": _seconds(self.now),
            "active": [info.pod.key for info in queue.active_q],
            "backoff": backing_off,
            "unschedulable": [key for key, info in unschedulable if not info.gated],
            "gated": [key for key, info in unschedulable if info.gated],
            "inFlight": sorted(pod.key for pod in queue.active_q.in_flight_pods()),
            "nominated": {node: [pod.key for pod in pods] for node, pods in queue.nominated_pods().items()},
            "info": {info.pod.key: _info(info) for info in infos},
            "schedulingCycle": queue.active_q.scheduling_cycle,
        }

    def _expires(self, info: QueuedPod) -> float:
        return _seconds(self.queue.backoff_q.expiration(info))


OPERATIONS = {
    "add": QueueHistory.pod_added_op,
    "pop": QueueHistory.pop_op,
    "fail": QueueHistory.fail_op,
    "assume": QueueHistory.assume_op,
    "done": QueueHistory.done_op,
    "bound": QueueHistory.bound_op,
    "bindFailed": QueueHistory.bind_failed_op,
    "advance": QueueHistory.advance_op,
    "update": QueueHistory.pod_updated_op,
    "delete": QueueHistory.pod_deleted_op,
    "assignedPodAdd": QueueHistory.pod_added_op,
    "assignedPodUpdate": QueueHistory.pod_updated_op,
    "assignedPodDelete": QueueHistory.pod_deleted_op,
    "nodeAdd": QueueHistory.node_set_op,
    "nodeUpdate": QueueHistory.node_set_op,
    "nodeDelete": QueueHistory.node_deleted_op,
    "objectAdd": QueueHistory.object_op,
    "objectUpdate": QueueHistory.object_op,
    "objectDelete": QueueHistory.object_op,
    "nominate": QueueHistory.nominate_op,
    "unnominate": QueueHistory.unnominate_op,
    "activate": QueueHistory.activate_op,
}


def _nominated_node(op: Manifest) -> str | None:
    stated = op.get("nominate") or {}
    return stated["node"] if stated.get("mode") == "override" else None


def _events(events: list[ClusterEvent]) -> Result:
    return {"events": [event.label for event in events]} if events else {}


def _seconds(t: Micros) -> float:
    return (t - START) / SECOND


def _info(info: QueuedPod) -> Result:
    stated = {
        "unschedulablePlugins": sorted(info.unschedulable_plugins),
        "pendingPlugins": sorted(info.pending_plugins),
        "gatedBy": info.gating_plugin,
    }
    return {
        "attempts": info.attempts,
        "timestamp": _seconds(info.timestamp),
        "unschedulableCount": info.unschedulable_count,
        "consecutiveErrors": info.consecutive_errors,
        **{name: value for name, value in stated.items() if value},
    }
