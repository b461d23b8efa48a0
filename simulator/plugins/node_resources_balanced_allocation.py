"""pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go, v1.34."""

from simulator.cluster.columns import Ints, Rows
from simulator.config.args import NodeResourcesBalancedAllocationArgs
from simulator.framework.interface import SKIP, CycleState, Explained, PreScorePlugin, ScorePlugin, Status
from simulator.framework.node_batch import NodeBatch, batch_of
from simulator.objects.pod import Pod
from simulator.plugins.resource_allocation import allocations, balanced, inputs


class NodeResourcesBalancedAllocation(PreScorePlugin, ScorePlugin):
    """Prefers nodes whose resources would be used evenly. Works on true requests, without defaults."""

    name = "NodeResourcesBalancedAllocation"
    args: NodeResourcesBalancedAllocationArgs

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        return None if any(self._requests(pod)) else SKIP

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        cluster, requests = nodes.cluster, self._requests(pod)

        def score(rows: Rows | slice) -> Ints:
            batch = batch_of(cluster, rows)
            return balanced(allocations(batch, self.args.resources, requests, non_zero=False), len(batch))

        return nodes.take(cluster.row_column((self, requests), score))

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Explained:
        return Explained(inputs(nodes, self.args.resources, self._requests(pod), non_zero=False))

    def _requests(self, pod: Pod) -> tuple[int, ...]:
        return tuple(pod.requests.get(spec.name, 0) for spec in self.args.resources)
