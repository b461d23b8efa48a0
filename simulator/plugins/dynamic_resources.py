"""DynamicResources (pkg/scheduler/framework/plugins/dynamicresources, v1.34), without the allocation of
devices."""

from collections.abc import Iterator

from simulator.api import Manifest
from simulator.config.args import Args
from simulator.framework.cluster_event import (
    DEVICE_CLASS,
    NODE,
    POD,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    ActionType,
)
from simulator.framework.cycle_state import CycleState
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.interface import (
    EnqueueExtensions,
    PostFilterPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
)
from simulator.framework.node_batch import NodeBatch
from simulator.framework.queueing_hint import ClusterEventWithHint, register, same_namespace
from simulator.framework.status import (
    SKIP,
    PostFilterResult,
    PreFilterResult,
    Status,
    unresolvable,
    unschedulable,
)
from simulator.objects.pod import Pod
from simulator.objects.volumes import not_found_message

STATE = "PreFilterDynamicResources"
RESOURCE_CLAIMS = "resourceclaims.resource.k8s.io"


class DynamicResourcesArgs(Args):
    filter_timeout: str = "10s"


class DynamicResources(EnqueueExtensions, PreEnqueuePlugin, PreFilterPlugin, PostFilterPlugin):
    """Gates a pod whose resource claims do not exist. All other pods are treated like pods without resource
    claims, because devices are not simulated."""

    name = "DynamicResources"
    args_type = DynamicResourcesArgs

    def events_to_register(self) -> list[ClusterEventWithHint]:
        add_or_update = ActionType.ADD | ActionType.UPDATE
        nodes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
        return [
            register(NODE, nodes),
            register(RESOURCE_CLAIM, add_or_update, claim_changed),
            register(POD, ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM, claim_generated),
            register(DEVICE_CLASS, add_or_update),
            register(RESOURCE_SLICE, add_or_update),
        ]

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Keep the pod gated until all its claims exist."""
        claims = self.handle.cluster.objects(RESOURCE_CLAIMS)
        for name in resource_claim_names(pod):
            if name is None:
                return unresolvable(f'pod "{pod.key}": ResourceClaim not created yet')
            if f"{pod.namespace}/{name}" not in claims:
                return unresolvable(not_found_message("resourceclaim.resource.k8s.io", name))
        return None

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        state.write(STATE, True)
        return SKIP

    def post_filter(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis
    ) -> tuple[PostFilterResult | None, Status | None]:
        """Return an Error if the PreFilter of an earlier plugin rejected the pod, so that this plugin's
        PreFilter did not run. Upstream does the same."""
        state.read(STATE)
        return None, unschedulable("no new claims to deallocate")


# Queueing hints


def claim_generated(pod: Pod, old: Pod, new: Pod) -> bool:
    """Queue if the updated pod is the rejected pod and all its claims are generated."""
    return new.uid == pod.uid and None not in resource_claim_names(new)


def claim_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue if a claim of the pod was added, or its status changed."""
    if not same_namespace(pod, new) or new["metadata"]["name"] not in set(resource_claim_names(pod)):
        return False
    return old is None or old.get("status") != new.get("status")


def resource_claim_names(pod: Pod) -> Iterator[str | None]:
    """Yield the names of the pod's claims; None for a claim that is not yet generated from its template."""
    status = pod.manifest.get("status") or {}
    statuses = status.get("resourceClaimStatuses") or ()
    generated = {s["name"]: s.get("resourceClaimName") or "" for s in statuses}
    for claim in pod.spec.get("resourceClaims") or ():
        if claim.get("resourceClaimName"):
            yield claim["resourceClaimName"]
        elif generated.get(claim["name"]) != "":  # "": no claim is needed
            yield generated.get(claim["name"])
