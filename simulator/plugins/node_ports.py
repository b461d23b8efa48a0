"""pkg/scheduler/framework/plugins/nodeports/node_ports.go, v1.34."""

from collections.abc import Iterable

import numpy as np

from simulator.cluster import Cluster
from simulator.columns import Bools
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
from simulator.pod import HostPort, Pod

STATE = "PreFilterNodePorts"
REASON = unschedulable("node(s) didn't have free ports for the requested pod ports")
ANY_IP = "0.0.0.0"  # noqa: S104 - the API's own word for "any address"


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
        taken = nodes.take(_taken(nodes.cluster, wanted))
        if nodes.changed:
            taken = taken.copy()
            for i in nodes.changed:
                used = {port for other in nodes.pods(i) for port in other.host_ports}
                taken[i] = any(conflicts(want, used) for want in wanted)
        return Verdicts(taken, (REASON,))


def conflicts(wanted: HostPort, used: Iterable[HostPort]) -> bool:
    """HostPortInfo.CheckConflict: the same port and protocol, at the same address or where either means
    any."""
    return any(
        port.port == wanted.port
        and port.protocol == wanted.protocol
        and (port.ip == wanted.ip or ANY_IP in (port.ip, wanted.ip))
        for port in used
    )


def _taken(cluster: Cluster, wanted: Iterable[HostPort]) -> Bools:
    taken = np.zeros(cluster.width, dtype=np.bool_)
    for want in wanted:
        for ip, users in cluster.ports.get((want.protocol, want.port), {}).items():
            if ip == want.ip or ANY_IP in (ip, want.ip):
                taken[list(users)] = True
    return taken
