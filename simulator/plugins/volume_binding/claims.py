"""A pod's claims by their state: GetPodVolumeClaims in volumebinding/binder.go, and FindMatchingVolume in
staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go.

This is the part that does not depend on a node; it is done once for each attempt.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.volume_objects import find_claim
from simulator.framework.status import PluginError
from simulator.objects import quantity
from simulator.objects.labels import label_selector
from simulator.objects.metadata import annotations_of, labels_of, name_of
from simulator.objects.node_selector import NodeSelector
from simulator.objects.pod import Pod
from simulator.objects.status import phase_of
from simulator.objects.volumes import (
    PVS,
    SELECTED_NODE,
    STORAGE_CLASSES,
    WAIT_FOR_FIRST_CONSUMER,
    claim_references,
    is_fully_bound,
    is_volume_bound_to_claim,
    requested_storage,
    storage_class_name,
    volume_capacity,
    volume_node_affinity,
)


class CandidateVolume(NamedTuple):
    """A volume that a claim can be bound to, on the nodes of ``affinity`` (None = on all)."""

    name: str
    affinity: NodeSelector | None
    reserved: bool
    """Whether a user bound it to this claim beforehand; then no other volume is taken."""
    size: int
    """Bytes."""


class DelayedClaim(NamedTuple):
    """A claim that waits for its first consumer."""

    claim: Manifest
    selected_node: str | None
    """The node that was chosen in an earlier attempt, where provisioning has begun; no other node passes."""
    candidates: Sequence[CandidateVolume]
    """The candidate volumes in the order in which they are tried: reserved ones, then the smallest first. Of
    volumes of one size upstream takes any; here it is the first by name."""


class PodVolumeClaims(NamedTuple):
    bound: Sequence[Manifest]
    delayed: Sequence[DelayedClaim]
    unbound_immediate: bool
    """Whether a claim is still to be bound by the volume controller, without the scheduler."""


def pod_volume_claims(cluster: Cluster, pod: Pod) -> PodVolumeClaims:
    """Return the claims of a pod, which must all exist. Raises PluginError for a storage class without
    binding mode."""
    bound, delayed, immediate = [], [], False
    for reference in claim_references(pod):
        claim = find_claim(cluster, pod, reference.name)
        assert claim is not None, "checked before"
        if is_fully_bound(claim):
            bound.append(claim)
        elif waits_for_first_consumer(cluster, claim) and not claim["spec"].get("volumeName"):
            delayed.append(claim)
        else:
            immediate = True
    return PodVolumeClaims(bound, [_delayed(cluster, claim) for claim in delayed], immediate)


def waits_for_first_consumer(cluster: Cluster, claim: Manifest) -> bool:
    """Return whether the class delays the binding (IsDelayBindingMode). Raises PluginError for a storage
    class without binding mode."""
    name = storage_class_name(claim)
    storage_class = cluster.objects(STORAGE_CLASSES).get(name)
    if storage_class is None:
        return False
    mode = storage_class.get("volumeBindingMode")
    if mode is None:
        raise PluginError(f'VolumeBindingMode not set for StorageClass "{name}"')
    return bool(mode == WAIT_FOR_FIRST_CONSUMER)


def _delayed(cluster: Cluster, claim: Manifest) -> DelayedClaim:
    selected = annotations_of(claim).get(SELECTED_NODE)
    if selected is not None:
        return DelayedClaim(claim, selected, ())
    found = sorted(
        matching_volumes(cluster.objects(PVS).values(), claim),
        key=lambda v: (not is_volume_bound_to_claim(v, claim), volume_capacity(v), name_of(v)),
    )
    return DelayedClaim(
        claim,
        None,
        [
            CandidateVolume(
                name_of(v),
                volume_node_affinity(v),
                is_volume_bound_to_claim(v, claim),
                quantity.value(volume_capacity(v)),
            )
            for v in found
        ],
    )


def matching_volumes(volumes: Iterable[Manifest], claim: Manifest) -> Iterator[Manifest]:
    """Yield the volumes that a claim can be bound to, on any node."""
    spec = claim["spec"]
    name = storage_class_name(claim)
    size = requested_storage(claim) or 0
    mode = spec.get("volumeMode") or "Filesystem"
    attributes = spec.get("volumeAttributesClassName") or ""
    selector = label_selector(spec.get("selector"))
    access = set(spec.get("accessModes") or ())
    for volume in volumes:
        own = volume["spec"]
        if storage_class_name(volume) != name:
            continue
        reserved = is_volume_bound_to_claim(volume, claim)
        if own.get("claimRef") is not None and not reserved:
            continue
        if (
            volume_capacity(volume) < size
            or (own.get("volumeMode") or "Filesystem") != mode
            or (own.get("volumeAttributesClassName") or "") != attributes
            or volume["metadata"].get("deletionTimestamp")
        ):
            continue
        if reserved or (
            phase_of(volume) == "Available"
            and (selector is None or selector.matches(labels_of(volume)))
            and access.issubset(own.get("accessModes") or ())
        ):
            yield volume
