"""The plugin DynamicResources (pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go)."""

from functools import partial

import numpy as np

from simulator.api import Micros
from simulator.cluster.columns import Ints
from simulator.cluster.node_selectors import match_node_selector
from simulator.framework.cycle_state import CycleState
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
    SignPlugin,
)
from simulator.framework.node_batch import NodeBatch
from simulator.framework.queueing_hint import ClusterEventWithHint
from simulator.framework.signers import NO_FRAGMENTS, Fragments
from simulator.framework.status import (
    SKIP,
    PluginError,
    PostFilterResult,
    PreFilterResult,
    Status,
    Verdicts,
    unresolvable,
    unschedulable,
)
from simulator.kernel.requests import Steps
from simulator.kernel.work import limit_work
from simulator.objects.pod import Pod
from simulator.plugins.dynamic_resources import queueing_hints
from simulator.plugins.dynamic_resources.allocated_devices import AllocatedDevices
from simulator.plugins.dynamic_resources.allocator_rules import allocator_rules
from simulator.plugins.dynamic_resources.args import DynamicResourcesArgs
from simulator.plugins.dynamic_resources.await_devices import await_devices
from simulator.plugins.dynamic_resources.bind_claims import (
    ClaimBinding,
    bind_claims,
    delete_claim,
    without_allocation,
    without_consumer,
)
from simulator.plugins.dynamic_resources.binding_conditions import is_unavailable
from simulator.plugins.dynamic_resources.device_selectors import (
    ClaimError,
)
from simulator.plugins.dynamic_resources.extended_resources import GATE, extended_resources
from simulator.plugins.dynamic_resources.filter_search import FILTER_WORK, allocations_on, filter_codes
from simulator.plugins.dynamic_resources.node_allocatable import GATE as NODE_ALLOCATABLE
from simulator.plugins.dynamic_resources.node_allocatable import (
    NodeAllocatable,
    conflicting_claim,
    write_node_allocatable,
)
from simulator.plugins.dynamic_resources.node_devices import NodeDevices
from simulator.plugins.dynamic_resources.node_selection import NodeSelectorError, checked_node_selector
from simulator.plugins.dynamic_resources.pod_claims import (
    STATE,
    ClaimsState,
    allocate_on,
    claims_of_pod,
    missing_class,
    named_claims_of_pod,
)
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS, parse_claim

NOT_AVAILABLE = unresolvable("resourceclaim not available on the node")

LEFT_OVER = unresolvable("cannot schedule extended resource claim")


