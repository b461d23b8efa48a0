"""Nominator: which pods are nominated to which nodes (pkg/scheduler/backend/queue/nominator.go)."""

from collections.abc import Callable, Iterator

from simulator.objects.pod import Pod


class Nominator:
    """Nominated pods by node. A nomination does not depend on the queue in which the pod is.

    ``lister`` returns the current version of a pod by ``namespace/name``, None if it does not exist.
    """

    def __init__(self, lister: Callable[[str], Pod | None]) -> None:
        self._lister = lister
        self._pods: dict[str, dict[str, Pod]] = {}  # node name -> uid -> pod, in order of nomination
        self._nodes: dict[str, str] = {}  # uid -> node name

    def add(self, pod: Pod, node_name: str | None = None) -> None:
        """Nominate a pod to a node; None = to the node in its status. "" replaces the nomination in the
        status by none.

        A pod that does not exist or is bound is not nominated.
        """
        self.delete(pod)
        if node_name is None:
            node_name = pod.nominated_node_name
            if not node_name:
                return
        current = self._lister(pod.key)
        if current is None or current.node_name:
            return
        self._nodes[pod.uid] = node_name
        self._pods.setdefault(node_name, {})[pod.uid] = pod

    def delete(self, pod: Pod) -> None:
        node_name = self._nodes.pop(pod.uid, None)
        if node_name is not None:
            pods = self._pods[node_name]
            del pods[pod.uid]
            if not pods:
                del self._pods[node_name]

    def update(self, old: Pod, new: Pod) -> None:
        """Replace a pod by its new version, and put it at the end of the list of its node.

        If neither version has a nominated node in its status, an existing nomination remains: the scheduler
        nominates a pod before it writes the nomination to the status.
        """
        node_name = None
        if not old.nominated_node_name and not new.nominated_node_name:
            node_name = self._nodes.get(old.uid)
        self.delete(old)
        self.add(new, node_name)

    def pods_for_node(self, node_name: str) -> list[Pod]:
        return list(self._pods.get(node_name, {}).values())

    def nodes(self) -> Iterator[str]:
        """Return the names of the nodes with nominated pods."""
        return (name for name in self._pods if name)

    def node_of(self, uid: str) -> str:
        """Return the name of the node to which a pod is nominated, "" if there is none."""
        return self._nodes.get(uid, "")
