"""The plugin VolumeBinding (pkg/scheduler/framework/plugins/volumebinding/volume_binding.go)."""

from collections.abc import Iterator

import numpy as np

from simulator.api import SECOND, Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints
from simulator.cluster.volume_objects import find_claim
from simulator.config.args import Args, Cause
from simulator.framework.cluster_event import (
    CSI_DRIVER,
    CSI_NODE,
    CSI_STORAGE_CAPACITY,
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    STORAGE_CLASS,
    ActionType,
)
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
    SignPlugin,
)
from simulator.framework.node_batch import NodeBatch
from simulator.framework.queueing_hint import ClusterEventWithHint, register, same_namespace
from simulator.framework.signers import Fragments, sign_volumes
from simulator.framework.status import SKIP, PreFilterResult, Status, Verdicts, error, unresolvable
from simulator.kernel.requests import Steps
from simulator.objects import quantity
from simulator.objects.csi_migration import MIGRATED_PLUGINS
from simulator.objects.metadata import annotations_of
from simulator.objects.pod import Pod
from simulator.objects.status import phase_of
from simulator.objects.volumes import (
    PVS,
    claim_references,
    ephemeral_claim_problem,
    not_found_message,
    pod_volumes,
)
from simulator.plugins.node_resources.resource_allocation import (
    MAX_CUSTOM_PRIORITY_SCORE,
    UtilizationShapePoint,
    validate_shape,
)
from simulator.plugins.volume_binding.bind_pod_volumes import PodVolumes, bind_pod_volumes, bound_to, placed
from simulator.plugins.volume_binding.binder import find_pod_volumes
from simulator.plugins.volume_binding.claims import PodVolumeClaims, pod_volume_claims
from simulator.plugins.volume_binding.scorer import score_by_capacity
from simulator.versions.features import Features


def events_to_register() -> list[ClusterEventWithHint]:
    add_or_update = ActionType.ADD | ActionType.UPDATE
    return [
        register(STORAGE_CLASS, add_or_update, class_changed),
        register(PERSISTENT_VOLUME_CLAIM, add_or_update, claim_changed),
        register(PERSISTENT_VOLUME, add_or_update),
        register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
        register(CSI_NODE, add_or_update, csi_node_changed),
        register(CSI_DRIVER, ActionType.UPDATE, csi_driver_updated),
        register(CSI_STORAGE_CAPACITY, add_or_update, capacity_changed),
    ]


def class_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue if the class was added, or its allowed topologies changed."""
    return old is None or old.get("allowedTopologies") != new.get("allowedTopologies")


def claim_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue if the pod uses the claim."""
    return same_namespace(pod, new) and any(
        reference.name == new["metadata"]["name"] for reference in claim_references(pod)
    )


def csi_node_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue if the CSINode was added, or its migrated in-tree plugins changed."""
    if old is None:
        return True
    return annotations_of(old).get(MIGRATED_PLUGINS) != annotations_of(new).get(MIGRATED_PLUGINS)


def csi_driver_updated(pod: Pod, old: Manifest, new: Manifest) -> bool:
    """Queue if the driver of one of the pod's inline volumes no longer tracks capacity."""
    if not any(v["csi"]["driver"] == new["metadata"]["name"] for v in pod_volumes(pod) if v.get("csi")):
        return False
    return bool(old["spec"].get("storageCapacity")) and not new["spec"].get("storageCapacity")


