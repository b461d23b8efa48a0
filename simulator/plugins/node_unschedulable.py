"""pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go, v1.34."""

from simulator.framework.interface import CycleState, FilterPlugin, Verdicts, unresolvable
from simulator.framework.node_batch import NodeBatch
from simulator.objects.node import Taint
from simulator.objects.pod import Pod

REASON = unresolvable("node(s) were unschedulable")
TAINT = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


class NodeUnschedulable(FilterPlugin):
    """Cordoned nodes take only pods that tolerate the taint which says so."""

    name = "NodeUnschedulable"
    counts_only = True

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        cordoned = nodes.take(nodes.cluster.unschedulable)
        if not cordoned.any() or any(t.tolerates(*TAINT) for t in pod.tolerations):
            return None
        return Verdicts(cordoned, (REASON,))
