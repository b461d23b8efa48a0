"""The volumes and devices of pods that a question places: the claims that controllers create for a new pod,
what a node gives them, and what they leave when their pods are evicted."""

from collections.abc import Collection, Iterable
from functools import partial

from simulator.api import Manifest
from simulator.apiserver.admission_plugins.default_storage_class import default_class
from simulator.controllers.persistent_volume import (
    bound_pair,
    ephemeral_claims,
    provisioned_volume,
    smallest_volume,
)
from simulator.controllers.resource_claim import (
    TEMPLATES,
    claim_from_template,
    claim_names,
    without_consumers,
)
from simulator.framework.binding import run_reserve, run_unreserve
from simulator.framework.cycle_state import CycleState
from simulator.framework.runtime import Framework
from simulator.framework.status import Status
from simulator.objects.metadata import key_of, namespace_of, object_key, with_metadata
from simulator.objects.owner_references import controller_of, with_controller
from simulator.objects.pod import Pod
from simulator.objects.status import status_of, with_status
from simulator.objects.volumes import (
    NO_PROVISIONER,
    PVCS,
    PVS,
    STORAGE_CLASSES,
    WAIT_FOR_FIRST_CONSUMER,
    claim_references,
    storage_class_name,
)
from simulator.plugins.dynamic_resources.allocated_devices import AllocatedDevices
from simulator.plugins.dynamic_resources.bind_claims import bound_claim
from simulator.plugins.dynamic_resources.pod_claims import STATE, ClaimsState
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS
from simulator.plugins.volume_binding.bind_pod_volumes import PodVolumes
from simulator.plugins.volume_binding.volume_binding import RESERVED
from simulator.questions.journal import Journal


def create_claims(journal: Journal, pod: Pod) -> Pod:
    """Create the claims of a new pod by its templates and ephemeral volumes, and return the pod with their
    names in its status. A template that is missing is left out: the pod then waits for its claim."""
    entries = pod.spec.get("resourceClaims") or ()
    if not entries and not any(reference.ephemeral for reference in claim_references(pod)):
        return pod
    # A copy of a pod shares its manifest.
    manifest = with_metadata(pod.manifest, name=pod.name, uid=pod.uid)
    for claim in ephemeral_claims(manifest):
        _create_volume_claim(journal, manifest, claim)
    statuses = []
    templates = journal.cluster.objects(TEMPLATES)
    for each in entries:
        template = templates.get(object_key(pod.namespace, each.get("resourceClaimTemplateName") or ""))
        if template is not None:
            name = f"{pod.name}-{each['name']}"
            claim = _owned(manifest, claim_from_template(template, manifest, each["name"]), name)
            journal.set_object(RESOURCE_CLAIMS, key_of(claim), claim)
            statuses.append({"name": each["name"], "resourceClaimName": name})
    return Pod.parse(with_status(manifest, resourceClaimStatuses=statuses or None))


def _owned(pod: Manifest, claim: Manifest, name: str) -> Manifest:
    """Return a new claim as the API server stores it. Its uid is its key."""
    namespace = namespace_of(pod)
    owned = with_controller(claim, {"apiVersion": "v1", "kind": "Pod", **pod})
    return with_metadata(owned, name=name, namespace=namespace, uid=object_key(namespace, name))


def _create_volume_claim(journal: Journal, pod: Manifest, claim: Manifest) -> None:
    """Create a claim, and bind it if its class does not wait for the first consumer."""
    classes, spec = journal.cluster.objects(STORAGE_CLASSES), claim["spec"]
    if "storageClassName" not in spec and (default := default_class(classes.values())) is not None:
        claim = {**claim, "spec": {**spec, "storageClassName": default}}
    claim = with_status(_owned(pod, claim, claim["metadata"]["name"]), phase="Pending")
    journal.set_object(PVCS, key_of(claim), claim)
    storage_class = classes.get(storage_class_name(claim))
    if storage_class is None or storage_class.get("volumeBindingMode") != WAIT_FOR_FIRST_CONSUMER:
        volume = smallest_volume(journal.cluster.objects(PVS).values(), claim)
        if volume is None and storage_class and storage_class["provisioner"] != NO_PROVISIONER:
            volume = provisioned_volume(claim, storage_class, None)
        if volume is not None:
            _bind(journal, volume, claim)


def _bind(journal: Journal, volume: Manifest, claim: Manifest) -> None:
    volume, claim = bound_pair(volume, claim)
    journal.set_object(PVS, key_of(volume), volume)
    journal.set_object(PVCS, key_of(claim), claim)


def take_claims(journal: Journal, framework: Framework, state: CycleState, pod: Pod) -> Status | None:
    """Reserve the volumes and devices of an assumed pod on its node, and write what PreBind and the
    controllers would. state: that of its attempt. Returns the refusal or fault of a plugin."""
    cluster, node = journal.cluster, pod.node_name
    journal.add(partial(run_unreserve, framework, state, pod, node))
    status = run_reserve(framework, state, pod, node)
    if status is not None:
        return status
    volumes: PodVolumes | None = state.find(RESERVED)
    for assumed in volumes.provisions if volumes is not None else ():
        claim = assumed.after
        storage_class = cluster.objects(STORAGE_CLASSES)[storage_class_name(claim)]
        on = cluster.node(cluster.rows[node]).manifest
        _bind(journal, provisioned_volume(claim, storage_class, on), claim)
    devices: ClaimsState | None = state.find(STATE)
    for each in devices.claims if devices is not None else ():
        current = cluster.objects(RESOURCE_CLAIMS).get(each.key)
        # The claim for extended resources is not created: its devices stay marked as in use.
        if current is not None and devices is not None:
            allocation = devices.allocations.get(each.uid)
            journal.set_object(RESOURCE_CLAIMS, each.key, bound_claim(current, each, pod, allocation))
            cluster.object_index(AllocatedDevices).end(each.uid)
    return None


def release_claims(journal: Journal, pods: Iterable[Pod]) -> None:
    """Release the claims of pods that are evicted: those that were created for them are created anew, and
    others lose their devices with the last pod that uses them. Claims of volumes stay as they are, except
    those of ephemeral volumes."""
    evicted = [*pods]
    uids = {pod.uid for pod in evicted}
    for pod in evicted:
        for name in claim_names(pod.manifest):
            key = object_key(pod.namespace, name)
            claim = journal.cluster.objects(RESOURCE_CLAIMS).get(key)
            if claim is not None:
                journal.set_object(RESOURCE_CLAIMS, key, _released(pod, name, claim, uids))
        if any(reference.ephemeral for reference in claim_references(pod)):
            for claim in ephemeral_claims(pod.manifest):
                _create_volume_claim(journal, pod.manifest, claim)


def _released(pod: Pod, name: str, claim: Manifest, uids: Collection[str]) -> Manifest | None:
    """Return a claim as it is for the pod that follows; None = the scheduler creates one itself."""
    extended = status_of(pod.manifest).get("extendedResourceClaimStatus") or {}
    if extended.get("resourceClaimName") == name:
        return None
    owner = controller_of(claim)
    if owner is not None and owner["uid"] == pod.uid:
        return with_status(claim, allocation=None, reservedFor=None, devices=None)
    kept = [each for each in status_of(claim).get("reservedFor") or () if each.get("uid") not in uids]
    return without_consumers(claim, kept)
