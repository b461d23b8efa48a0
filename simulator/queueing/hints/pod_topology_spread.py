"""PodTopologySpread (pkg/scheduler/framework/plugins/podtopologyspread/plugin.go, v1.34)."""

from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.config.args import PodTopologySpreadArgs
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.plugins.pod_topology_spread import PodTopologySpread
from simulator.plugins.pod_topology_spread.common import TopologySpreadConstraint
from simulator.queueing.cluster_event import NODE, POD, ActionType
from simulator.queueing.hint import Registered, register


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    hints = Hints(args or PodTopologySpreadArgs(), cluster)
    pods = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_POD_LABEL | ActionType.UPDATE_POD_TOLERATION
    nodes = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT
    return [register(POD, pods, hints.pod_changed), register(NODE, nodes, hints.node_changed)]


class Hints:
    """``cluster`` has the Services and controllers that default constraints are about."""

    def __init__(self, args: PodTopologySpreadArgs, cluster: Cluster) -> None:
        self._plugin = PodTopologySpread(args, None)
        self._cluster = cluster

    def _constraints(self, pod: Pod) -> list[TopologySpreadConstraint]:
        return self._plugin.constraints(pod, self._cluster, "DoNotSchedule")

    def pod_changed(self, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
        """Queue when a pod that counts has come to match a constraint, or ceased to."""
        if any(changed is not None and not involved(changed, pod) for changed in (old, new)):
            return False
        constraints = self._constraints(pod)
        if old is None or new is None:
            changed = new or old
            assert changed is not None, "a change has an object before or after it"
            return any(c.matches(changed.labels) for c in constraints)
        got_toleration = new.uid == pod.uid and new.tolerations != old.tolerations
        if got_toleration and any(c.honor_node_taints for c in constraints):
            return True
        return any(c.matches(old.labels) != c.matches(new.labels) for c in constraints)

    def node_changed(self, pod: Pod, old: Node | None, new: Node | None) -> bool:
        """Queue when the node belongs to a domain of every constraint, after the change or before it: then
        the domains, or what they hold, may be others now."""
        keys = {constraint.topology_key for constraint in self._constraints(pod)}
        before = old is not None and keys <= old.labels.keys()
        after = new is not None and keys <= new.labels.keys()
        if old is None or new is None:
            return before or after
        if before != after:
            return True
        moved = after and any(old.labels[key] != new.labels[key] for key in keys)
        return moved or (after and old.taints != new.taints)


def involved(changed: Pod, pod: Pod) -> bool:
    """Whether the changed pod is counted in the spreading: the pod itself, or a neighbour on a node."""
    return changed.uid == pod.uid or (changed.namespace == pod.namespace and bool(changed.node_name))
