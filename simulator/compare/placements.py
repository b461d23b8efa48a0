"""The nodes to which the pods of one side of a comparison were bound."""

from collections import Counter

from simulator.api import Manifest, Micros, WatchEvent
from simulator.apiserver.resources import PODS
from simulator.objects.owner_references import controller_of


class Placements:
    """The node to which each pod of one side was bound first. Pods that a controller creates have generated
    names, which differ between the sides: the third pod of a ReplicaSet is its third on both."""

    def __init__(self) -> None:
        self.nodes: dict[str, tuple[str, Micros]] = {}
        """Identity of the pod -> the node and the time of the binding, in the order of the bindings."""
        self._identities: dict[str, str] = {}
        self._created: Counter[str] = Counter()
        self.names: dict[str, str] = {}
        """The key of a pod by its identity."""

    def identity(self, key: str, manifest: Manifest) -> str:
        """Return the name of the pod that is the same on both sides."""
        uid = manifest["metadata"].get("uid", key)
        if uid not in self._identities:
            owner = controller_of(manifest)
            found = key
            if owner is not None and "generateName" in manifest["metadata"]:
                group = f"{key.rpartition('/')[0]}/{owner.get('kind')}/{owner.get('name')}"
                self._created[group] += 1
                found = f"{group}#{self._created[group]}"
            self._identities[uid] = found
            self.names[found] = key
        return self._identities[uid]

    def observe(self, event: WatchEvent, now: Micros) -> None:
        if event.resource != PODS.id:
            return
        identity = self.identity(event.key, event.object)
        node = event.object["spec"].get("nodeName")
        if node and event.type != "DELETED":
            self.nodes.setdefault(identity, (node, now))
