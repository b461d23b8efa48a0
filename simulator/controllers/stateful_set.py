"""The StatefulSet controller: pods with an ordinal, a name and claims of their own, created in order
(pkg/controller/statefulset/stateful_set_control.go)."""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Final

from simulator.api import Manifest
from simulator.client.world import CreateFailed
from simulator.controllers.controller_revisions import (
    HASH_LABEL,
    REVISIONS,
    delete_old_revisions,
    labels_of_pods,
    sync_update_revision,
    template_of,
)
from simulator.controllers.pod_tally import PodFacts, PodTally, count_available
from simulator.controllers.pods import REVISION_LABEL, pod_from_template
from simulator.controllers.stateful_claims import (
    claim_from_template,
    claim_name,
    template_name,
    with_retention_owner,
)
from simulator.controllers.status_types import StatefulSetStatus
from simulator.controllers.workload_controller import WorkloadController
from simulator.objects.metadata import (
    is_terminating,
    name_of,
    namespace_of,
    namespace_of_key,
    object_key,
)
from simulator.objects.numbers import whole_number
from simulator.objects.owner_references import owner_uids
from simulator.objects.status import status_of
from simulator.objects.volumes import PVCS

STATEFUL_SETS = "statefulsets.apps"
MAX_WRITTEN = 200
"""The most pods created or deleted by one sync, each in a commit of its own; the next sync does the rest."""
NAMES: Final = 20_000
"""The most names of pods whose parts are kept."""
POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"


