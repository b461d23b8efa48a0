"""NodeUnschedulable (pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go)."""

import numpy as np

from simulator.framework.cluster_event import NODE, POD, ActionType
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import EnqueueExtensions, FilterPlugin, SignPlugin
from simulator.framework.node_batch import NodeBatch
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.signers import Fragments, sign_tolerations
from simulator.framework.status import Verdicts, unresolvable
from simulator.objects.node import Node, Taint
from simulator.objects.pod import Pod

REASON = unresolvable("node(s) were unschedulable")
TAINT = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


class NodeUnschedulable(EnqueueExtensions, SignPlugin, FilterPlugin):
    """Rejects nodes with spec.unschedulable, unless the pod tolerates the taint
    node.kubernetes.io/unschedulable."""

    name = "NodeUnschedulable"

    def sign_pod(self, pod: Pod) -> Fragments:
        return sign_tolerations(pod)

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [
            register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT, node_changed),
            register(POD, ActionType.UPDATE_POD_TOLERATION, toleration_changed),
        ]

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        cordoned = nodes.take(nodes.cluster.unschedulable)
        if not np.count_nonzero(cordoned) or any(t.tolerates(*TAINT) for t in pod.tolerations):
            return None
        return Verdicts(cordoned, (REASON,))


# Queueing hints


def node_changed(pod: Pod, old: Node | None, new: Node) -> bool:
    """Queue if a node was added that is schedulable, or if a node became schedulable."""
    return not new.unschedulable and (old is None or old.unschedulable)


def toleration_changed(pod: Pod, old: Pod, new: Pod) -> bool:
    """Queue if the updated pod is the rejected pod and now tolerates the taint."""
    return new.uid == pod.uid and any(t.tolerates(*TAINT) for t in new.tolerations)
