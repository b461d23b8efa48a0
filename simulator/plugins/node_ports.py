"""pkg/scheduler/framework/plugins/nodeports/node_ports.go, v1.34."""

import numpy as np

from simulator.cluster.columns import Bools
from simulator.cluster.host_ports import conflict
from simulator.framework.interface import (
    SKIP,
    CycleState,
    FilterPlugin,
    PluginError,
    PreFilterPlugin,
    PreFilterResult,
    Status,
    Verdicts,
    unschedulable,
)
from simulator.framework.node_batch import NodeBatch
from simulator.objects.pod import HostPort, Pod

STATE = "PreFilterNodePorts"
REASON = unschedulable("node(s) didn't have free ports for the requested pod ports")


class NodePorts(PreFilterPlugin, FilterPlugin):
    """A host port is free once per node, protocol and address."""

    name = "NodePorts"

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        if not pod.host_ports:
            return SKIP
        state.write(STATE, pod.host_ports)
        return None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        wanted: tuple[HostPort, ...] | None = state.find(STATE)
        if wanted is None:
            raise PluginError(f'reading "{STATE}" from cycleState: not found')
        if len(nodes.changed) == len(nodes):
            taken: Bools = np.empty(len(nodes), dtype=np.bool_)  # all of it is worked out below
        else:
            taken = nodes.take(nodes.cluster.ports.taken(wanted, nodes.cluster.width))
        if nodes.changed:
            taken = taken.copy()
            for i in nodes.changed:
                used = {port for other in nodes.pods(i) for port in other.host_ports}
                taken[i] = any(conflict(want, port) for want in wanted for port in used)
        return Verdicts(taken, (REASON,))
