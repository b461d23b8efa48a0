"""The DaemonSet controller: one pod on each node that accepts it (daemon_controller.go and update.go in
pkg/controller/daemon). The scheduler places these pods as others; each requires its node by name."""

from typing import NamedTuple

from simulator.api import SECOND, Manifest, Micros
from simulator.client.world import CreateFailed
from simulator.controllers.controller_revisions import (
    REVISIONS,
    delete_old_revisions,
    sync_update_revision,
)
from simulator.controllers.daemon_placement import (
    accepts_daemon_pod,
    add_daemon_tolerations,
    with_target_node,
)
from simulator.controllers.pod_tally import PodFacts, PodTally, count_available
from simulator.controllers.pods import REVISION_LABEL, pod_from_template, revision_label
from simulator.controllers.status_types import DaemonSetStatus
from simulator.controllers.work_queue import ObjectKey
from simulator.controllers.workload_controller import WorkloadController
from simulator.objects.conditions import condition, holds_since
from simulator.objects.metadata import TEMPLATE_GENERATION, annotations_of, is_terminating, name_of
from simulator.objects.numbers import scaled_value_rounded_up
from simulator.objects.pod import Pod

DAEMON_SETS = "daemonsets.apps"
TEMPLATE_LABEL = "pod-template-generation"
BURST_REPLICAS = 250
"""The most pods created, and deleted, by one sync (BurstReplicas)."""
FAILED_POD_DELAY: Micros = SECOND
"""The time for which a finished pod is kept before it is replaced (failedPodsBackoff; upstream's doubles each
time)."""


class DaemonPods(NamedTuple):
    """The pods of a DaemonSet and the nodes that accept them; nodes in the order in which they were
    observed."""

    digest: str
    """The hash of the current template."""
    by_node: dict[str, list[PodFacts]]
    """The pods by the node that they are bound to or require."""
    should_run: dict[str, None]
    """Nodes on which a pod is created."""
    should_continue: dict[str, None]
    """Nodes on which an existing pod may stay."""

    def is_updated(self, pod: PodFacts) -> bool:
        """Whether the pod was created from the current template (IsPodUpdated in daemon/util)."""
        return pod.revision == self.digest


