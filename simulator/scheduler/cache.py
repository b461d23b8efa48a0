"""What the scheduler knows of the cluster: the informers' objects, and the pods that it assumes to be placed.

pkg/scheduler/backend/cache/cache.go, v1.34. An assumed pod counts on its node from the moment it is chosen
until the API server's own word of it comes (or the binding fails)."""

import copy

from simulator.cluster.cluster import Cluster
from simulator.objects.pod import Pod


class Cache:
    """``pods`` is the informer's store: the newest version seen of every pod, by ``namespace/name``."""

    def __init__(self) -> None:
        self.cluster = Cluster()
        self.pods: dict[str, Pod] = {}
        self._assumed: dict[str, Pod] = {}

    def assumed(self, uid: str) -> bool:
        return uid in self._assumed

    def assume(self, pod: Pod, node_name: str) -> Pod:
        """Count the pod on the node; the pod as it will be there."""
        assumed = copy.copy(pod)
        assumed.node_name = node_name
        self.cluster.add_pod(assumed)
        self._assumed[pod.uid] = assumed
        return assumed

    def forget(self, assumed: Pod) -> None:
        """The binding failed. Nothing happens where the pod is known to be elsewhere, or gone, by now."""
        if self._assumed.pop(assumed.uid, None) is not None:
            self.cluster.remove_pod(assumed)

    def add_pod(self, pod: Pod) -> None:
        """The API server says that the pod is on a node. Also for a newer version of such a pod."""
        self._assumed.pop(pod.uid, None)
        self.cluster.add_pod(pod)

    def remove_pod(self, pod: Pod) -> None:
        self._assumed.pop(pod.uid, None)
        if pod.key in self.cluster.pods:
            self.cluster.remove_pod(pod)
