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
from simulator.objects.pod_group import PodGroup
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import message
from simulator.scheduler.submit_podgroup import refusal_of
from simulator.trace import Lane, QueuePlace
from simulator.what_if.gang import GangSituation, find_gang
from simulator.what_if.rivals import read_of_pod
from simulator.what_if.situation import Situation

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
        self._gangs: dict[str, dict[str, _Failure]] = {}
        """The gangs that were tried -> why pods of them have no node."""
        self.untried = 0

    def place(self, pod: Pod) -> QueuePlace:
        """Return where the pod waits after an attempt."""
        framework = self._frameworks.get(pod.scheduler_name)
        if framework is None:
            return _queue_place(pod, "outside", scheduler=pod.scheduler_name)
        gate = framework.run_pre_enqueue(pod)
        if gate is not None:
            return _queue_place(pod, "gated", gate=gate.plugin)
        situation = (
            Situation(self._cluster, pod, self._frameworks, self._nominated) if pod.pod_group else None
        )
        gang = find_gang(situation) if situation else None
        if situation is not None and gang is not None:
            return self._place_member(situation, gang)
        read = read_of_pod(pod.manifest)
        failure = self._failed.get(read)
        if failure is None:
            if self._attempts >= ATTEMPTS_AT_MOST:
                self.untried += 1
                return place_as_said(pod)
            failure = self._attempt(framework, pod)
            if failure is None:
                return _queue_place(pod, "activeQ")
            self._failed[read] = failure
        return _queue_place(pod, **failure._asdict())

    def _place_member(self, situation: Situation, gang: PodGroup) -> QueuePlace:
        """Return where a pod of a gang waits. All its pods are tried at the turn of the first one."""
        pod = situation.pod
        if gang.key not in self._gangs:
            if self._attempts >= ATTEMPTS_AT_MOST:
                self.untried += 1
                return place_as_said(pod)
            self._gangs[gang.key] = self._try_gang(GangSituation(situation, gang))
        failure = self._gangs[gang.key].get(pod.key)
        return _queue_place(pod, "activeQ") if failure is None else _queue_place(pod, **failure._asdict())

    def _try_gang(self, gang: GangSituation) -> "dict[str, _Failure]":
        """Put the pods of a gang that can be scheduled on their nodes. Returns why the others have none."""
        result, failures = gang.as_it_is, {}
        self._attempts += len(result.members)
        for member in result.members:
            pod = member.info.pod
            if result.verdict == "scheduled" and member.fits:
                placed = pod.assumed(member.node)
                self._cluster.add_pod(placed)
                self._cluster.pod_groups.set_pod(placed)
                continue
            message, _, plugins = refusal_of(result, member)
            failures[pod.key] = _Failure("unschedulable", message, sorted(plugins or ()), "")
        return failures

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


def place_as_said(pod: Pod) -> QueuePlace:
    """Return the place of a pod of which there is no attempt, with what the cluster's own scheduler said."""
    return _queue_place(pod, "unschedulable", message=last_message(pod.manifest))


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
