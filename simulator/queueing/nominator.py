"""Which pods are nominated to which nodes (pkg/scheduler/backend/queue/nominator.go, v1.34)."""

from collections.abc import Callable, Iterator

from simulator.objects.pod import Pod


class Nominator:
    """Nominations, kept apart from the queues: a pod keeps its own in whatever queue it is, and in flight.

    ``lister`` finds a pod's current version by ``namespace/name`` (None = gone).
    """

    def __init__(self, lister: Callable[[str], Pod | None]) -> None:
        self._lister = lister
        self._pods: dict[str, dict[str, Pod]] = {}  # node name -> uid -> pod, in order of nomination
        self._nodes: dict[str, str] = {}  # uid -> node name

    def add(self, pod: Pod, node_name: str | None = None) -> None:
        """Nominate to this node ("" = to none, overriding the pod's status); None leaves it to the status.

        A pod that is gone or bound is not nominated.
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
        """A new version of the pod has come; it moves to the end of its node's list.

        The scheduler knows of a nomination before the pod's status tells it, so that an update which knows of
        none, before and after, does not end it.
        """
        node_name = None
        if not old.nominated_node_name and not new.nominated_node_name:
            node_name = self._nodes.get(old.uid)
        self.delete(old)
        self.add(new, node_name)

    def pods_for_node(self, node_name: str) -> list[Pod]:
        return list(self._pods.get(node_name, {}).values())

    def nodes(self) -> Iterator[str]:
        """The nodes that pods are nominated to, in order of their oldest nomination."""
        return (name for name in self._pods if name)

    def node_of(self, uid: str) -> str:
        return self._nodes.get(uid, "")