class DynamicResources(
    EnqueueExtensions,
    SignPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    ReservePlugin,
    PreBindPlugin,
):
    """A node passes if its devices can serve all claims of the pod that are not allocated yet, and if the
    claims that are allocated can be used there."""

    name = "DynamicResources"
    args_type = DynamicResourcesArgs
    args: DynamicResourcesArgs
    passing_nodes_only = True

    def sign_pod(self, pod: Pod) -> Fragments | None:
        return None if pod.spec.get("resourceClaims") else NO_FRAGMENTS

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return queueing_hints.events_to_register(self.handle)

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Keep the pod gated until all its claims are there."""
        try:
            for _ in claims_of_pod(self.handle.cluster, pod, self.handle.features.version):
                pass
        except ClaimError as reason:
            return unresolvable(str(reason))
        return None

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        found = ClaimsState()
        state.write(STATE, found)
        if self.handle.features.enabled(GATE):
            found.extended = extended_resources(state.cluster, pod)
        if not pod.spec.get("resourceClaims") and found.extended is None:
            return SKIP
        try:
            manifests = claims_of_pod(state.cluster, pod, self.handle.features.version)
            claims = [parse_claim(manifest) for manifest in manifests]
        except ClaimError as fault:
            return unresolvable(str(fault))
        if found.extended is not None:
            claims.append(found.extended.claim)
        if not claims:
            return SKIP
        rules = allocator_rules(self.handle.features)
        state.cluster.object_index(NodeDevices).use(rules)
        in_flight = state.cluster.object_index(AllocatedDevices)
        for index, claim in enumerate(claims):
            if claim.allocation is not None:
                selector = claim.allocation.get("nodeSelector")
                if selector is not None:
                    try:
                        found.selectors.append((index, checked_node_selector(selector)))
                    except NodeSelectorError as invalid:
                        raise PluginError(str(invalid)) from None
                if rules.binding_conditions and is_unavailable(
                    claim.manifest, self.args.timeout_of_binding, self._now()
                ):
                    found.failed.add(index)
                continue
            if in_flight.is_in_flight(claim.uid):
                return unresolvable(f"resource claim {claim.key} is in the process of being allocated")
            extended = found.extended is not None and claim is found.extended.claim
            reason = None if extended else missing_class(state.cluster, claim)
            if reason is not None:
                return unresolvable(reason)
        found.claims = claims
        return None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        found: ClaimsState = state.read(STATE)
        if found.extended is not None and found.extended.is_leftover:
            return Verdicts(np.ones(len(nodes), dtype=np.int64), [LEFT_OVER])
        statuses: list[Status] = []
        codes: Ints = np.zeros(len(nodes), dtype=np.int64)
        if any(claim.allocation is None for claim in found.claims):
            # A whole batch has free rows, too.
            there = np.flatnonzero(nodes.take(state.cluster.exists))
            with limit_work(FILTER_WORK) as work:
                codes[there] = filter_codes(state.cluster, found, nodes.rows[there], statuses, work)
            if self.handle.features.enabled(NODE_ALLOCATABLE):
                for index in there[codes[there] == 0].tolist():
                    status = self._check_node_allocatable(state, pod, nodes, index)
                    if status is not None:
                        statuses.append(status)
                        codes[index] = len(statuses)
        unavailable = np.zeros(len(nodes), dtype=np.bool_)
        for index, selector in found.selectors:
            here = (codes == 0) & ~nodes.take(match_node_selector(state.cluster, selector))
            if here.any():
                found.unavailable.add(index)
                unavailable |= here
        if found.failed and (codes == 0).any():
            found.unavailable |= found.failed
            unavailable = codes == 0
        if unavailable.any():
            statuses.append(NOT_AVAILABLE)
            codes[unavailable] = len(statuses)
        return Verdicts(codes, statuses)

    def _check_node_allocatable(
        self, state: CycleState, pod: Pod, nodes: NodeBatch, index: int
    ) -> Status | None:
        """Return the reason for which a node lacks what the pod requests and gets by its claims."""
        found: ClaimsState = state.read(STATE)
        conflict = conflicting_claim(nodes.pods(index), pod, [claim.name for claim in found.claims])
        if conflict is not None:
            return conflict
        return self._node_allocatable(state, pod, int(nodes.rows[index])).check(nodes, index)

    def _now(self) -> Micros | None:
        """Return the simulated time; None for an attempt that stands alone."""
        return None if self.handle.client is None else self.handle.client.clock()

    def post_filter(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis
    ) -> tuple[PostFilterResult | None, Status | None]:
        """Deallocate one of the claims that some node could not use, if no other pod uses it.

        Returns an Error if the PreFilter of an earlier plugin rejected the pod, so that this plugin's
        PreFilter did not run. Upstream does the same."""
        found: ClaimsState = state.read(STATE)
        if not found.claims:
            return None, unschedulable("no new claims to deallocate")
        candidates = found.claims_to_deallocate(pod)
        if not candidates:
            left_over = found.left_over
            if left_over is None:
                return None, unschedulable("still not schedulable")
            if self.handle.client is not None:
                delete_claim(self.handle.client, left_over)
            return None, unschedulable("deletion of ResourceClaim completed")
        claim = candidates[state.draw("claim", len(candidates))]
        if self.handle.client is not None:
            self.handle.client.update(RESOURCE_CLAIMS, claim.key, claim.uid, without_allocation)
        return None, unschedulable("deallocation of ResourceClaim completed")

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Choose the devices, and mark them as in use until the allocations are written."""
        found: ClaimsState | None = state.find(STATE)
        if found is None or not found.claims:
            return None
        cluster = state.cluster
        found.needed_on_node = int(found.needed(cluster, np.array([cluster.rows[node_name]]))[0])
        if self.handle.features.enabled(NODE_ALLOCATABLE):
            found.node_allocatable = self._node_allocatable(state, pod, cluster.rows[node_name]).statuses()
        for claim, allocation in allocations_on(cluster, found, cluster.rows[node_name]).items():
            found.allocations[claim] = allocation
            cluster.object_index(AllocatedDevices).begin(claim, allocation)
        return None

    def _node_allocatable(self, state: CycleState, pod: Pod, row: int) -> NodeAllocatable:
        """Return what the claims of the pod would give it of the resources of the node in a row."""
        found: ClaimsState = state.read(STATE)
        claims = found.claims_on(state.cluster, row)
        allocated = allocate_on(state.cluster, claims, row) if claims else None
        named = named_claims_of_pod(state.cluster, pod, self.handle.features.version)
        names = {name: claim["metadata"].get("uid", "") for name, claim in named}
        return NodeAllocatable(pod, allocated or (), names)

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        found: ClaimsState | None = state.find(STATE)
        if found is None:
            return
        for uid in found.allocations:
            state.cluster.object_index(AllocatedDevices).end(uid)
        if self.handle.client is not None:
            remove = partial(without_consumer, pod=pod)
            for claim in found.claims:
                if found.extended is None or claim is not found.extended.claim:
                    self.handle.client.update(RESOURCE_CLAIMS, claim.key, claim.uid, remove)
            if found.created is not None:
                delete_claim(self.handle.client, found.created)

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        found: ClaimsState | None = state.find(STATE)
        return SKIP if found is None or not found.claims else None

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Steps[Status | None] | None:
        found: ClaimsState | None = state.find(STATE)
        if found is None or not found.claims:
            return None
        return self._bind(state, pod, node_name, found)

    def _bind(self, state: CycleState, pod: Pod, node_name: str, found: ClaimsState) -> Steps[Status | None]:
        client = self.handle.client
        assert client is not None, "only a scheduler that binds pods runs PreBind"
        waits = allocator_rules(self.handle.features).binding_conditions
        status = yield from bind_claims(ClaimBinding(client, state.cluster, pod, found, waits))
        if status is None and found.node_allocatable:
            write_node_allocatable(client, pod, found.node_allocatable)
        if status is not None or not waits:
            return status
        timeout = self.args.timeout_of_binding
        keys = found.bound_claims()
        return (yield from await_devices(client, pod, node_name, keys, timeout=timeout, cycle=state.cycle))
