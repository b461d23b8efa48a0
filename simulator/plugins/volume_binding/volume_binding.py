"""pkg/scheduler/framework/plugins/volumebinding/volume_binding.go, v1.34."""

from typing import NamedTuple

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints
from simulator.framework.interface import (
    SKIP,
    CycleState,
    FilterPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
    Status,
    Verdicts,
    error,
    unresolvable,
)
from simulator.framework.node_batch import NodeBatch
from simulator.objects.pod import Pod
from simulator.objects.volumes import (
    BOUND_BY_CONTROLLER,
    PVCS,
    PVS,
    SELECTED_NODE,
    claim_reference_to,
    claim_references,
    disowned,
    find_claim,
    not_found,
    reserved_for,
    with_annotations,
)
from simulator.plugins.volume_binding.binder import find_pod_volumes
from simulator.plugins.volume_binding.claims import PodVolumeClaims, pod_volume_claims

STATE = "VolumeBinding"
RESERVED = "ReserveVolumeBinding"

REASONS = (
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) did not have enough free storage",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
)
"""By bit of ``PodVolumes.conflicts``, the lowest first."""
CONFLICTS = tuple(
    unresolvable(*(reason for bit, reason in enumerate(REASONS) if conflicts >> bit & 1))
    for conflicts in range(1, 1 << len(REASONS))
)
"""The status of each sum of conflicts, that of 1 first."""
UNBOUND_IMMEDIATE = unresolvable("pod has unbound immediate PersistentVolumeClaims")


class Assumed(NamedTuple):
    """A volume or a claim as it is, and as PreBind will write it. The same twice: there is nothing to
    write."""

    resource: str
    key: str
    before: Manifest
    after: Manifest


class PodVolumes(NamedTuple):
    """What a pod's claims come to on the node that was chosen."""

    bindings: tuple[tuple[Manifest, Assumed], ...]
    """Claims, and the volumes to bind them to."""
    provisions: tuple[Assumed, ...]
    """Claims for which volumes are to be made."""

    @property
    def assumed(self) -> tuple[Assumed, ...]:
        """In the order in which they are written."""
        return (*(volume for _, volume in self.bindings), *self.provisions)


class VolumeBinding(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
    """A node will do if it reaches the volumes of bound claims, and if volumes can be found there, or made,
    for claims that wait for their first consumer."""

    name = "VolumeBinding"
    counts_only = True

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        if not any(True for _ in claim_references(pod)):
            state.write(STATE, PodVolumeClaims((), (), unbound_immediate=False))
            return SKIP
        reason = unusable_claim(state.cluster, pod)
        if reason is not None:
            return unresolvable(reason)
        claims = pod_volume_claims(state.cluster, pod)
        if claims.unbound_immediate:
            return UNBOUND_IMMEDIATE
        state.write(STATE, claims)
        return None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        found = find_pod_volumes(nodes, state.read(STATE))
        if not found.faults:
            return Verdicts(found.conflicts, CONFLICTS)
        statuses = list(CONFLICTS)
        codes = found.conflicts.astype(np.int64)
        for where, fault in found.faults:
            statuses.append(error(fault))
            codes[where] = len(statuses)
        return Verdicts(codes, statuses)

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        """Volumes are scored only behind the feature gate StorageCapacityScoring, which is off."""
        return SKIP

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        return np.zeros(len(nodes), dtype=np.int64)

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """AssumePodVolumes in binder.go: the next cycles see the volumes taken and the claims placed, until
        the API server's word of it comes. Notes the PodVolumes under RESERVED."""
        cluster = state.cluster
        nodes = NodeBatch(cluster, np.array([cluster.rows[node_name]]))
        found = find_pod_volumes(nodes, state.read(STATE))
        picks = [(delayed, int(picks[0])) for delayed, picks in found.bindings]
        bindings = tuple(
            (d.claim, _bound_to(cluster.objects(PVS)[d.candidates[pick].name], d.claim))
            for d, pick in picks
            if pick >= 0
        )
        volumes = PodVolumes(bindings, tuple(_placed(claim, node_name) for claim, _ in found.provisions))
        for assumed in volumes.assumed:
            if assumed.after is not assumed.before:
                cluster.set_object(assumed.resource, assumed.key, assumed.after)
        state.write(RESERVED, volumes)
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """RevertAssumedPodVolumes: what the watch has shown since then stands."""
        volumes: PodVolumes | None = state.find(RESERVED)
        for assumed in volumes.assumed if volumes is not None else ():
            if state.cluster.objects(assumed.resource).get(assumed.key) is assumed.after:
                state.cluster.set_object(assumed.resource, assumed.key, assumed.before)

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """What there is to write and to wait for is the binding cycle's to do
        (:mod:`simulator.scheduler.bind_volumes`), as plugins here write nothing."""
        return None


def _bound_to(volume: Manifest, claim: Manifest) -> Assumed:
    """GetBindVolumeToClaim in component-helpers/storage/volume/pv_helpers.go: a volume that somebody bound
    to the claim beforehand is not said to be bound by a controller."""
    after, reference = volume, claim_reference_to(claim)
    if not reserved_for(volume, claim):
        after = with_annotations(after, {BOUND_BY_CONTROLLER: "yes"})
    if volume["spec"].get("claimRef") != reference:
        after = {**after, "spec": {**volume["spec"], "claimRef": reference}}
    return Assumed(PVS, volume["metadata"]["name"], volume, after)


def _placed(claim: Manifest, node: str) -> Assumed:
    metadata = claim["metadata"]
    key = f"{metadata.get('namespace') or 'default'}/{metadata['name']}"
    return Assumed(PVCS, key, claim, with_annotations(claim, {SELECTED_NODE: node}))


def unusable_claim(cluster: Cluster, pod: Pod) -> str | None:
    """What is wrong with the first claim that cannot be used (podHasPVCs)."""
    for reference in claim_references(pod):
        name = reference.name
        claim = find_claim(cluster, pod, name)
        if claim is None:
            if reference.ephemeral:
                return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
            return not_found("persistentvolumeclaim", name)
        if (claim.get("status") or {}).get("phase") == "Lost":
            volume = claim["spec"].get("volumeName") or ""
            return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"'
        if claim["metadata"].get("deletionTimestamp"):
            return f'persistentvolumeclaim "{name}" is being deleted'
        if reference.ephemeral:
            reason = disowned(pod, claim)
            if reason is not None:
                return reason
    return None
