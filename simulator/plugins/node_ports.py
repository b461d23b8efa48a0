"""NodePorts (pkg/scheduler/framework/plugins/nodeports/node_ports.go)."""

from collections.abc import Sequence
from copy import copy

from simulator.cluster.columns import Ints, Rows
from simulator.cluster.host_ports import ports_conflict
from simulator.framework.cluster_event import NODE, POD, ActionType
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import ColumnExtensions, EnqueueExtensions, FilterPlugin, SignPlugin
from simulator.framework.node_batch import CountChanges, NodeBatch
from simulator.framework.queueing_hint import ClusterEventWithHint, freed_resources, register
from simulator.framework.signers import Fragments, sign_host_ports
from simulator.framework.status import PluginError, PreFilterResult, Status, Verdicts, unschedulable
from simulator.objects.pod import HostPort, Pod

STATE = "PreFilterNodePorts"
REASON = unschedulable("node(s) didn't have free ports for the requested pod ports")


class NodePortsState:
    """The host ports that the pod requests, and the number of their conflicts with ports in use, by row."""

    def __init__(self, requested: Sequence[HostPort], conflicts: Ints) -> None:
        self.requested = requested
        self.conflicts = conflicts
        self.changes = CountChanges(len(conflicts))

    def clone(self) -> "NodePortsState":
        clone = copy(self)
        clone.changes = self.changes.clone()
        return clone

    def update_with_pod(self, changed: Pod, rows: Rows, by: int) -> None:
        """Add the ports of pods like ``changed`` on these rows (``by`` 1), or remove them (-1)."""
        count = sum(ports_conflict(want, port) for want in self.requested for port in changed.host_ports)
        if count:
            self.changes.add(rows, by * count)


class NodePorts(EnqueueExtensions, SignPlugin, ColumnExtensions, FilterPlugin):
    """Rejects nodes on which a pod uses one of the host ports that the pod requests.

    Upstream's plugin has no PreFilterExtensions, because Filter reads NodeInfo.UsedPorts, which preemption
    and nominated pods change. Here PreFilter counts the conflicts for all nodes."""

    name = "NodePorts"

    def sign_pod(self, pod: Pod) -> Fragments:
        return sign_host_ports(pod)

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [register(POD, ActionType.DELETE, pod_deleted), register(NODE, ActionType.ADD)]

    def skips(self, pod: Pod) -> bool:
        return not pod.host_ports

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        cluster = state.cluster
        conflicts = cluster.ports.count_conflicts(pod.host_ports, cluster.width)
        state.write(STATE, NodePortsState(pod.host_ports, conflicts))
        return None

    def add_pods(self, state: CycleState, pod: Pod, added: Pod, rows: Rows) -> None:
        self._state(state).update_with_pod(added, rows, 1)

    def remove_pods(self, state: CycleState, pod: Pod, removed: Pod, rows: Rows) -> None:
        self._state(state).update_with_pod(removed, rows, -1)

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        found = self._state(state)
        return Verdicts(nodes.take(found.conflicts) + found.changes.for_nodes(nodes) > 0, (REASON,))

    def _state(self, state: CycleState) -> NodePortsState:
        found: NodePortsState | None = state.find(STATE)
        if found is None:
            raise PluginError(f'reading "{STATE}" from cycleState: not found')
        return found


# Queueing hints


def pod_deleted(pod: Pod, old: Pod, new: None) -> bool:
    """Queue if the deleted pod used a host port that the rejected pod requests."""
    return freed_resources(old) and any(
        ports_conflict(requested, used) for requested in pod.host_ports for used in old.host_ports
    )
