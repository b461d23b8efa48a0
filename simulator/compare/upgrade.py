"""What an upgrade of Kubernetes, or another configuration, changes for the pods of a cluster: each pod is
decided by both schedulers, in the cluster as it is.

A pending pod is decided as the scheduler would decide it next; a bound pod as if it alone were not bound yet.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.compare.changed_decisions import (
    CausedDecisions,
    ChangedDecision,
    SchedulerSettings,
    TwoSchedulers,
    count_causes,
)
from simulator.compare.place_again import is_placed_again, without_node
from simulator.framework import snapshot
from simulator.objects.metadata import is_terminating
from simulator.objects.pod import Pod
from simulator.objects.status import FINISHED_PHASES
from simulator.plugins.registry import load, profiles
from simulator.versions.changes import SchedulerChange


class Upgrade(msgspec.Struct, frozen=True):
    pending: int
    """The number of pending pods that were decided."""
    bound: int
    pods: list[ChangedDecision]
    """The pods that are decided differently; pending pods first, in the order of the cluster."""
    causes: list[CausedDecisions]
    """By cause, the most first."""
    changes: list[SchedulerChange]
    """All changes from the one scheduler to the other."""


class UpgradeComparison:
    def __init__(
        self,
        objects: Sequence[tuple[Resource, Manifest]],
        before: SchedulerSettings,
        after: SchedulerSettings,
    ) -> None:
        """``objects``: those of the cluster. Raises ConfigError."""
        frameworks = profiles(load(before.configuration, features=before.features))
        self._cluster, self._nominated = snapshot.read(objects, frameworks)
        self._both = TwoSchedulers(before, after, self._cluster)
        self._pods = [
            Pod.parse(manifest)
            for resource, manifest in objects
            if resource.id == "pods" and (is_placed_again(manifest) or _is_pending(manifest))
        ]

    def pods(self) -> Sequence[Pod]:
        """The pods that are decided, pending ones first."""
        return sorted(self._pods, key=lambda pod: bool(pod.node_name))

    def compare(self, pods: Iterable[Pod]) -> Upgrade:
        """Decide these pods by both schedulers."""
        counts = {True: 0, False: 0}
        found = []
        for pod in pods:
            counts[bool(pod.node_name)] += 1
            differing = self._compare(pod)
            if differing is not None:
                found.append(differing)
        return Upgrade(counts[False], counts[True], found, count_causes(found), self._both.changes)

    def _compare(self, pod: Pod) -> ChangedDecision | None:
        if not pod.node_name:
            return self._both.compare(pod, self._nominated)
        self._cluster.remove_pod(pod)
        try:
            asked = Pod.parse(without_node(pod.manifest))
            found = self._both.compare(asked, self._nominated)
        finally:
            self._cluster.add_pod(pod)
        return found and replace(found, node=pod.node_name)


def _is_pending(pod: Manifest) -> bool:
    ended = (pod.get("status") or {}).get("phase") in FINISHED_PHASES
    return not pod["spec"].get("nodeName") and not ended and not is_terminating(pod)
