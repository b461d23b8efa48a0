"""pkg/scheduler/framework/plugins/nodename/node_name.go, v1.34."""

from simulator.framework.interface import CycleState, FilterPlugin, Verdicts, unresolvable
from simulator.framework.node_batch import NodeBatch
from simulator.objects.pod import Pod

REASON = unresolvable("node(s) didn't match the requested node name")


class NodeName(FilterPlugin):
    """A pod that names a node fits on no other."""

    name = "NodeName"
    counts_only = True

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        if not pod.node_name:
            return None
        return Verdicts(nodes.rows != nodes.cluster.rows.get(pod.node_name, -1), (REASON,))
