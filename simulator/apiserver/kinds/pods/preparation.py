"""What a write drops from a pod and sets in it, and what an update through each path does not change.

Upstream: PrepareForCreate, PrepareForUpdate and CheckGracefulDelete of the strategies in
pkg/registry/core/pod/strategy.go, dropDisabledFields in pkg/api/pod/util.go."""

import copy
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.field_changes import dropping
from simulator.apiserver.kinds.pods.annotations import copy_app_armor_annotations
from simulator.apiserver.kinds.pods.defaults import match_pod_ips
from simulator.apiserver.kinds.pods.parts import affinity_terms
from simulator.apiserver.served_features import enabled
from simulator.apiserver.strategy import with_field, without_field
from simulator.objects.metadata import is_terminating
from simulator.objects.pod import GRACE_SECONDS
from simulator.objects.pod_requests import qos_class
from simulator.objects.status import FINISHED_PHASES, phase_of

_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
_drop_by_gate: Final = dropping(
    ClusterTrustBundleProjection=["volumes[].projected.sources[].clusterTrustBundle"],
    ContainerRestartRules=[f"{containers}[].restartPolicyRules" for containers in _CONTAINERS],
    EnvFiles=[f"{containers}[].env[].valueFrom.fileKeyRef" for containers in _CONTAINERS],
    GenericWorkload=["workloadRef", "schedulingGroup"],
    HostnameOverride=["hostnameOverride"],
    PodCertificateRequest=["volumes[].projected.sources[].podCertificate"],
)
drop_disabled_of_status: Final = dropping(
    DRANodeAllocatableResources=["status.nodeAllocatableResourceClaimStatuses"],
    ImageVolumeWithDigest=[
        f"status.{statuses}[].volumeMounts[].volumeStatus"
        for statuses in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
    ],
    InPlacePodLevelResourcesVerticalScaling=["status.allocatedResources", "status.resources"],
)
MAX_GRACE_SECONDS: Final = (1 << 31) - 1
"""Maximum grace period, 68 years. Longer ones of pods are shortened to it, because the end of a grace period
must be a valid time in RFC 3339."""
_RESIZED: Final = ("resources", "resizePolicy")


def drop_disabled_pod_fields(spec: Manifest, old: Manifest | None = None) -> None:
    """Remove the fields from a pod's spec, in place. ``old``: the stored spec, which is updated."""
    _drop_by_gate(spec, old)
    for containers in _CONTAINERS:
        for container in spec.get(containers, ()):
            _of_container(container, may_restart=containers == "initContainers")
    if not enabled("ImageVolume"):
        _image_volumes(spec)


def drop_disabled_of_pod(pod: Manifest, old: Manifest | None = None) -> None:
    """Remove the fields from a pod, in place. ``old``: the stored pod, which is updated."""
    drop_disabled_pod_fields(pod.get("spec") or {}, (old or {}).get("spec"))
    drop_disabled_of_status(pod, old)


def _of_container(container: Manifest, *, may_restart: bool) -> None:
    is_sidecar = may_restart and container.get("restartPolicy") == "Always"
    if not (is_sidecar or enabled("ContainerRestartRules")):
        container.pop("restartPolicy", None)
    lifecycle = container.get("lifecycle") or {}
    if "stopSignal" in lifecycle and not enabled("ContainerStopSignals"):
        del lifecycle["stopSignal"]
        if not lifecycle:
            del container["lifecycle"]


def _image_volumes(spec: Manifest) -> None:
    """Remove the volumes of images and their mounts (ImageVolume)."""
    volumes = spec.get("volumes", [])
    dropped = {volume["name"] for volume in volumes if "image" in volume}
    if not dropped:
        return
    _replace(spec, "volumes", [volume for volume in volumes if "image" not in volume])
    for containers in _CONTAINERS:
        for container in spec.get(containers, ()):
            mounts = container.get("volumeMounts", [])
            _replace(container, "volumeMounts", [each for each in mounts if each["name"] not in dropped])


def _replace(holder: Manifest, field: str, items: list[Any]) -> None:
    if items:
        holder[field] = items
    else:
        holder.pop(field, None)


def prepare_pod(manifest: Manifest, now: str) -> None:
    """Set the status of a new pod, Pending with its QoS class, and what is derived from labels and
    annotations."""
    set_derived_fields(manifest)
    status = manifest["status"] = {"phase": "Pending", "qosClass": qos_class(manifest)}
    if manifest["spec"].get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
                "lastTransitionTime": now,
            }
        ]


