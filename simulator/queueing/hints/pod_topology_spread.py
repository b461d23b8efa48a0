"""PodTopologySpread (pkg/scheduler/framework/plugins/podtopologyspread/plugin.go, v1.34)."""

from typing import Any, NamedTuple

from simulator.labels import Labels, Selector, label_selector
from simulator.node import Node
from simulator.pod import Pod
from simulator.queueing.cluster_event import NODE, POD, ActionType
from simulator.queueing.hint import Registered, register


class Constraint(NamedTuple):
    topology_key: str
    selector: Selector | None
    honors_taints: bool


def constraints(pod: Pod) -> list[Constraint]:
    """The pod's own hard constraints. Default ones have selectors only where a Service or a controller owns
    the pod; of these the hints know nothing."""
    return [
        Constraint(
            c["topologyKey"], label_selector(c.get("labelSelector")), c.get("nodeTaintsPolicy") == "Honor"
        )
        for c in pod.spec.get("topologySpreadConstraints") or ()
        if c["whenUnsatisfiable"] == "DoNotSchedule"
    ]


def events_to_register(args: Any) -> list[Registered]:
    pods = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_POD_LABEL | ActionType.UPDATE_POD_TOLERATION
    nodes = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT
    return [register(POD, pods, pod_changed), register(NODE, nodes, node_changed)]


def pod_changed(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Queue when a pod that counts has come to match a constraint, or ceased to."""
    if any(changed is not None and not involved(changed, pod) for changed in (old, new)):
        return False
    mine = constraints(pod)
    if old is None or new is None:
        changed = new or old
        assert changed is not None, "a change has an object before or after it"
        return any(counted(c, changed.labels) for c in mine)
    if new.uid == pod.uid and new.tolerations != old.tolerations and any(c.honors_taints for c in mine):
        return True
    return any(counted(c, old.labels) != counted(c, new.labels) for c in mine)


def involved(changed: Pod, pod: Pod) -> bool:
    """Whether the changed pod is counted in the spreading: the pod itself, or a neighbour on a node."""
    return changed.uid == pod.uid or (changed.namespace == pod.namespace and bool(changed.node_name))


def counted(constraint: Constraint, labels: Labels) -> bool:
    return constraint.selector is not None and constraint.selector.matches(labels)


def node_changed(pod: Pod, old: Node | None, new: Node | None) -> bool:
    """Queue when the node belongs to a domain of every constraint, after the change or before it: then the
    domains, or what they hold, may be others now."""
    keys = {c.topology_key for c in constraints(pod)}
    before = old is not None and keys <= old.labels.keys()
    after = new is not None and keys <= new.labels.keys()
    if old is None or new is None:
        return before or after
    if before != after:
        return True
    moved = any(old.labels[key] != new.labels[key] for key in keys) if after else False
    return moved or (after and old.taints != new.taints)
