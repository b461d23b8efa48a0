"""The resource claim controller: creates claims from the templates that pods name, removes consumers that
have ended, and deletes or releases claims that no pod needs (pkg/controller/resourceclaim/controller.go)."""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.controllers.controller import Controller
from simulator.controllers.work_queue import ObjectKey
from simulator.objects.metadata import (
    annotations_of,
    finalizers_of,
    is_terminating,
    name_of,
    namespace_of,
    object_key,
    uid_of,
    without_finalizer,
)
from simulator.objects.owner_references import controller_of
from simulator.objects.status import FINISHED_PHASES, status_of, with_status
from simulator.plugins.dynamic_resources.bind_claims import FINALIZER
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS

TEMPLATES: Final = "resourceclaimtemplates.resource.k8s.io"
POD_CLAIM_NAME: Final = "resource.kubernetes.io/pod-claim-name"
"""The annotation of a generated claim: the name of the pod's entry in spec.resourceClaims."""
MAX_BASE: Final = 57
"""Maximum number of characters of a generated name before the hyphen and five random ones."""


class ResourceClaimController(Controller):
    """The ResourceClaim controller. Its work queue holds pods and claims."""

    component = "ResourceClaim"
    resource = RESOURCE_CLAIMS
    watches = (RESOURCE_CLAIMS, TEMPLATES, "pods")

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if resource == TEMPLATES:
            if new is not None:
                self._pods_of_template(namespace_of(new), name_of(new))
            return
        if resource == "pods":
            pod = new or old
            if pod is not None:
                if pod["spec"].get("resourceClaims"):
                    self._queue.add(ObjectKey("pods", key))
                for name in claim_names(pod):
                    self.enqueue(object_key(namespace_of(pod), name))
            return
        self.enqueue(key)
        owner = controller_of(new) if new is not None else None
        if owner is not None and owner["kind"] == "Pod":
            self._queue.add(ObjectKey("pods", object_key(namespace_of(new or {}), owner["name"])))

    def _pods_of_template(self, namespace: str, template: str) -> None:
        """Sync the pods that wait for this template."""
        for key, pod in self._pods.items():
            if pod.namespace == namespace and template in _templates(pod.manifest):
                self._queue.add(ObjectKey("pods", key))

    def sync_object(self, item: ObjectKey) -> None:
        manifest = self._get(item)
        if manifest is None:
            return
        if item.resource == "pods":
            self._sync_pod(manifest)
        else:
            self.sync(item.key, manifest)

    # Claims from templates

    def _sync_pod(self, pod: Manifest) -> None:
        """Create the claims that the pod's templates describe, and name them in its status (syncPod)."""
        if is_terminating(pod) or _is_done(pod):
            return
        names = {each["name"]: each.get("resourceClaimName") for each in _statuses(pod)}
        found = dict(names)
        for reference in pod["spec"].get("resourceClaims") or ():
            template, entry = reference.get("resourceClaimTemplateName"), reference["name"]
            if not template or entry in names:
                continue
            claim = self._generated_claim(pod, entry)
            if claim is not None:
                found[entry] = name_of(claim)
            else:
                self._create_claim(pod, entry, template)
        if found != names:
            statuses = [{"name": entry, "resourceClaimName": name} for entry, name in found.items()]
            self.patch("pods", pod, lambda newest: with_status(newest, resourceClaimStatuses=statuses))

    def _generated_claim(self, pod: Manifest, entry: str) -> Manifest | None:
        """Return the claim that was created for this entry of the pod (findPodResourceClaim)."""
        for item in self._ownership.controlled(uid_of(pod), RESOURCE_CLAIMS):
            claim = self._get(item)
            if claim is not None and annotations_of(claim).get(POD_CLAIM_NAME) == entry:
                return claim
        return None

    def _create_claim(self, pod: Manifest, entry: str, template_name: str) -> None:
        template = self._world.get(TEMPLATES, object_key(namespace_of(pod), template_name))
        if template is not None:
            self.create(pod, [claim_from_template(template, pod, entry)])

    # Consumers

    def sync(self, key: str, manifest: Manifest) -> None:
        """Remove consumers that have ended, and the allocation with the last one; release the devices of a
        claim that is to be deleted; delete the claim of a pod that has ended (syncClaim)."""
        consumers = list(status_of(manifest).get("reservedFor") or ())
        kept = [consumer for consumer in consumers if self._still_consumes(namespace_of(manifest), consumer)]
        if len(kept) < len(consumers):
            self.patch(RESOURCE_CLAIMS, manifest, self._without_ended)
        if consumers:
            return
        if is_terminating(manifest):
            self.patch(RESOURCE_CLAIMS, manifest, _released)
            return
        owner = controller_of(manifest)
        if owner is not None and owner["kind"] == "Pod":
            pod = self._world.get("pods", object_key(namespace_of(manifest), owner["name"]))
            if pod is not None and uid_of(pod) == owner["uid"] and _is_done(pod):
                self.delete(pod, [manifest], "the pod has ended")

    def _still_consumes(self, namespace: str, consumer: Manifest) -> bool:
        """Return whether the consumer still uses the claim. A consumer that is no pod is always kept."""
        if consumer.get("apiGroup") or consumer["resource"] != "pods":
            return True
        pod = self._world.get("pods", object_key(namespace, consumer["name"]))
        return pod is not None and uid_of(pod) == consumer["uid"] and not _is_done(pod)

    def _without_ended(self, claim: Manifest) -> Manifest:
        consumers = status_of(claim).get("reservedFor") or ()
        kept = [consumer for consumer in consumers if self._still_consumes(namespace_of(claim), consumer)]
        return without_consumers(claim, kept)


