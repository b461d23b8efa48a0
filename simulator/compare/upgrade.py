"""What an upgrade of Kubernetes changes for the pods of a cluster: each pod is decided by both versions, in
the cluster as it is.

A pending pod is decided as the scheduler would decide it next; a bound pod as if it alone were not bound yet.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.cluster.cluster import Cluster
from simulator.compare.place_again import is_placed_again, without_node
from simulator.framework import snapshot
from simulator.framework.runtime import Framework
from simulator.objects.metadata import is_terminating
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import message
from simulator.versions.changes import VersionChange, changes_between, taken_back
from simulator.versions.features import Features

Outcome = Literal["fits", "preempts", "pending", "gated", "error", "ignored"]
Effect = Literal["runs", "pends", "elsewhere", "ties", "message", "preemption"]
"""What differs: the pod would run and did not, the reverse, it runs on other nodes, on some of the same
nodes, only the message differs, or what is evicted for it."""


class VersionDecision(msgspec.Struct, frozen=True):
    """What one version decides on a pod."""

    outcome: Outcome
    nodes: list[str]
    """The nodes of which the scheduler takes one; for a preemption, those that it may nominate."""
    message: str = ""


class UpgradedPod(msgspec.Struct, frozen=True):
    """A pod that the versions decide differently."""

    pod: str
    node: str
    """The node that it is bound to; empty for a pending pod."""
    before: VersionDecision
    after: VersionDecision
    effect: Effect
    causes: list[str]
    """The names of the changes each of which, taken back alone, gives the decision before; empty if it takes
    several of them."""


class Upgrade(msgspec.Struct, frozen=True):
    pending: int
    """The number of pending pods that were decided."""
    bound: int
    pods: list[UpgradedPod]
    """The pods that are decided differently; pending pods first, in the order of the cluster."""
    changes: list[VersionChange]
    """All changes from the one version to the other."""


class UpgradeComparison:
    def __init__(
        self,
        objects: Sequence[tuple[Resource, Manifest]],
        configuration: Manifest | None,
        before: Features,
        after: Features,
    ) -> None:
        """``objects``: those of the cluster. Raises ConfigError."""
        self.changes = [*changes_between(before, after)]
        self._configuration = configuration
        self._after = after
        self._before_features = before
        self._frameworks: dict[Features, Mapping[str, Framework]] = {}
        self._cluster, self._nominated = snapshot.read(objects, self._profiles(before))
        self._pods = [
            Pod.parse(manifest)
            for resource, manifest in objects
            if resource.id == "pods" and (is_placed_again(manifest) or _is_pending(manifest))
        ]

    def pods(self) -> Sequence[Pod]:
        """The pods that are decided, pending ones first."""
        return sorted(self._pods, key=lambda pod: bool(pod.node_name))

    def compare(self, pods: Iterable[Pod]) -> Upgrade:
        """Decide these pods by both versions."""
        counts = {True: 0, False: 0}
        found = []
        for pod in pods:
            counts[bool(pod.node_name)] += 1
            differing = self._compare(pod)
            if differing is not None:
                found.append(differing)
        return Upgrade(counts[False], counts[True], found, self.changes)

    def _compare(self, pod: Pod) -> UpgradedPod | None:
        asked = Pod.parse(without_node(pod.manifest)) if pod.node_name else pod
        if pod.node_name:
            self._cluster.remove_pod(pod)
        try:
            before = self._decide(asked, self._before_features)
            after = self._decide(asked, self._after)
            if before == after:
                return None
            causes = [
                change.name
                for change in self.changes
                if self._decide(asked, taken_back(change, self._after, self._before_features)) == before
            ]
        finally:
            if pod.node_name:
                self._cluster.add_pod(pod)
        return UpgradedPod(pod.key, pod.node_name, before, after, _effect(before, after), causes)

    def _decide(self, pod: Pod, features: Features) -> VersionDecision:
        framework = self._profiles(features).get(pod.scheduler_name)
        if framework is None:
            return VersionDecision("ignored", [])
        gate = framework.run_pre_enqueue(pod)
        if gate is not None:
            return VersionDecision("gated", [], gate.message)
        nominated = self._nominated
        search = Attempt(framework, self._cluster, pod, nominated)
        for _ in search.run():
            pass
        if search.errors:
            return VersionDecision("error", [], min(search.errors))
        if search.selected is not None:
            return VersionDecision("fits", sorted(_names(self._cluster, search.best.tolist())))
        if search.nominated_node:
            return VersionDecision("preempts", [search.nominated_node], message(search))
        return VersionDecision("pending", [], message(search))

    def _profiles(self, features: Features) -> Mapping[str, Framework]:
        if features not in self._frameworks:
            made = profiles(load(self._configuration, features=features))
            for framework in made.values():
                framework.cluster = self._cluster if self._frameworks else framework.cluster
            self._frameworks[features] = made
        return self._frameworks[features]


def _is_pending(pod: Manifest) -> bool:
    ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    return not pod["spec"].get("nodeName") and not ended and not is_terminating(pod)


def _names(cluster: Cluster, rows: Iterable[int]) -> Iterator[str]:
    return (cluster.node(row).name for row in rows)


def _effect(before: VersionDecision, after: VersionDecision) -> Effect:
    if (before.outcome == "fits") != (after.outcome == "fits"):
        return "runs" if after.outcome == "fits" else "pends"
    if before.outcome == "fits":
        return "ties" if set(before.nodes) & set(after.nodes) else "elsewhere"
    return "message" if (before.outcome, before.nodes) == (after.outcome, after.nodes) else "preemption"
