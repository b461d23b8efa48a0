"""NodeResourcesBalancedAllocation
(pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go, v1.34)."""

from collections.abc import Iterator

from simulator.cluster.columns import Ints, Rows
from simulator.config.args import Args, Cause
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import PreScorePlugin, ScorePlugin
from simulator.framework.node_batch import NodeBatch, batch_of
from simulator.framework.score_explanation import ScoreExplanation
from simulator.framework.status import SKIP, Status
from simulator.objects.pod import Pod
from simulator.plugins.node_resources.resource_allocation import (
    ResourceSpec,
    balanced_allocation,
    cpu_and_memory,
    list_allocations,
    score_inputs,
)


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


class NodeResourcesBalancedAllocation(PreScorePlugin, ScorePlugin):
    """Prefers nodes on which the requested fractions of the resources are similar. Requests are used without
    defaults for containers that request nothing."""

    name = "NodeResourcesBalancedAllocation"
    args_type = NodeResourcesBalancedAllocationArgs
    args: NodeResourcesBalancedAllocationArgs

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        return None if any(self._requests(pod)) else SKIP

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        cluster, requests = nodes.cluster, self._requests(pod)

        def score(rows: Rows | slice) -> Ints:
            batch = batch_of(cluster, rows)
            return balanced_allocation(
                list_allocations(batch, self.args.resources, requests, non_zero=False), len(batch)
            )

        return nodes.take(cluster.row_column((self, requests), score))

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> ScoreExplanation:
        return ScoreExplanation(score_inputs(nodes, self.args.resources, self._requests(pod), non_zero=False))

    def _requests(self, pod: Pod) -> tuple[int, ...]:
        return tuple(pod.requests.get(spec.name, 0) for spec in self.args.resources)
