"""ReplicaSets: so many pods of a template, no more and no fewer (pkg/controller/replicaset/replica_set.go,
v1.34)."""

from simulator.api import Manifest
from simulator.controllers.controller import Controller
from simulator.controllers.ownership import controller_of
from simulator.controllers.pods import available, from_template, is_active, is_ready, to_delete

BURST_REPLICAS = 500
"""Pods created or deleted in one go, as upstream: the next look does the rest."""


class ReplicaSetController(Controller):
    resource = "replicasets.apps"
    kind = "ReplicaSet"

    def sync(self, key: str, manifest: Manifest) -> None:
        claimed = None if "deletionTimestamp" in manifest["metadata"] else self.claim(manifest)
        if claimed is None:
            return
        pods = [pod for pod in claimed if is_active(pod)]
        self._manage(manifest, pods)
        min_ready = manifest["spec"].get("minReadySeconds", 0)
        count, due = available(pods, min_ready, self._world.now)
        labels = (manifest["spec"]["template"].get("metadata") or {}).get("labels", {}).items()
        self.set_status(
            manifest,
            replicas=len(pods),
            fullyLabeledReplicas=sum(labels <= pod["metadata"].get("labels", {}).items() for pod in pods),
            readyReplicas=sum(map(is_ready, pods)),
            availableReplicas=count,
        )
        if due is not None:
            self.enqueue(key, due)

    def _manage(self, manifest: Manifest, pods: list[Manifest]) -> None:
        missing = manifest["spec"]["replicas"] - len(pods)
        if missing > 0:
            template = manifest["spec"]["template"]
            wanted = [from_template(template) for _ in range(min(missing, BURST_REPLICAS))]
            for pod in wanted:
                pod["metadata"]["generateName"] = manifest["metadata"]["name"] + "-"
            self.create(manifest, wanted)
        elif missing < 0:
            surplus = to_delete(pods, min(-missing, BURST_REPLICAS), self._related(manifest))
            self.delete(manifest, surplus, "more than the replicas asked for")

    def _related(self, manifest: Manifest) -> list[Manifest]:
        """The active pods of all ReplicaSets of the same owner: of the whole Deployment."""
        owner = controller_of(manifest)
        if owner is None:
            return [pod for pod in self.owned(manifest) if is_active(pod)]
        siblings = [
            self._world.informer.get(place.resource, place.key)
            for place in self._ownership.controlled(owner["uid"], self.resource)
        ]
        return [pod for sibling in siblings if sibling for pod in self.owned(sibling) if is_active(pod)]
