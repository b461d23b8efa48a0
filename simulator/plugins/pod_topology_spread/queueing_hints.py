"""The queueing hints of PodTopologySpread (podtopologyspread/plugin.go, v1.34).

``constraints`` are the DoNotSchedule constraints of the rejected pod, or the default constraints."""

from collections.abc import Sequence

from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.plugins.pod_topology_spread.common import TopologySpreadConstraint


def pod_changed(
    constraints: Sequence[TopologySpreadConstraint], pod: Pod, old: Pod | None, new: Pod | None
) -> bool:
    """Queue in these cases:

    * A counted pod was added or deleted that matches a constraint.
    * The labels of a counted pod changed, and it matches a constraint only before or only after the change.
    * The tolerations of the rejected pod changed, and a constraint has nodeTaintsPolicy Honor."""
    if any(changed is not None and not is_counted(changed, pod) for changed in (old, new)):
        return False
    if old is None or new is None:
        changed = new or old
        assert changed is not None, "old and new cannot both be None"
        return any(c.matches(changed.labels) for c in constraints)
    got_toleration = new.uid == pod.uid and new.tolerations != old.tolerations
    if got_toleration and any(c.honor_node_taints for c in constraints):
        return True
    return any(c.matches(old.labels) != c.matches(new.labels) for c in constraints)


def node_changed(constraints: Sequence[TopologySpreadConstraint], old: Node | None, new: Node | None) -> bool:
    """Queue in these cases:

    * A node with the topology keys of all constraints was added or deleted.
    * A node had the keys of all constraints only before or only after a change.
    * The values of the keys changed, or the taints of a node with all keys."""
    keys = {constraint.topology_key for constraint in constraints}
    before = old is not None and keys <= old.labels.keys()
    after = new is not None and keys <= new.labels.keys()
    if old is None or new is None:
        return before or after
    if before != after:
        return True
    moved = after and any(old.labels[key] != new.labels[key] for key in keys)
    return moved or (after and old.taints != new.taints)


def is_counted(changed: Pod, pod: Pod) -> bool:
    """Whether the changed pod is the rejected pod, or a pod on a node in the same namespace."""
    return changed.uid == pod.uid or (changed.namespace == pod.namespace and bool(changed.node_name))
