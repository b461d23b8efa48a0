"""NodeResourcesBalancedAllocation
(pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go)."""

from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import Final

import numpy as np
from msgspec.structs import replace

from simulator.cluster.columns import Ints
from simulator.config.args import Args, Cause
from simulator.framework.cycle_state import CycleState
from simulator.framework.handle import Handle
from simulator.framework.interface import PreScorePlugin, ScorePlugin, SignPlugin
from simulator.framework.node_batch import NodeBatch, batch_of
from simulator.framework.score_explanation import ScoreExplanation
from simulator.framework.signers import Fragments, sign_resources
from simulator.framework.status import SKIP, Status
from simulator.objects.pod import Pod
from simulator.plugins.dynamic_resources.device_totals import device_totals
from simulator.plugins.node_resources.resource_allocation import (
    PreScoreState,
    ResourceSpec,
    balanced_allocation,
    cpu_and_memory,
    list_allocations,
    score_inputs,
)

PRE_SCORE_STATE = "PreScoreNodeResourcesBalancedAllocation"
GAIN_SCORES: Final = np.array([50 + int((50 + gain) / 2) for gain in (*range(101), *range(-100, 0))])
"""The score of each gain, the balance with the pod less that without it: ``GAIN_SCORES[gain]`` (an index
below 0 counts from the end). The quotient is truncated toward 0, as Go's."""


@lru_cache(maxsize=64)
def _twice(request: int) -> Ints:
    """Return int64[2, 1], what is subtracted from requested amounts: nothing, and the pod's request."""
    return np.array([[0], [request]])


class NodeResourcesBalancedAllocationArgs(Args):
    resources: list[ResourceSpec] = []

    def validate(self) -> Iterator[Cause]:
        self.resources = self.resources or cpu_and_memory()
        seen: set[str] = set()
        for i, resource in enumerate(self.resources):
            resource.weight = resource.weight or 1
            if resource.weight != 1:
                yield f"resources[{i}].weight", f"resource weight of {resource.name} should be 1"
            if resource.name in seen:
                yield f"resources[{i}].name", "duplicate value"
            seen.add(resource.name)


class NodeResourcesBalancedAllocation(SignPlugin, PreScorePlugin, ScorePlugin):
    """Prefers nodes on which the pod makes the requested fractions of the resources more similar. Requests
    are used without defaults for containers that request nothing."""

    name = "NodeResourcesBalancedAllocation"
    args_type = NodeResourcesBalancedAllocationArgs
    args: NodeResourcesBalancedAllocationArgs

    def __init__(self, args: NodeResourcesBalancedAllocationArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._names = tuple(spec.name for spec in args.resources)

    def sign_pod(self, pod: Pod) -> Fragments | None:
        return sign_resources(pod, self.handle.features)

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        found = self._pre_score_state(state, pod)
        if not any(found.requests):
            return SKIP
        state.write(PRE_SCORE_STATE, found)
        return None

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        cluster = nodes.cluster
        requests, devices = self._pre_score_state(state, pod)
        by_gain = self.handle.features.version.balanced_allocation_by_gain

        def score(batch: NodeBatch) -> Ints:
            found = list_allocations(batch, self.args.resources, requests, non_zero=False, devices=devices)
            if not by_gain:  # until v1.35 (kubernetes#135573)
                return balanced_allocation(found, (len(batch),))
            both = [each._replace(requested=each.requested - _twice(each.request)) for each in found]
            balance, before = balanced_allocation(both, (2, len(batch)))
            scores: Ints = GAIN_SCORES[balance - before]
            return scores

        if devices is not None:  # these change without the node
            return score(nodes)
        return nodes.take(
            cluster.amounts_column((self, requests), self._names, lambda rows: score(batch_of(cluster, rows)))
        )

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> ScoreExplanation:
        requests, devices = self._pre_score_state(state, pod)
        inputs = score_inputs(nodes, self.args.resources, requests, non_zero=False, devices=devices)
        if self.handle.features.version.balanced_allocation_by_gain:
            request = {spec.name: n for spec, n in zip(self.args.resources, requests, strict=True)}
            inputs = [replace(each, request=request[each.resource]) for each in inputs]
        return ScoreExplanation(inputs)

    def explanation_key(self, state: CycleState, pod: Pod) -> Hashable | None:
        requests, devices = self._pre_score_state(state, pod)
        return requests if devices is None else None

    def _pre_score_state(self, state: CycleState, pod: Pod) -> PreScoreState:
        """Return what PreScore wrote; where it is not enabled, what it would write (getPreScoreState)."""
        found: PreScoreState | None = state.find(PRE_SCORE_STATE)
        if found is None:
            requests = tuple([pod.requests.get(name, 0) for name in self._names])
            devices = device_totals(state.cluster, self.handle.features, self._names)
            found = PreScoreState(requests, devices)
        return found