def claim_from_template(template: Manifest, pod: Manifest, entry: str) -> Manifest:
    """Return a new claim for an entry of the pod's ``spec.resourceClaims``."""
    described = template["spec"].get("metadata") or {}
    base = f"{name_of(pod)}-{entry}-"
    if len(base) > MAX_BASE:
        # The name of the entry is kept as long as it fits, as upstream.
        half = MAX_BASE // 2
        kept = min(len(entry), half)
        base = f"{name_of(pod)[: MAX_BASE - kept - 2]}-{entry[:kept]}-"
    metadata: Manifest = {
        "generateName": base,
        "annotations": {**(described.get("annotations") or {}), POD_CLAIM_NAME: entry},
    }
    if described.get("labels"):
        metadata["labels"] = described["labels"]
    return {
        "apiVersion": template["apiVersion"],
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": template["spec"].get("spec") or {},
    }


def without_consumers(claim: Manifest, kept: list[Manifest]) -> Manifest:
    """Return a claim that was in use, with these of its consumers. With the last consumer it loses its
    allocation, so that it can be allocated again for the next one; a claim that was not in use keeps its
    allocation. Upstream removes the finalizer in a second request."""
    left = with_status(claim, reservedFor=kept or None)
    if kept or FINALIZER not in finalizers_of(claim):
        return left
    deallocated = with_status(left, allocation=None)
    if is_terminating(claim):
        return deallocated  # _released removes the finalizer, and with it the claim
    return without_finalizer(deallocated, FINALIZER)


def _released(claim: Manifest) -> Manifest:
    """Return a claim that is being deleted: first without its allocation, then without the finalizer that
    protects it. A claim with consumers is left as it is."""
    if status_of(claim).get("reservedFor") or FINALIZER not in finalizers_of(claim):
        return claim
    if status_of(claim).get("allocation") is not None:
        return with_status(claim, allocation=None)
    return without_finalizer(claim, FINALIZER)


def _is_done(pod: Manifest) -> bool:
    """Whether the pod has ended, or was deleted before it had a node (isPodDone)."""
    if status_of(pod).get("phase") in FINISHED_PHASES:
        return True
    return is_terminating(pod) and not pod["spec"].get("nodeName")


def _statuses(pod: Manifest) -> list[Manifest]:
    return status_of(pod).get("resourceClaimStatuses") or []


def _templates(pod: Manifest) -> Iterator[str]:
    for reference in pod["spec"].get("resourceClaims") or ():
        if reference.get("resourceClaimTemplateName"):
            yield reference["resourceClaimTemplateName"]


def claim_names(pod: Manifest) -> Iterator[str]:
    """Yield the names of the pod's claims, as far as they are known."""
    for reference in pod["spec"].get("resourceClaims") or ():
        if reference.get("resourceClaimName"):
            yield reference["resourceClaimName"]
    for status in _statuses(pod):
        if status.get("resourceClaimName"):
            yield status["resourceClaimName"]
    extended = status_of(pod).get("extendedResourceClaimStatus")
    if extended:
        yield extended["resourceClaimName"]