def capacity_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue if the capacity was added, or its volume limit grew."""
    if old is None:
        return True
    before, after = _volume_limit(old), _volume_limit(new)
    return after is not None and (before is None or after > before)


def _volume_limit(capacity: Manifest) -> int | None:
    """Return the size in bytes of the largest volume that can be provisioned: the maximum if there is one,
    else the whole capacity."""
    stated = capacity.get("maximumVolumeSize", capacity.get("capacity"))
    return None if stated is None else quantity.value(quantity.parse_quantity(stated))


STATE = "VolumeBinding"
RESERVED = "ReserveVolumeBinding"

REASONS = (
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) did not have enough free storage",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
)
"""The reasons by bit of ``PodVolumes.conflicts``, the lowest first."""
CONFLICTS = tuple(
    unresolvable(*(reason for bit, reason in enumerate(REASONS) if conflicts >> bit & 1))
    for conflicts in range(1, 1 << len(REASONS))
)
"""The status of each sum of conflicts, that of 1 first."""
UNBOUND_IMMEDIATE = unresolvable("pod has unbound immediate PersistentVolumeClaims")


BIND_TIMEOUT_SECONDS = 600
STORAGE_CAPACITY_SCORING = "StorageCapacityScoring"


class VolumeBindingArgs(Args):
    bind_timeout_seconds: int = BIND_TIMEOUT_SECONDS
    shape: list[UtilizationShapePoint] = []

    def validate(self) -> Iterator[Cause]:
        if self.bind_timeout_seconds < 0:
            yield "bindTimeoutSeconds", "invalid BindTimeoutSeconds, should not be a negative value"

    def validate_features(self, features: Features) -> Iterator[Cause]:
        if features.enabled(STORAGE_CAPACITY_SCORING):
            free, full = UtilizationShapePoint(0, MAX_CUSTOM_PRIORITY_SCORE), UtilizationShapePoint(100, 0)
            self.shape = self.shape or [free, full]
            yield from validate_shape("shape", self.shape, MAX_CUSTOM_PRIORITY_SCORE)
        elif self.shape:
            yield "shape", "unexpected field `shape`: the StorageCapacityScoring feature is off"


class VolumeBinding(
    EnqueueExtensions,
    SignPlugin,
    PreFilterPlugin,
    FilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    ReservePlugin,
    PreBindPlugin,
):
    """A node passes if it reaches the volumes of bound claims, and if volumes can be found or provisioned
    there for claims that wait for their first consumer."""

    name = "VolumeBinding"
    args_type = VolumeBindingArgs
    args: VolumeBindingArgs

    def sign_pod(self, pod: Pod) -> Fragments:
        return sign_volumes(pod)

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return events_to_register()

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
        """Skip, unless the gate STORAGE_CAPACITY_SCORING is on."""
        return None if self.handle.features.enabled(STORAGE_CAPACITY_SCORING) else SKIP

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        return score_by_capacity(find_pod_volumes(nodes, state.read(STATE)), self.args.shape, len(nodes))

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Assume the volumes and claims of the pod (AssumePodVolumes in binder.go): the next cycles see the
        volumes taken and the claims placed, until the watch shows them so. Writes the PodVolumes into the
        state under RESERVED."""
        cluster = state.cluster
        nodes = NodeBatch(cluster, np.array([cluster.rows[node_name]]))
        found = find_pod_volumes(nodes, state.read(STATE))
        picks = [(delayed, int(picks[0])) for delayed, picks in found.bindings]
        bindings = tuple(
            (d.claim, bound_to(cluster.objects(PVS)[d.candidates[pick].name], d.claim))
            for d, pick in picks
            if pick >= 0
        )
        volumes = PodVolumes(bindings, tuple(placed(each.claim, node_name) for each in found.provisions))
        for assumed in volumes.assumed:
            if assumed.after is not assumed.before:
                cluster.set_object(assumed.resource, assumed.key, assumed.after)
        state.write(RESERVED, volumes)
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Revert the assumed volumes and claims (RevertAssumedPodVolumes). Objects that the watch has shown
        since then are left as they are."""
        volumes: PodVolumes | None = state.find(RESERVED)
        for assumed in volumes.assumed if volumes is not None else ():
            if state.cluster.objects(assumed.resource).get(assumed.key) is assumed.after:
                state.cluster.set_object(assumed.resource, assumed.key, assumed.before)

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        volumes: PodVolumes | None = state.find(RESERVED)
        return SKIP if volumes is None or not volumes.assumed else None

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Steps[Status | None] | None:
        """Bind the pod's volumes (BindPodVolumes), unless all claims are bound."""
        volumes: PodVolumes | None = state.find(RESERVED)
        if volumes is None or not volumes.assumed:
            return None
        assert self.handle.client is not None, "only a scheduler that binds pods runs PreBind"
        timeout = self.args.bind_timeout_seconds * SECOND
        return bind_pod_volumes(
            self.handle.client, pod, node_name, volumes, timeout=timeout, cycle=state.cycle
        )


def unusable_claim(cluster: Cluster, pod: Pod) -> str | None:
    """Return the reason for which the first claim that cannot be used cannot be (podHasPVCs); None if all
    can."""
    for reference in claim_references(pod):
        name = reference.name
        claim = find_claim(cluster, pod, name)
        if claim is None:
            if reference.ephemeral:
                return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
            return not_found_message("persistentvolumeclaim", name)
        if phase_of(claim) == "Lost":
            volume = claim["spec"].get("volumeName") or ""
            return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"'
        if claim["metadata"].get("deletionTimestamp"):
            return f'persistentvolumeclaim "{name}" is being deleted'
        if reference.ephemeral:
            reason = ephemeral_claim_problem(pod, claim)
            if reason is not None:
                return reason
    return None
