"""The ReplicaSet controller: keeps the number of pods of a template
(pkg/controller/replicaset/replica_set.go)."""

from collections.abc import ItemsView
from typing import NamedTuple

import msgspec

from simulator.api import Manifest, Micros
from simulator.client.world import CreateFailed
from simulator.controllers.pods import count_available, is_active, is_ready, pod_from_template, pods_to_delete
from simulator.controllers.status_types import ReplicaSetStatus
from simulator.controllers.workload_controller import WorkloadController
from simulator.objects.conditions import ReplicaSetCondition, condition, conditions_of
from simulator.objects.labels import label_selector
from simulator.objects.metadata import is_terminating, labels_of, name_of, namespace_of, uid_of
from simulator.objects.owner_references import controller_of
from simulator.objects.timestamps import timestamp

REPLICA_SETS = "replicasets.apps"
REPLICA_FAILURE = "ReplicaFailure"
"""The condition of a ReplicaSet whose pods cannot be created."""
BURST_REPLICAS = 500
"""The most pods created or deleted by one sync, as upstream; the next sync does the rest."""


class Replicas(NamedTuple):
    """The numbers of a ReplicaSet's active pods: of all, of those with all labels of the template, of those
    that are ready, and of those that are available; and when the next one becomes available."""

    active: int
    fully_labeled: int
    ready: int
    available: int
    next_available: Micros | None


class ReplicaSetController(WorkloadController):
    component = "ReplicaSet"
    resource = REPLICA_SETS
    watches = ("pods", REPLICA_SETS)

    def sync(self, key: str, manifest: Manifest) -> None:
        if is_terminating(manifest):
            return
        pods: list[Manifest] = []
        replicas = self._tallied(manifest)
        if replicas is None:
            claimed = self.claim(manifest)
            if claimed is None:
                return
            pods = [pod for pod in claimed if is_active(pod)]
            replicas = self._counted(manifest, pods)
        refusal = self._manage_replicas(manifest, replicas.active, pods)
        self.set_status(
            manifest,
            ReplicaSetStatus(
                replicas=replicas.active,
                fully_labeled_replicas=replicas.fully_labeled,
                ready_replicas=replicas.ready,
                available_replicas=replicas.available,
                conditions=self._conditions(manifest, refusal),
            ),
        )
        if replicas.next_available is not None:
            self.enqueue(key, replicas.next_available)
        if refusal is not None:
            raise refusal

    def _tallied(self, manifest: Manifest) -> Replicas | None:
        """Return the numbers of the ReplicaSet's pods without a look at each of them. None: they must be
        looked at, as some are to be adopted, released or deleted, or become available later."""
        tally = self._ownership.pods_of(uid_of(manifest))
        orphans = self._ownership.pods_without_controller(namespace_of(manifest))
        selector = label_selector(manifest["spec"].get("selector"))
        if (
            selector is None
            or not all(selector.matches(dict(facts.labels)) for facts in tally.counts)
            or any(facts.active and selector.matches(dict(facts.labels)) for facts in orphans.counts)
        ):
            return None
        active = {facts: count for facts, count in tally.counts.items() if facts.active}
        replicas = sum(active.values())
        min_ready = manifest["spec"].get("minReadySeconds", 0)
        if replicas > manifest["spec"]["replicas"] or min_ready or tally.latest_ready > self._world.now:
            return None
        labels = _template_labels(manifest)
        ready = sum(count for facts, count in active.items() if facts.ready)
        labeled = sum(count for facts, count in active.items() if labels <= dict(facts.labels).items())
        return Replicas(replicas, labeled, ready, ready, None)

    def _counted(self, manifest: Manifest, pods: list[Manifest]) -> Replicas:
        """Return the same of its active pods."""
        min_ready, labels = manifest["spec"].get("minReadySeconds", 0), _template_labels(manifest)
        labeled = sum(labels <= labels_of(pod).items() for pod in pods)
        available, next_available = count_available(pods, min_ready, self._world.now)
        return Replicas(len(pods), labeled, sum(map(is_ready, pods)), available, next_available)

    def _conditions(self, manifest: Manifest, refusal: CreateFailed | None) -> list[Manifest] | None:
        """Return the conditions with ReplicaFailure, while pods cannot be created (calculateStatus)."""
        known = condition(manifest, REPLICA_FAILURE)
        others = [each for each in conditions_of(manifest) if each is not known]
        if refusal is None:
            return others or None
        made = known or msgspec.to_builtins(
            ReplicaSetCondition(
                type=REPLICA_FAILURE,
                status="True",
                last_transition_time=timestamp(self._world.now),
                reason="FailedCreate",
                message=str(refusal),
            )
        )
        return [*others, made]

    def _manage_replicas(self, manifest: Manifest, active: int, pods: list[Manifest]) -> CreateFailed | None:
        """Create missing pods or delete surplus ones of ``pods``; what the API server answered if it refused
        one."""
        missing = manifest["spec"]["replicas"] - active
        if missing > 0:
            template = manifest["spec"]["template"]
            try:
                created = range(min(missing, BURST_REPLICAS))
                self.create(manifest, (_new_pod(name_of(manifest), template) for _ in created))
            except CreateFailed as refusal:
                return refusal
        elif missing < 0:
            surplus = pods_to_delete(pods, min(-missing, BURST_REPLICAS), self._related_pods(manifest))
            self.delete(manifest, surplus, "more than the replicas asked for")
        return None

    def _related_pods(self, manifest: Manifest) -> list[Manifest]:
        """Return the active pods of all ReplicaSets with the same controller, a Deployment
        (getIndirectlyRelatedPods)."""
        deployment = controller_of(manifest)
        if deployment is None:
            return [pod for pod in self.owned(manifest) if is_active(pod)]
        siblings = map(self._get, self._ownership.controlled(deployment["uid"], REPLICA_SETS))
        return [pod for sibling in siblings if sibling for pod in self.owned(sibling) if is_active(pod)]


def _template_labels(manifest: Manifest) -> ItemsView[str, str]:
    labels: dict[str, str] = (manifest["spec"]["template"].get("metadata") or {}).get("labels", {})
    return labels.items()


def _new_pod(name: str, template: Manifest) -> Manifest:
    pod = pod_from_template(template)
    pod["metadata"]["generateName"] = f"{name}-"
    return pod
