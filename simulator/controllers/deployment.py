"""The Deployment controller: one ReplicaSet for each template, and the rollout from one to the next (sync.go,
rolling.go and recreate.go in pkg/controller/deployment)."""

import copy

from simulator.api import Manifest
from simulator.controllers.deployment_sizes import (
    is_scaling_event,
    proportional_sizes,
    replicas_of,
    rollout_limits,
    size_annotations,
    status_count,
    total_count,
)
from simulator.controllers.deployment_status import deployment_status
from simulator.controllers.pods import is_finished, template_hash
from simulator.controllers.replica_set import REPLICA_SETS
from simulator.controllers.workload_controller import WorkloadController
from simulator.objects.metadata import (
    annotations_of,
    is_terminating,
    key_of,
    name_of,
    namespace_of,
    object_key,
    with_annotations,
)
from simulator.objects.numbers import whole_number
from simulator.objects.owner_references import controller_of
from simulator.trace import ReplicaSetScaled

DEPLOYMENTS = "deployments.apps"
HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"


class DeploymentController(WorkloadController):
    component = "Deployment"
    resource = DEPLOYMENTS
    watches = ("pods", REPLICA_SETS, DEPLOYMENTS)
    dependents = (REPLICA_SETS,)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource == "pods" and new is None and old is not None:
            self._pod_deleted(old)

    def _pod_deleted(self, pod: Manifest) -> None:
        """Sync the Deployment of a deleted pod: the strategy Recreate waits until the last old pod is
        deleted."""
        reference = controller_of(pod)
        if reference is not None and reference["kind"] == "ReplicaSet":
            key = object_key(namespace_of(pod), reference["name"])
            replica_set = self._world.informer.get(REPLICA_SETS, key)
            if replica_set is not None:
                self.enqueue_owner(replica_set)

    def sync(self, key: str, manifest: Manifest) -> None:
        replica_sets = None if is_terminating(manifest) else self.claim(manifest, REPLICA_SETS)
        if replica_sets is None:
            return
        newest = next((rs for rs in replica_sets if _has_template_of(rs, manifest)), None)
        older = [rs for rs in replica_sets if rs is not newest]
        if newest is not None:
            self._set_revision(manifest, newest)
        if manifest["spec"].get("paused") or is_scaling_event(manifest, replica_sets):
            for replica_set, size in proportional_sizes(manifest, newest, replica_sets):
                self._scale(manifest, replica_set, size)
        elif manifest["spec"]["strategy"]["type"] == "Recreate":
            self._rollout_recreate(manifest, newest, older)
        else:
            self._rollout_rolling(manifest, newest, older)
        status, deadline = deployment_status(manifest, newest, replica_sets, self._world.now)
        if deadline is not None:
            self.enqueue(key, deadline)
        self.set_status(manifest, status)

    # The two strategies

    def _rollout_rolling(self, manifest: Manifest, newest: Manifest | None, older: list[Manifest]) -> None:
        """Scale up the newest ReplicaSet as far as maxSurge allows, else scale down the older ones as far as
        maxUnavailable allows."""
        limits = rollout_limits(manifest)
        total = sum(map(replicas_of, older)) + (replicas_of(newest) if newest else 0)
        if newest is None:
            size = max(0, min(limits.replicas, limits.max_replicas - total))
            self._create_replica_set(manifest, older, size)
            return
        if self._update_revision(newest, older):
            return
        room, size = limits.max_replicas - total, replicas_of(newest)
        if size > limits.replicas:
            self._scale(manifest, newest, limits.replicas)
        elif size < limits.replicas and room > 0:
            self._scale(manifest, newest, size + min(room, limits.replicas - size))
        elif any(map(replicas_of, older)):
            self._scale_down_older(manifest, newest, older, total)
        else:
            self._delete_old_revisions(manifest, older)

    def _scale_down_older(
        self, manifest: Manifest, newest: Manifest, older: list[Manifest], total: int
    ) -> None:
        """Scale down by the number of unavailable pods first, then by as many as may become unavailable; the
        oldest ReplicaSet first (cleanupUnhealthyReplicas, scaleDownOldReplicaSetsForRollingUpdate). ``total``
        is the sum of all ReplicaSets' sizes."""
        limits = rollout_limits(manifest)
        min_available = limits.replicas - limits.max_unavailable
        newest_unavailable = replicas_of(newest) - status_count(newest, "availableReplicas")
        budget = total - min_available - newest_unavailable
        if budget <= 0:
            return
        if any(0 < replicas_of(rs) < status_count(rs, "availableReplicas") for rs in older):
            return  # One was scaled down a moment ago, and its status is not updated yet.
        by_revision = sorted(older, key=_revision)
        sizes = {key_of(rs): replicas_of(rs) for rs in older}
        for replica_set in by_revision:
            key = key_of(replica_set)
            unavailable = max(0, sizes[key] - status_count(replica_set, "availableReplicas"))
            removed = max(0, min(unavailable, budget))
            sizes[key] -= removed
            budget -= removed
        spare = total_count([newest, *older], "availableReplicas") - min_available
        for replica_set in by_revision:
            key = key_of(replica_set)
            removed = max(0, min(sizes[key], spare))
            sizes[key] -= removed
            spare -= removed
        for replica_set in by_revision:
            self._scale(manifest, replica_set, sizes[key_of(replica_set)])

    def _rollout_recreate(self, manifest: Manifest, newest: Manifest | None, older: list[Manifest]) -> None:
        """Delete all old pods before the first new one is created."""
        if any(map(replicas_of, older)):
            for replica_set in older:
                self._scale(manifest, replica_set, 0)
        elif any(not is_finished(pod) for replica_set in older for pod in self.owned(replica_set)):
            return
        elif newest is None:
            self._create_replica_set(manifest, older, manifest["spec"]["replicas"])
        elif not self._update_revision(newest, older):
            self._scale(manifest, newest, manifest["spec"]["replicas"])
            self._delete_old_revisions(manifest, older)

    # ReplicaSets

    def _create_replica_set(self, manifest: Manifest, older: list[Manifest], size: int) -> None:
        spec = manifest["spec"]
        digest = template_hash(spec["template"], status_count(manifest, "collisionCount"))
        template = copy.deepcopy(spec["template"])
        template.setdefault("metadata", {}).setdefault("labels", {})[HASH_LABEL] = digest
        selector = copy.deepcopy(spec["selector"])
        selector.setdefault("matchLabels", {})[HASH_LABEL] = digest
        created = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": f"{name_of(manifest)}-{digest}",
                "labels": dict(template["metadata"]["labels"]),
                "annotations": {REVISION: str(_next_revision(older)), **size_annotations(manifest)},
            },
            "spec": {
                "replicas": size,
                "selector": selector,
                "template": template,
                "minReadySeconds": spec.get("minReadySeconds", 0),
            },
        }
        self.create(manifest, [created])

    def _update_revision(self, newest: Manifest, older: list[Manifest]) -> bool:
        """Give the ReplicaSet of the current template the highest revision, after a rollback; return whether
        that was needed."""
        if not older or _revision(newest) > max(map(_revision, older)):
            return False
        annotation = {REVISION: str(_next_revision(older))}
        self.patch(REPLICA_SETS, newest, lambda current: with_annotations(current, annotation))
        return True

    def _set_revision(self, manifest: Manifest, newest: Manifest) -> None:
        """Note the revision of the newest ReplicaSet at the Deployment (SetDeploymentRevision)."""
        revision = annotations_of(newest).get(REVISION)
        if revision and annotations_of(manifest).get(REVISION) != revision:
            self.patch(DEPLOYMENTS, manifest, lambda current: with_annotations(current, {REVISION: revision}))

    def _scale(self, manifest: Manifest, replica_set: Manifest, size: int) -> None:
        """Set the ReplicaSet's size and its annotations about the Deployment's size."""
        before, annotations = replicas_of(replica_set), size_annotations(manifest)

        def scaled(current: Manifest) -> Manifest:
            new = with_annotations(current, annotations)
            return new if size == before else {**new, "spec": {**new["spec"], "replicas": size}}

        if size == before:
            if before:
                self.patch(REPLICA_SETS, replica_set, scaled)
            return
        event = ReplicaSetScaled(
            t=self._world.now,
            controller=self.describe(manifest),
            replica_set=key_of(replica_set),
            before=before,
            after=size,
        )
        self.patch(REPLICA_SETS, replica_set, scaled, event)

    def _delete_old_revisions(self, manifest: Manifest, older: list[Manifest]) -> None:
        """Keep no more than revisionHistoryLimit old ReplicaSets without pods (cleanupDeployment)."""
        empty = [rs for rs in older if not replicas_of(rs) and not status_count(rs, "replicas")]
        surplus = len(empty) - manifest["spec"]["revisionHistoryLimit"]
        if surplus > 0:
            self.delete(manifest, sorted(empty, key=_revision)[:surplus], "more than the history's limit")


def _has_template_of(replica_set: Manifest, deployment: Manifest) -> bool:
    """Whether both have the same template, without the label of its hash (EqualIgnoreHash)."""
    templates = (replica_set["spec"]["template"], deployment["spec"]["template"])
    return bool(_without_hash(templates[0]) == _without_hash(templates[1]))


def _without_hash(template: Manifest) -> Manifest:
    metadata = template["metadata"]
    labels = {key: value for key, value in metadata.get("labels", {}).items() if key != HASH_LABEL}
    return {**template, "metadata": {**metadata, "labels": labels}}


def _revision(replica_set: Manifest) -> int:
    return whole_number(annotations_of(replica_set).get(REVISION, "")) or 0


def _next_revision(older: list[Manifest]) -> int:
    return max(map(_revision, older), default=0) + 1