class StatefulSetController(WorkloadController):
    component = "StatefulSet"
    resource = STATEFUL_SETS
    watches = ("pods", PVCS, REVISIONS, STATEFUL_SETS)
    dependents = ("pods", REVISIONS)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource == PVCS and new is None:
            # A pod may wait until the claim of an earlier pod with its ordinal is deleted.
            for stateful_set in self._world.informer.of(STATEFUL_SETS):
                if namespace_of_key(stateful_set) == namespace_of_key(key):
                    self.enqueue(stateful_set)

    def may_own(self, owner: Manifest, manifest: Manifest) -> bool:
        """Return whether the set may own the object: pods by name and ordinal (isMemberOf), revisions by
        their labels alone."""
        if manifest["kind"] != "Pod":
            return True
        parent, ordinal = parent_and_ordinal(name_of(manifest))
        return parent == name_of(owner) and ordinal >= 0

    def may_own_all(self, owner: Manifest, pods: PodTally) -> bool:
        return all(self.may_own(owner, pod.manifest) for pod in pods.facts())

    def sync(self, key: str, manifest: Manifest) -> None:
        if is_terminating(manifest):
            return
        claimed = self.claim_pods(manifest)
        update = sync_update_revision(self, manifest, HASH_LABEL)
        if claimed is None or update is None:
            return
        current = self._current_revision(manifest, update)
        pods = {parent_and_ordinal(name_of(pod.manifest))[1]: pod for pod in claimed.facts()}
        self._update_claim_owners(manifest, pods)
        try:
            if self._scale_up(manifest, pods, current, update) and self._scale_down(manifest, pods):
                self._rolling_update(manifest, pods, update)
        except CreateFailed:
            self._sync_status(key, manifest, pods, current, update)
            raise
        self._sync_status(key, manifest, pods, current, update)
        used = {pod.revision for pod in pods.values()}
        delete_old_revisions(self, manifest, [current, update], used)

    def _current_revision(self, manifest: Manifest, update: Manifest) -> Manifest:
        """Return the revision of the pods that an update did not replace yet."""
        name = status_of(manifest).get("currentRevision")
        revisions = self.owned(manifest, REVISIONS)
        return next((revision for revision in revisions if name_of(revision) == name), update)

    # The steps of a sync; the first two return whether the next one may begin.

    def _scale_up(
        self, manifest: Manifest, pods: dict[int, PodFacts], current: Manifest, update: Manifest
    ) -> bool:
        """Create the missing pods. With OrderedReady each waits until those before it are available."""
        ordered = manifest["spec"]["podManagementPolicy"] == "OrderedReady"
        done, written = True, 0
        for ordinal in _ordinals(manifest):
            pod = pods.get(ordinal)
            if pod is None:
                revision = current if ordinal < _start(manifest) + _partition(manifest) else update
                self._create_pod(manifest, ordinal, revision)
                done, written = False, written + 1
            elif pod.state.finished and not pod.state.terminating:
                self.delete(manifest, [pod.manifest], "over, and to be made anew")
                done, written = False, written + 1
            elif pod.state.terminating or not self._is_available(manifest, pod):
                if not ordered:
                    continue
                done = False
            if (not done and ordered) or written == MAX_WRITTEN:
                return False
        return done

    def _scale_down(self, manifest: Manifest, pods: dict[int, PodFacts]) -> bool:
        """Delete the pods beyond the last ordinal, the highest first; with OrderedReady one at a time."""
        ordinals = _ordinals(manifest)
        condemned = sorted((ordinal for ordinal in pods if ordinal not in ordinals), reverse=True)
        deleted = 0
        for ordinal in condemned:
            if not pods[ordinal].state.terminating:
                self.delete(manifest, [pods[ordinal].manifest], "more than the replicas asked for")
                deleted += 1
            if deleted == MAX_WRITTEN:
                return False
            if manifest["spec"]["podManagementPolicy"] == "OrderedReady":
                return False
        return not condemned

    def _rolling_update(self, manifest: Manifest, pods: dict[int, PodFacts], update: Manifest) -> None:
        """Delete the pods of other revisions from the highest ordinal down to the partition, one at a
        time."""
        if manifest["spec"]["updateStrategy"]["type"] != "RollingUpdate":
            return
        labels = labels_of_pods(update)
        for ordinal in reversed(_ordinals(manifest)[_partition(manifest) :]):
            pod = pods[ordinal]
            if pod.revision not in labels and not pod.state.terminating:
                self.delete(manifest, [pod.manifest], "of an older template")
                return
            if pod.state.terminating or not self._is_available(manifest, pod):
                return

    def _is_available(self, manifest: Manifest, pod: PodFacts) -> bool:
        return pod.is_available(manifest["spec"].get("minReadySeconds", 0), self._world.now)

    # Pods and their claims

    def _create_pod(self, manifest: Manifest, ordinal: int, revision: Manifest) -> None:
        name = f"{name_of(manifest)}-{ordinal}"
        pod = pod_from_template(template_of(revision) or manifest["spec"]["template"])
        metadata, spec = pod["metadata"], pod["spec"]
        metadata["name"] = name
        labels = {POD_NAME_LABEL: name, POD_INDEX_LABEL: str(ordinal), REVISION_LABEL: name_of(revision)}
        metadata.setdefault("labels", {}).update(labels)
        spec["hostname"] = name
        if manifest["spec"].get("serviceName"):
            spec["subdomain"] = manifest["spec"]["serviceName"]
        templates = manifest["spec"].get("volumeClaimTemplates", ())
        claimed = {template_name(template) for template in templates}
        volumes = [volume for volume in spec.get("volumes", ()) if volume["name"] not in claimed]
        for template in templates:
            source = {"claimName": claim_name(template, name)}
            volumes.append({"name": template_name(template), "persistentVolumeClaim": source})
        if volumes:
            spec["volumes"] = volumes
        if self._create_claims(manifest, templates, name):
            self.create(manifest, [pod])

    def _create_claims(self, manifest: Manifest, templates: Sequence[Manifest], pod: str) -> bool:
        """Create the pod's missing claims; whether the pod may be created. It may not while a claim is about
        to be deleted with an earlier pod of its name."""
        for template in templates:
            name = claim_name(template, pod)
            claim = self._world.informer.get(PVCS, object_key(namespace_of(manifest), name))
            if claim is None:
                self.create(manifest, [claim_from_template(manifest, template, name)])
            elif any(self._ownership.find(owner) is None for owner in owner_uids(claim)):
                return False
        return True

    def _update_claim_owners(self, manifest: Manifest, pods: dict[int, PodFacts]) -> None:
        """Set the owners of all claims before any pod is deleted. The claims of a terminating pod keep
        theirs, even if its ordinal is needed again."""
        templates = manifest["spec"].get("volumeClaimTemplates", ())
        for ordinal, facts in pods.items() if templates else ():
            pod, scaled_down = facts.manifest, ordinal not in _ordinals(manifest)
            if not scaled_down and facts.state.terminating:
                continue
            owned = partial(with_retention_owner, stateful_set=manifest, pod=pod, scaled_down=scaled_down)
            for template in templates:
                key = object_key(namespace_of(manifest), claim_name(template, name_of(pod)))
                claim = self._world.informer.get(PVCS, key)
                if claim is not None:
                    self.patch(PVCS, claim, owned)

    # Status

    def _sync_status(
        self,
        key: str,
        manifest: Manifest,
        pods: dict[int, PodFacts],
        current: Manifest,
        update: Manifest,
    ) -> None:
        active = [pod for pod in pods.values() if pod.state.active]
        updated = _count_of_revision(update, active)
        ready = sum(pod.state.ready for pod in active)
        min_ready = manifest["spec"].get("minReadySeconds", 0)
        available, next_available = count_available(active, min_ready, self._world.now)
        completed = updated == manifest["spec"]["replicas"] == ready and not _partition(manifest)
        current = update if completed else current
        status = StatefulSetStatus(
            replicas=len(pods),
            ready_replicas=ready,
            available_replicas=available,
            current_replicas=_count_of_revision(current, active),
            updated_replicas=updated,
            current_revision=name_of(current),
            update_revision=name_of(update),
        )
        self.set_status(manifest, status)
        if next_available is not None:
            self.enqueue(key, next_available)


@lru_cache(NAMES)
def parent_and_ordinal(pod: str) -> tuple[str, int]:
    """Return the parts of a pod's name; the ordinal is -1 without a number at the end
    (getParentNameAndOrdinal)."""
    parent, _, end = pod.rpartition("-")
    number = whole_number(end)
    return parent, -1 if number is None else number


def _start(manifest: Manifest) -> int:
    start: int = (manifest["spec"].get("ordinals") or {}).get("start", 0)
    return start


def _ordinals(manifest: Manifest) -> range:
    return range(_start(manifest), _start(manifest) + manifest["spec"]["replicas"])


def _partition(manifest: Manifest) -> int:
    rolling = manifest["spec"]["updateStrategy"].get("rollingUpdate") or {}
    partition: int = rolling.get("partition", 0)
    return partition


def _count_of_revision(revision: Manifest, pods: Sequence[PodFacts]) -> int:
    """Return the number of pods that were created from this revision."""
    labels = labels_of_pods(revision)
    return sum(pod.revision in labels for pod in pods)
