"""What the scheduler does with the pending pods of a cluster that is only read: an attempt for each, in the
order of the queue.

A pod that fits takes its room from those behind it. Nothing else that would follow happens: no pod is
evicted, and none is tried again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import PODS
from simulator.cluster.cluster import Cluster
from simulator.framework import snapshot
from simulator.framework.runtime import Framework
from simulator.objects.conditions import condition
from simulator.objects.metadata import created_at
from simulator.objects.pod import Pod
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import message
from simulator.trace import Lane, QueuePlace
from simulator.what_if.rivals import read_of_pod

ATTEMPTS_AT_MOST: Final = 1000
"""Maximum number of attempts: some ten seconds with 5,000 nodes. Pods alike of which one fits nowhere share
its attempt."""


class PendingQueue(NamedTuple):
    places: list[QueuePlace]
    """The places of all pending pods in the queue, after the attempts."""
    untried: int
    """The number of pods without an attempt, beyond ATTEMPTS_AT_MOST. Their message is that of the cluster's
    own scheduler."""


def try_pending(
    objects: Sequence[tuple[Resource, Manifest]], frameworks: Mapping[str, Framework]
) -> PendingQueue:
    """Raises the errors of Pod.parse and Node.parse."""
    cluster, nominated = snapshot.read(objects, frameworks)
    tries = _Tries(cluster, frameworks, nominated)
    pods = queue_order(manifest for resource, manifest in objects if resource == PODS)
    return PendingQueue([tries.place(pod) for pod in pods], tries.untried)


class _Tries:
    def __init__(
        self,
        cluster: Cluster,
        frameworks: Mapping[str, Framework],
        nominated: Mapping[str, Sequence[Pod]],
    ) -> None:
        self._cluster = cluster
        self._frameworks = frameworks
        self._nominated = nominated
        self._attempts = 0
        self._failed: dict[bytes, _Failure] = {}
        self.untried = 0

    def place(self, pod: Pod) -> QueuePlace:
        """Return where the pod waits after an attempt."""
        framework = self._frameworks.get(pod.scheduler_name)
        if framework is None:
            return _queue_place(pod, "outside", scheduler=pod.scheduler_name)
        gate = framework.run_pre_enqueue(pod)
        if gate is not None:
            return _queue_place(pod, "gated", gate=gate.plugin)
        read = read_of_pod(pod.manifest)
        failure = self._failed.get(read)
        if failure is None:
            if self._attempts >= ATTEMPTS_AT_MOST:
                self.untried += 1
                return _queue_place(pod, "unschedulable", message=last_message(pod.manifest))
            failure = self._attempt(framework, pod)
            if failure is None:
                return _queue_place(pod, "activeQ")
            self._failed[read] = failure
        return _queue_place(pod, **failure._asdict())

    def _attempt(self, framework: Framework, pod: Pod) -> "_Failure | None":
        """Put the pod on the node that the scheduler selects, or return why there is none."""
        self._attempts += 1
        others = {
            node: [other for other in pods if other.key != pod.key] for node, pods in self._nominated.items()
        }
        search = Attempt(framework, self._cluster, pod, others).complete()
        if search.errors:
            return _Failure("backoffQ", message(search), [], "")
        if search.selected is None:
            plugins = sorted(search.diagnosis.unschedulable_plugins)
            return _Failure("unschedulable", message(search), plugins, search.nominated_node or "")
        self._cluster.add_pod(pod.assumed(self._cluster.node(search.selected).name))
        return None


class _Failure(NamedTuple):
    """The result of an attempt that found no node: fields of the QueuePlace."""

    lane: Lane
    message: str
    plugins: list[str]
    nominated_node: str


def _queue_place(pod: Pod, lane: Lane, **fields: Any) -> QueuePlace:
    since = created_at(pod.manifest)
    return QueuePlace(pod.key, pod.uid, lane, pod.priority, since, since, attempts=0, **fields)


def queue_order(manifests: Iterable[Manifest]) -> list[Pod]:
    """Return the pods that wait in the order of activeQ: PrioritySort, of equal priority the oldest first."""
    pods = (
        Pod.parse(manifest)
        for manifest in manifests
        if not manifest["spec"].get("nodeName") and "deletionTimestamp" not in manifest["metadata"]
    )
    waiting = [pod for pod in pods if not pod.finished]
    return sorted(waiting, key=lambda pod: (-pod.priority, created_at(pod.manifest), pod.key))


def last_message(pod: Manifest) -> str:
    """Return what the cluster's own scheduler said last of a pod."""
    found = condition(pod, "PodScheduled")
    return "" if found is None else str(found.get("message") or "")
