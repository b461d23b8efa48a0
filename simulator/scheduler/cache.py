"""The scheduler's cache: the informers' objects, and the assumed pods (pkg/scheduler/backend/cache/cache.go).

An assumed pod counts on its node from the time when the node is chosen until the watch shows it there, or the
binding fails."""

from simulator.cluster.cluster import Cluster
from simulator.objects.pod import Pod


class Cache:
    """The scheduler's cache. ``pods`` has the newest version of every pod that the informer has shown, by
    ``namespace/name``."""

    def __init__(self) -> None:
        self.cluster = Cluster()
        self.pods: dict[str, Pod] = {}
        self._assumed: dict[str, Pod] = {}

    def assumed(self, uid: str) -> bool:
        return uid in self._assumed

    def assumed_pod(self, uid: str) -> Pod:
        """Return an assumed pod, with its node. Raises KeyError."""
        return self._assumed[uid]

    def assume(self, pod: Pod, node_name: str) -> Pod:
        """Count the pod on the node. Return the pod with that node."""
        assumed = pod.assumed(node_name)
        self.cluster.add_pod(assumed)
        self._assumed[pod.uid] = assumed
        if pod.pod_group:
            self.cluster.pod_groups.assume(assumed)
        return assumed

    def forget(self, assumed: Pod) -> None:
        """Remove a pod whose binding failed. Nothing happens if the watch has shown the pod on a node, or
        deleted, since then."""
        if self._assumed.pop(assumed.uid, None) is not None:
            self.cluster.remove_pod(assumed)
            if assumed.pod_group:
                self.cluster.pod_groups.forget(assumed)

    def add_pod(self, pod: Pod) -> None:
        """Add a pod that the watch shows on a node, or a newer version of such a pod."""
        self._assumed.pop(pod.uid, None)
        self.cluster.add_pod(pod)

    def remove_pod(self, pod: Pod) -> None:
        self._assumed.pop(pod.uid, None)
        if pod.key in self.cluster.pods:
            self.cluster.remove_pod(pod)
