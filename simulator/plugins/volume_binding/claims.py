"""A pod's claims by what is still to be done for them: GetPodVolumeClaims in volumebinding/binder.go, and
FindMatchingVolume in staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go, v1.34.

All that does not depend on a node is settled here, once per attempt.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.framework.interface import PluginError
from simulator.objects.labels import label_selector
from simulator.objects.node_selector import NodeSelector
from simulator.objects.pod import Pod
from simulator.objects.volumes import (
    PVS,
    SELECTED_NODE,
    STORAGE_CLASSES,
    WAIT_FOR_FIRST_CONSUMER,
    annotations,
    capacity,
    claim_references,
    class_name,
    find_claim,
    fully_bound,
    requested_storage,
    reserved_for,
    volume_node_affinity,
)


class Candidate(NamedTuple):
    """A volume that would do for a claim, on the nodes of ``affinity`` (None = on all)."""

    name: str
    affinity: NodeSelector | None
    reserved: bool
    """Bound to this very claim beforehand: then it is this volume or none."""


class DelayedClaim(NamedTuple):
    """A claim that waits for its first consumer."""

    claim: Manifest
    selected_node: str | None
    """The only node that will do, chosen in an earlier attempt; provisioning has begun there."""
    candidates: Sequence[Candidate]
    """In the order in which they are taken: reserved ones, then the smallest first. Of volumes of one size
    upstream takes any; here it is the first by name."""


class PodVolumeClaims(NamedTuple):
    bound: Sequence[Manifest]
    delayed: Sequence[DelayedClaim]
    unbound_immediate: bool
    """Some claim waits for the volume controller, which does not wait for the scheduler."""


def pod_volume_claims(cluster: Cluster, pod: Pod) -> PodVolumeClaims:
    """All claims must exist. Raises PluginError for a storage class without binding mode."""
    bound, delayed, immediate = [], [], False
    for reference in claim_references(pod):
        claim = find_claim(cluster, pod, reference.name)
        assert claim is not None, "checked before"
        if fully_bound(claim):
            bound.append(claim)
        elif waits_for_first_consumer(cluster, claim) and not claim["spec"].get("volumeName"):
            delayed.append(claim)
        else:
            immediate = True
    return PodVolumeClaims(bound, [_delayed(cluster, claim) for claim in delayed], immediate)


def waits_for_first_consumer(cluster: Cluster, claim: Manifest) -> bool:
    """IsDelayBindingMode. Raises PluginError for a storage class without binding mode."""
    name = class_name(claim)
    storage_class = cluster.objects(STORAGE_CLASSES).get(name)
    if storage_class is None:
        return False
    mode = storage_class.get("volumeBindingMode")
    if mode is None:
        raise PluginError(f'VolumeBindingMode not set for StorageClass "{name}"')
    return bool(mode == WAIT_FOR_FIRST_CONSUMER)


def _delayed(cluster: Cluster, claim: Manifest) -> DelayedClaim:
    selected = annotations(claim).get(SELECTED_NODE)
    if selected is not None:
        return DelayedClaim(claim, selected, ())
    found = sorted(
        matching_volumes(cluster.objects(PVS).values(), claim),
        key=lambda v: (not reserved_for(v, claim), capacity(v), _name(v)),
    )
    return DelayedClaim(
        claim,
        None,
        [Candidate(_name(v), volume_node_affinity(v), reserved_for(v, claim)) for v in found],
    )


def _name(volume: Manifest) -> str:
    name: str = volume["metadata"]["name"]
    return name


def matching_volumes(volumes: Iterable[Manifest], claim: Manifest) -> Iterator[Manifest]:
    """Those of the volumes that would do for a claim, leaving nodes aside."""
    spec = claim["spec"]
    name = class_name(claim)
    size = requested_storage(claim) or 0
    mode = spec.get("volumeMode") or "Filesystem"
    attributes = spec.get("volumeAttributesClassName") or ""
    selector = label_selector(spec.get("selector"))
    access = set(spec.get("accessModes") or ())
    for volume in volumes:
        own = volume["spec"]
        if class_name(volume) != name:
            continue
        reserved = reserved_for(volume, claim)
        if own.get("claimRef") is not None and not reserved:
            continue
        if (
            capacity(volume) < size
            or (own.get("volumeMode") or "Filesystem") != mode
            or (own.get("volumeAttributesClassName") or "") != attributes
            or volume["metadata"].get("deletionTimestamp")
        ):
            continue
        if reserved or (
            (volume.get("status") or {}).get("phase") == "Available"
            and (selector is None or selector.matches(volume["metadata"].get("labels") or {}))
            and access.issubset(own.get("accessModes") or ())
        ):
            yield volume
