"""The ReplicaSet controller: keeps the number of pods of a template
(pkg/controller/replicaset/replica_set.go)."""

from collections.abc import ItemsView

import msgspec

from simulator.api import Manifest
from simulator.client.world import CreateFailed
from simulator.controllers.pod_tally import PodTally, count_available
from simulator.controllers.pods import is_active, pod_from_template, pods_to_delete
from simulator.controllers.status_types import ReplicaSetStatus
from simulator.controllers.workload_controller import WorkloadController
from simulator.objects.conditions import ReplicaSetCondition, condition, conditions_of
from simulator.objects.metadata import is_terminating, name_of
from simulator.objects.owner_references import controller_of
from simulator.objects.timestamps import timestamp

REPLICA_SETS = "replicasets.apps"
REPLICA_FAILURE = "ReplicaFailure"
"""The condition of a ReplicaSet whose pods cannot be created."""
BURST_REPLICAS = 500
"""The most pods created or deleted by one sync, as upstream; the next sync does the rest."""


class ReplicaSetController(WorkloadController):
    component = "ReplicaSet"
    resource = REPLICA_SETS
    watches = ("pods", REPLICA_SETS)

    def sync(self, key: str, manifest: Manifest) -> None:
        if is_terminating(manifest):
            return
        pods = self.claim_pods(manifest)
        if pods is None:
            return
        labels = _template_labels(manifest)
        labeled = sum(
            count
            for (found, active), count in pods.labels.items()
            if active and labels <= dict(found).items()
        )
        available = ready = pods.count(lambda state: state.active and state.ready)
        min_ready, next_available = manifest["spec"].get("minReadySeconds", 0), None
        if min_ready or pods.latest_ready > self._world.now:
            facts = pods.facts(lambda state: state.active)
            available, next_available = count_available(facts, min_ready, self._world.now)
        refusal = self._manage_replicas(manifest, pods)
        self.set_status(
            manifest,
            ReplicaSetStatus(
                replicas=pods.count(lambda state: state.active),
                fully_labeled_replicas=labeled,
                ready_replicas=ready,
                available_replicas=available,
                conditions=self._conditions(manifest, refusal),
            ),
        )
        if next_available is not None:
            self.enqueue(key, next_available)
        if refusal is not None:
            raise refusal

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

    def _manage_replicas(self, manifest: Manifest, pods: PodTally) -> CreateFailed | None:
        """Create missing pods or delete surplus ones; what the API server answered if it refused one."""
        missing = manifest["spec"]["replicas"] - pods.count(lambda state: state.active)
        if missing > 0:
            template = manifest["spec"]["template"]
            try:
                created = range(min(missing, BURST_REPLICAS))
                self.create(manifest, (_new_pod(name_of(manifest), template) for _ in created))
            except CreateFailed as refusal:
                return refusal
        elif missing < 0:
            active = pods.pods(lambda state: state.active)
            surplus = pods_to_delete(active, min(-missing, BURST_REPLICAS), self._related_pods(manifest))
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