class DaemonSetController(WorkloadController):
    component = "DaemonSet"
    resource = DAEMON_SETS
    watches = ("pods", "nodes", REVISIONS, DAEMON_SETS)
    dependents = ("pods", REVISIONS)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource == "nodes":
            for daemon_set in self._world.informer.of(DAEMON_SETS):
                self.enqueue(daemon_set)

    def sync(self, key: str, manifest: Manifest) -> None:
        pods = None if is_terminating(manifest) else self.claim_pods(manifest)
        if pods is None:
            return
        revision = sync_update_revision(self, manifest, REVISION_LABEL)
        if revision is None:
            return
        daemons = self._daemon_pods(key, manifest, revision_label(revision), pods)
        try:
            if not self._manage(key, manifest, daemons):
                self._rolling_update(manifest, daemons)
        except CreateFailed:
            self._sync_status(key, manifest, daemons)
            raise
        self._sync_status(key, manifest, daemons)
        used = {pod.revision for pod in pods.facts()}
        delete_old_revisions(self, manifest, [revision], used)

    def _daemon_pods(self, key: str, manifest: Manifest, digest: str, pods: PodTally) -> DaemonPods:
        by_node: dict[str, list[PodFacts]] = {}
        for pod in pods.facts():
            by_node.setdefault(pod.node, []).append(pod)
        daemon = Pod.parse({**self._new_pod(manifest, digest, ""), "metadata": {"name": key}})
        nodes = self._nodes.values()
        run = [node.name for node in nodes if accepts_daemon_pod(node, daemon, ("NoSchedule", "NoExecute"))]
        keep = [node.name for node in nodes if accepts_daemon_pod(node, daemon, ("NoExecute",))]
        return DaemonPods(digest, by_node, dict.fromkeys(run), dict.fromkeys(keep))

    def _manage(self, key: str, manifest: Manifest, daemons: DaemonPods) -> bool:
        """Create missing pods and delete surplus ones (manage); whether there were any."""
        missing = [name for name in daemons.should_run if name not in daemons.by_node]
        surplus: list[PodFacts] = []
        for name, pods in daemons.by_node.items():
            alive = [pod for pod in pods if not pod.state.terminating]
            if name not in daemons.should_continue:
                surplus += alive
                continue
            running = [pod for pod in alive if not pod.state.finished]
            surplus += self._surplus_on_node(manifest, daemons, running)
            for pod in alive:
                if pod.state.finished:
                    due = _finished_at(pod.manifest) + FAILED_POD_DELAY
                    if due <= self._world.now:
                        surplus.append(pod)
                    else:
                        self.enqueue(key, due)
        if surplus:
            part = [pod.manifest for pod in surplus[:BURST_REPLICAS]]
            self.delete(manifest, part, "failed, or not wanted on its node")
        if missing:
            names = missing[:BURST_REPLICAS]
            self.create(manifest, (self._new_pod(manifest, daemons.digest, name) for name in names))
        if len(missing) > BURST_REPLICAS or len(surplus) > BURST_REPLICAS:
            self.go_on(ObjectKey(self.resource, key), len(missing) + len(surplus))
        return bool(surplus or missing)

    def _surplus_on_node(
        self, manifest: Manifest, daemons: DaemonPods, running: list[PodFacts]
    ) -> list[PodFacts]:
        """Return the pods to delete of those running on one node. With maxSurge an old pod that is ready
        stays until the new one is available."""
        if len(running) < 2:
            return []
        if not _max_surge(manifest, 1):
            return running[1:]
        new = [pod for pod in running if daemons.is_updated(pod)]
        old = [pod for pod in running if not daemons.is_updated(pod)]
        surplus = new[1:] + old[1:]
        if new and old and (not old[0].state.ready or self._is_available(manifest, new[0])):
            surplus.append(old[0])
        return surplus

    def _rolling_update(self, manifest: Manifest, daemons: DaemonPods) -> None:
        strategy = manifest["spec"]["updateStrategy"]
        if strategy["type"] == "RollingUpdate":
            nodes = len(daemons.should_run)
            surge = _max_surge(manifest, nodes)
            if surge:
                self._create_beside_old(manifest, daemons, surge)
            else:
                unavailable = scaled_value_rounded_up(strategy["rollingUpdate"]["maxUnavailable"], nodes)
                self._delete_old(manifest, daemons, max(1, unavailable))

    def _create_beside_old(self, manifest: Manifest, daemons: DaemonPods, surge: int) -> None:
        """Create new pods on nodes with an old one: on all where the old one is not available, and on so many
        others that ``surge`` nodes have two pods. :meth:`_surplus_on_node` deletes the old ones later."""
        unavailable: list[str] = []
        available: list[str] = []
        for name in daemons.should_run:
            alive = [pod for pod in daemons.by_node.get(name, ()) if not pod.state.terminating]
            new = [pod for pod in alive if daemons.is_updated(pod)]
            if new and len(alive) > len(new):
                surge -= 1
            elif alive and not new:
                (available if self._is_available(manifest, alive[0]) else unavailable).append(name)
        chosen = unavailable + available[: max(0, surge)]
        if chosen:
            part = chosen[:BURST_REPLICAS]
            self.create(manifest, (self._new_pod(manifest, daemons.digest, name) for name in part))

    def _delete_old(self, manifest: Manifest, daemons: DaemonPods, max_unavailable: int) -> None:
        """Delete old pods: all that are not available, and so many others that no more than
        ``max_unavailable`` nodes are without an available pod."""
        unavailable: list[PodFacts] = []
        available: list[PodFacts] = []
        budget = max_unavailable
        for name in daemons.should_run:
            alive = [pod for pod in daemons.by_node.get(name, ()) if not pod.state.terminating]
            usable = [pod for pod in alive if self._is_available(manifest, pod)]
            budget -= not usable
            for pod in alive:
                if not daemons.is_updated(pod):
                    (available if pod in usable else unavailable).append(pod)
        replaced = unavailable + available[: max(0, budget)]
        if replaced:
            part = [pod.manifest for pod in replaced[:BURST_REPLICAS]]
            self.delete(manifest, part, "of an older template")

    def _is_available(self, manifest: Manifest, pod: PodFacts) -> bool:
        return pod.is_available(manifest["spec"].get("minReadySeconds", 0), self._world.now)

    def _new_pod(self, manifest: Manifest, digest: str, node: str) -> Manifest:
        pod = pod_from_template(manifest["spec"]["template"])
        pod["metadata"]["generateName"] = name_of(manifest) + "-"
        labels = pod["metadata"].setdefault("labels", {})
        number = annotations_of(manifest).get(TEMPLATE_GENERATION)
        if number:
            labels[TEMPLATE_LABEL] = number
        labels[REVISION_LABEL] = digest
        add_daemon_tolerations(pod["spec"])
        if node:
            pod["spec"]["affinity"] = with_target_node(pod["spec"].get("affinity") or {}, node)
        return pod

    def _sync_status(self, key: str, manifest: Manifest, daemons: DaemonPods) -> None:
        first_on_node = {name: pods[0] for name, pods in daemons.by_node.items()}
        scheduled = [pod for name, pod in first_on_node.items() if name in daemons.should_run]
        min_ready = manifest["spec"].get("minReadySeconds", 0)
        available, next_available = count_available(scheduled, min_ready, self._world.now)
        self.set_status(
            manifest,
            DaemonSetStatus(
                desired_number_scheduled=len(daemons.should_run),
                current_number_scheduled=len(scheduled),
                number_misscheduled=len(first_on_node) - len(scheduled),
                number_ready=sum(pod.state.ready for pod in scheduled),
                updated_number_scheduled=sum(daemons.is_updated(pod) for pod in scheduled),
                number_available=available,
                number_unavailable=len(daemons.should_run) - available,
            ),
        )
        if next_available is not None:
            self.enqueue(key, next_available)


def _max_surge(manifest: Manifest, nodes: int) -> int:
    """Return the number of nodes that may have two pods during an update (SurgeCount)."""
    strategy = manifest["spec"]["updateStrategy"]
    if strategy["type"] != "RollingUpdate":
        return 0
    return scaled_value_rounded_up(strategy["rollingUpdate"]["maxSurge"], nodes)


def _finished_at(pod: Manifest) -> Micros:
    ready = condition(pod, "Ready") or {}
    return holds_since(ready, pod)
