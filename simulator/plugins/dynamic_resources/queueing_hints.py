"""The queueing hints of DynamicResources (dynamicresources.go)."""

from functools import partial

from simulator.api import Manifest
from simulator.framework.cluster_event import (
    DEVICE_CLASS,
    NODE,
    POD,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    ActionType,
)
from simulator.framework.handle import Handle
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.objects.pod import Pod
from simulator.plugins.dynamic_resources.device_selectors import ClaimError
from simulator.plugins.dynamic_resources.pod_claims import claims_of_pod


def events_to_register(handle: Handle) -> list[ClusterEventWithHint]:
    add_or_update = ActionType.ADD | ActionType.UPDATE
    nodes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
    generated = ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM
    return [
        register(NODE, nodes),
        register(RESOURCE_CLAIM, add_or_update, partial(claim_changed, handle)),
        register(POD, generated, partial(claims_generated, handle)),
        register(DEVICE_CLASS, add_or_update),
        register(RESOURCE_SLICE, add_or_update),
    ]


def claims_generated(handle: Handle, pod: Pod, old: Pod, new: Pod) -> bool:
    """Queue if the updated pod is the rejected pod, and all its claims are there
    (isSchedulableAfterPodChange)."""
    return new.uid == pod.uid and claim_uids(handle, new) is not None


def claim_changed(handle: Handle, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue if all claims of the pod are there, and one of them was added or its status changed, or any claim
    was deallocated (isSchedulableAfterClaimChange)."""
    uids = claim_uids(handle, pod)
    if uids is None:
        return False
    before, after = (old or {}).get("status") or {}, new.get("status") or {}
    if before.get("allocation") is not None and after.get("allocation") is None:
        return True
    if new["metadata"].get("uid", "") not in uids:
        return False
    return old is None or before != after


def claim_uids(handle: Handle, pod: Pod) -> set[str] | None:
    """Return the uids of the pod's claims; None if one of them cannot be used."""
    claims = claims_of_pod(handle.cluster, pod, handle.features.version)
    try:
        return {claim["metadata"].get("uid", "") for claim in claims}
    except ClaimError:
        return None