def keep_status_of_placed(pod: Manifest, given: Manifest, _: str, __: object) -> Manifest:
    """Return a pod that comes by the page or a file; with the status that it had, if it has a node already,
    as one of a scenario or a dump of a cluster."""
    if not pod["spec"].get("nodeName"):
        return pod
    status = {**given, **pod["status"]}
    return {**pod, "status": {**status, "phase": given.get("phase", status["phase"])}}


def set_derived_fields(manifest: Manifest) -> None:
    """Set what follows from the labels and annotations of a new pod."""
    copy_app_armor_annotations(manifest)
    spec = manifest["spec"]
    labels = manifest["metadata"].get("labels", {})
    for term, _ in affinity_terms(spec, ""):
        _merge_label_keys_of_term(term, labels)
    for constraint in spec.get("topologySpreadConstraints", ()):
        _merge_label_keys_of_term(constraint, labels)


def _merge_label_keys_of_term(term: Manifest, labels: dict[str, str]) -> None:
    """Add matchLabelKeys and mismatchLabelKeys to the term's label selector (feature gates
    MatchLabelKeysInPodAffinity and MatchLabelKeysInPodTopologySpreadSelectorMerge).

    A term without a selector is not changed, because it matches no pod."""
    selector = term.get("labelSelector")
    if selector is None:
        return
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in term.get(field, ()):
            if key in labels:
                expression = {"key": key, "operator": operator, "values": [labels[key]]}
                selector.setdefault("matchExpressions", []).append(expression)


def prepare_status(prepared: Manifest, old: Manifest) -> Manifest:
    """Complete the new status in a pod; its QoS class stays."""
    status = copy.deepcopy(prepared["status"])
    match_pod_ips(status)
    known = old.get("status", {}).get("qosClass")
    return {**prepared, "status": {"qosClass": known, **status} if known else status}


def prepare_ephemeral_containers(new: Manifest, old: Manifest) -> Manifest:
    """Return the stored pod with the new ephemeral containers."""
    containers = new.get("spec", {}).get("ephemeralContainers")
    spec = {**copy.deepcopy(old["spec"]), "ephemeralContainers": containers}
    return {**old, "spec": spec if containers else without_field(spec, "ephemeralContainers")}


def prepare_resize(new: Manifest, old: Manifest) -> Manifest:
    """Return the stored pod with the new resources and resize policies of the containers. Where containers
    are added, removed, renamed or put in another order, they are as they were sent, for validation to refuse
    (dropNonResizeUpdates)."""
    lists = {
        kind: (old["spec"].get(kind, []), new["spec"].get(kind, []))
        for kind in ("containers", "initContainers")
    }
    if any(len(known) != len(given) for known, given in lists.values()):
        return new
    prepared: Manifest = copy.deepcopy(old)
    for kind, (known, given) in lists.items():
        pairs = [*zip(known, given, strict=True)]
        if any(container["name"] != wanted["name"] for container, wanted in pairs):
            prepared["spec"][kind] = given
        elif pairs:
            prepared["spec"][kind] = [_with_resources(container, wanted) for container, wanted in pairs]
    return prepared


def _with_resources(container: Manifest, wanted: Manifest) -> Manifest:
    for field in _RESIZED:
        container = with_field(container, wanted, field)
    return container


def pod_grace_seconds(pod: Manifest, asked: int | None) -> int | None:
    """Return the grace period of a deletion; None if the request changes nothing.

    It is 0 for a pod that is not bound or has finished: it has no running containers to stop. A further
    request changes a terminating pod if it asks for a shorter grace period, or if the grace period is 0, so
    that the pod waits for nothing but its finalizers."""
    if is_terminating(pod):
        before: int = pod["metadata"].get("deletionGracePeriodSeconds", 0)
        is_shortened = before == 0 or (asked is not None and asked < before)
        return (asked or 0) if is_shortened else None
    if not pod["spec"].get("nodeName") or phase_of(pod) in FINISHED_PHASES:
        return 0
    own: int = pod["spec"].get("terminationGracePeriodSeconds", GRACE_SECONDS)
    wanted = own if asked is None else asked
    return 1 if wanted < 0 else min(wanted, MAX_GRACE_SECONDS)
