"""The stages of the search: the kinds of changes that are tried, from the smallest to the largest."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from simulator.what_if import (
    claim_changes,
    deletions,
    device_changes,
    device_requests,
    gang_changes,
    node_changes,
    pod_changes,
    priorities,
    spread_changes,
    storage,
)
from simulator.what_if.answer import ChangeKind
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.proposal import Proposals
from simulator.what_if.situation import Situation

ProposalFinder = Callable[[Situation, Obstacles], Proposals]


class SearchStage(NamedTuple):
    """Changes of one kind, or of several of about the same cost, of which ``cheapest`` is the smallest.
    ``nominates``: a change also helps if the pod is nominated to a node by preemption."""

    name: str
    cheapest: ChangeKind
    find: ProposalFinder
    nominates: bool = False


NOT_QUEUED_STAGES: Final[Sequence[SearchStage]] = (
    SearchStage("scheduling gates", "gate", pod_changes.propose_gate_removal, nominates=True),
    SearchStage("profiles", "scheduler", pod_changes.propose_scheduler_names, nominates=True),
    SearchStage("missing claims", "claim", claim_changes.propose_missing_claims, nominates=True),
)
"""The stages for a pod that is not queued. No other change helps it."""
STAGES: Final[Sequence[SearchStage]] = (
    SearchStage("cordoned nodes", "uncordon", node_changes.propose_uncordon),
    SearchStage("tolerations", "toleration", pod_changes.propose_tolerations),
    SearchStage("labels", "label", node_changes.propose_labels),
    SearchStage("taints", "taint", node_changes.propose_taint_removals),
    SearchStage("device classes", "device-class", claim_changes.propose_missing_classes),
    SearchStage("requests", "request", pod_changes.propose_requests),
    SearchStage("numbers of devices", "claim-count", claim_changes.propose_counts),
    SearchStage("taints of devices", "device-toleration", device_requests.propose_device_tolerations),
    SearchStage("capacity of devices", "claim-capacity", device_requests.propose_less_capacity),
    SearchStage("spread constraints", "spread-policy", spread_changes.propose_spread_relaxations),
    SearchStage("smaller devices", "claim-size", device_requests.propose_smaller_devices),
    SearchStage("host ports", "host-port", pod_changes.propose_host_ports),
    SearchStage("other classes", "claim-class", device_requests.propose_other_classes),
    SearchStage("constraints", "selector", pod_changes.propose_constraint_removals),
    SearchStage("device selectors", "claim-selector", claim_changes.propose_relaxed_claims),
    SearchStage(
        "preemption policy", "preemption-policy", priorities.propose_preempting_class, nominates=True
    ),
    SearchStage("priorities", "priority", priorities.propose_priorities, nominates=True),
    SearchStage("pods in the way", "delete-pod", deletions.propose_deletions),
    SearchStage("devices in use", "delete-claim", device_changes.propose_device_releases),
    SearchStage("volumes", "drop-volume", pod_changes.propose_volume_removals),
    SearchStage("claims", "drop-claim", claim_changes.propose_claim_removals),
    SearchStage("storage", "volume", storage.propose_storage),
    SearchStage("devices", "device", device_changes.propose_devices),
    SearchStage("nodes", "node", node_changes.propose_nodes),
)
"""The stages for a queued pod, sorted by cost (:data:`simulator.what_if.proposal.COSTS`)."""
PREEMPTION_STAGES: Final[Sequence[SearchStage]] = tuple(
    stage._replace(nominates=True)
    for stage in STAGES
    if stage.find
    in (
        pod_changes.propose_tolerations,
        spread_changes.propose_spread_relaxations,
        pod_changes.propose_host_ports,
        pod_changes.propose_constraint_removals,
        pod_changes.propose_volume_removals,
    )
)
"""Stages that follow if no change lets the pod be bound: with one of these changes it may preempt."""
FIRST_STAGES: Final[Sequence[SearchStage]] = tuple(
    stage
    for stage in STAGES
    if stage.find
    not in (
        claim_changes.propose_counts,
        device_requests.propose_less_capacity,
        priorities.propose_preempting_class,
        priorities.propose_priorities,
        device_changes.propose_devices,
        node_changes.propose_nodes,
    )
)
"""The stages of the first one of two changes. A change of another stage is found as the second one."""
MIN_COUNT_STAGE: Final = SearchStage("minCount", "min-count", gang_changes.propose_min_count)
GANG_STAGES: Final[Sequence[SearchStage]] = (
    *(stage for stage in STAGES if stage.name in ("cordoned nodes", "labels", "taints")),
    MIN_COUNT_STAGE,
    SearchStage("topology keys", "topology-key", gang_changes.propose_topologies),
    SearchStage("priorities", "group-priority", gang_changes.propose_group_priorities, nominates=True),
    SearchStage("nodes", "node", gang_changes.propose_further_nodes),
)
"""The stages for a gang. A change of one of its pods alone is none: its pods have the same template."""
