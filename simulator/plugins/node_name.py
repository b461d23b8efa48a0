"""NodeName (pkg/scheduler/framework/plugins/nodename/node_name.go)."""

from simulator.framework.cluster_event import NODE, ActionType
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import EnqueueExtensions, FilterPlugin, SignPlugin
from simulator.framework.node_batch import NodeBatch
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.signers import NODE_NAME, Fragments
from simulator.framework.status import Verdicts, unresolvable
from simulator.objects.pod import Pod

REASON = unresolvable("node(s) didn't match the requested node name")


class NodeName(EnqueueExtensions, SignPlugin, FilterPlugin):
    """Rejects all nodes except the one in spec.nodeName, if the pod has it."""

    name = "NodeName"

    def sign_pod(self, pod: Pod) -> Fragments:
        return {NODE_NAME: pod.node_name}

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [register(NODE, ActionType.ADD)]

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        if not pod.node_name:
            return None
        return Verdicts(nodes.rows != nodes.cluster.rows.get(pod.node_name, -1), (REASON,))
