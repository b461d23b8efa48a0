"""StatefulSets: pods with a number, a name and volumes of their own, one after the other
(pkg/controller/statefulset/stateful_set_control.go, v1.34)."""

from collections.abc import Sequence
from functools import partial

from simulator.api import Manifest
from simulator.controllers.controller import Controller, is_finished
from simulator.controllers.ownership import owners, uid
from simulator.controllers.pods import available_at, from_template, is_active, is_ready
from simulator.controllers.revisions import (
    HASH_LABEL,
    REVISIONS,
    clean_up,
    revision_hash,
    template_of,
    update_revision,
)
from simulator.controllers.stateful_claims import claim_name, new_claim, with_owner
from simulator.objects.volumes import PVCS

POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"


class StatefulSetController(Controller):
    resource = "statefulsets.apps"
    kind = "StatefulSet"
    dependents = ("pods", REVISIONS)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource == PVCS and new is None:
            # A pod may wait for its number's old claim to be gone.
            namespace = key.partition("/")[0]
            for stateful_set in self._world.informer.of(self.resource):
                if stateful_set.startswith(f"{namespace}/"):
                    self.enqueue(stateful_set)

    def may_own(self, owner: Manifest, manifest: Manifest) -> bool:
        """By name and number (isMemberOf); revisions by their labels alone."""
        if manifest["kind"] != "Pod":
            return True
        parent, _, _ = manifest["metadata"]["name"].rpartition("-")
        return bool(parent == owner["metadata"]["name"] and ordinal_of(manifest) >= 0)

    def sync(self, key: str, manifest: Manifest) -> None:
        if "deletionTimestamp" in manifest["metadata"]:
            return
        claimed = self.claim(manifest)
        update = update_revision(self, manifest)
        if claimed is None or update is None:
            return
        current = self._current_revision(manifest, update)
        pods = {ordinal_of(pod): pod for pod in claimed}
        self._settle_claims(manifest, pods)
        if self._grow(manifest, pods, current, update) and self._shrink(manifest, pods):
            self._roll(manifest, pods, update)
        self._report(key, manifest, pods, current, update)
        clean_up(self, manifest, {*map(revision_hash, [current, update, *pods.values()])})

    def _current_revision(self, manifest: Manifest, update: Manifest) -> Manifest:
        """What all pods were made of before the update that is under way."""
        name = (manifest.get("status") or {}).get("currentRevision")
        known = self.owned(manifest, REVISIONS)
        return next((revision for revision in known if revision["metadata"]["name"] == name), update)

    # Each returns whether the next one may go on

    def _grow(
        self, manifest: Manifest, pods: dict[int, Manifest], current: Manifest, update: Manifest
    ) -> bool:
        """Every ordinal has its pod; with OrderedReady, one only after those before it are available."""
        ordered = manifest["spec"]["podManagementPolicy"] == "OrderedReady"
        partition = _partition(manifest)
        settled = True
        for ordinal in _ordinals(manifest):
            pod = pods.get(ordinal)
            if pod is None:
                revision = current if ordinal < _start(manifest) + partition else update
                self._create(manifest, ordinal, revision)
                settled = False
            elif is_finished(pod) and "deletionTimestamp" not in pod["metadata"]:
                self.delete(manifest, [pod], "over, and to be made anew")
                settled = False
            elif "deletionTimestamp" in pod["metadata"] or not self._is_available(manifest, pod):
                if not ordered:
                    continue
                settled = False
            if not settled and ordered:
                return False
        return settled

    def _shrink(self, manifest: Manifest, pods: dict[int, Manifest]) -> bool:
        """Pods beyond the last ordinal go, the highest first, one at a time where order matters."""
        beyond = sorted(pods.keys() - set(_ordinals(manifest)), reverse=True)
        for ordinal in beyond:
            pod = pods[ordinal]
            if "deletionTimestamp" not in pod["metadata"]:
                self.delete(manifest, [pod], "more than the replicas asked for")
            if manifest["spec"]["podManagementPolicy"] == "OrderedReady":
                return False
        return not beyond

    def _roll(self, manifest: Manifest, pods: dict[int, Manifest], update: Manifest) -> bool:
        """From the highest ordinal down to the partition, one at a time."""
        if manifest["spec"]["updateStrategy"]["type"] != "RollingUpdate":
            return True
        for ordinal in reversed(_ordinals(manifest)[_partition(manifest) :]):
            pod = pods[ordinal]
            leaving = "deletionTimestamp" in pod["metadata"]
            if revision_hash(pod) != revision_hash(update) and not leaving:
                self.delete(manifest, [pod], "of an older template")
                return False
            if leaving or not self._is_available(manifest, pod):
                return False
        return True

    # Pods and their claims

    def _create(self, manifest: Manifest, ordinal: int, revision: Manifest) -> None:
        name = f"{manifest['metadata']['name']}-{ordinal}"
        pod = from_template(template_of(revision))
        metadata, spec = pod["metadata"], pod["spec"]
        metadata["name"] = name
        labels = {POD_NAME_LABEL: name, POD_INDEX_LABEL: str(ordinal), HASH_LABEL: revision_hash(revision)}
        metadata.setdefault("labels", {}).update(labels)
        spec["hostname"] = name
        if manifest["spec"].get("serviceName"):
            spec["subdomain"] = manifest["spec"]["serviceName"]
        templates = manifest["spec"].get("volumeClaimTemplates", ())
        own = {template["metadata"]["name"] for template in templates}
        volumes = [volume for volume in spec.get("volumes", ()) if volume["name"] not in own]
        for template in templates:
            source = {"claimName": claim_name(template, name)}
            volumes.append({"name": template["metadata"]["name"], "persistentVolumeClaim": source})
        if volumes:
            spec["volumes"] = volumes
        if self._claim(manifest, templates, name):
            self.create(manifest, [pod])

    def _claim(self, manifest: Manifest, templates: Sequence[Manifest], pod: str) -> bool:
        """Make the claims that the pod has not got; whether it may come. Not while one is about to go with
        the pod that had the number before."""
        namespace = manifest["metadata"]["namespace"]
        for template in templates:
            name = claim_name(template, pod)
            known = self._world.informer.get(PVCS, f"{namespace}/{name}")
            if known is None:
                self.create(manifest, [new_claim(manifest, template, name)])
            elif any(self._ownership.find(owner) is None for owner in owners(known)):
                return False
        return True

    def _settle_claims(self, manifest: Manifest, pods: dict[int, Manifest]) -> None:
        """Say to whom the claims belong, before anybody is deleted. What was said of a pod that is on its way
        out stands, even if its number is asked for again."""
        for ordinal, pod in pods.items():
            scaled_away = ordinal not in _ordinals(manifest)
            if not scaled_away and "deletionTimestamp" in pod["metadata"]:
                continue
            for template in manifest["spec"].get("volumeClaimTemplates", ()):
                name = claim_name(template, pod["metadata"]["name"])
                key = f"{manifest['metadata']['namespace']}/{name}"
                claim = self._world.informer.get(PVCS, key)
                if claim is not None:
                    owned = partial(with_owner, manifest=manifest, pod=pod, scaled_away=scaled_away)
                    self._world.update(PVCS, key, uid(claim), owned)

    # Its status

    def _is_available(self, manifest: Manifest, pod: Manifest) -> bool:
        time = available_at(pod, manifest["spec"].get("minReadySeconds", 0))
        return time is not None and time <= self._world.now

    def _report(
        self,
        key: str,
        manifest: Manifest,
        pods: dict[int, Manifest],
        current: Manifest,
        update: Manifest,
    ) -> None:
        alive = [pod for pod in pods.values() if is_active(pod)]
        updated = _made_of(update, alive)
        ready = sum(map(is_ready, alive))
        replicas = manifest["spec"]["replicas"]
        done = updated == replicas == ready and not _partition(manifest)
        now = update if done else current
        self.set_status(
            manifest,
            replicas=len(pods),
            readyReplicas=ready,
            availableReplicas=sum(self._is_available(manifest, pod) for pod in alive),
            currentReplicas=_made_of(now, alive),
            updatedReplicas=updated,
            currentRevision=now["metadata"]["name"],
            updateRevision=update["metadata"]["name"],
            collisionCount=0,
        )
        seconds = manifest["spec"].get("minReadySeconds", 0)
        times = [available_at(pod, seconds) for pod in alive]
        due = min((time for time in times if time is not None and time > self._world.now), default=None)
        if due is not None:
            self.enqueue(key, due)


def ordinal_of(pod: Manifest) -> int:
    """-1 for a pod without a number."""
    _, _, text = pod["metadata"]["name"].rpartition("-")
    return int(text) if text.isascii() and text.isdigit() else -1


def _start(manifest: Manifest) -> int:
    start: int = (manifest["spec"].get("ordinals") or {}).get("start", 0)
    return start


def _ordinals(manifest: Manifest) -> range:
    return range(_start(manifest), _start(manifest) + manifest["spec"]["replicas"])


def _partition(manifest: Manifest) -> int:
    rolling = manifest["spec"]["updateStrategy"].get("rollingUpdate") or {}
    partition: int = rolling.get("partition", 0)
    return partition


def _made_of(revision: Manifest, pods: Sequence[Manifest]) -> int:
    return sum(revision_hash(pod) == revision_hash(revision) for pod in pods)
