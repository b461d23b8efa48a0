"""What the page and files may do that a request to kube-apiserver may not: the conveniences of an object that
comes in by them.

A node is completed as its kubelet would do it, and a pod that has a node already, as one of a scenario or a
dump of a cluster, keeps its status and is not limited. Further conveniences are marked where they are
(``Attributes.is_strict``): an unknown runtime class is let through, a Service gets any address that it asks
for, an object may have a resourceVersion.
"""

from functools import cached_property

from simulator.api import Manifest
from simulator.apiserver.kinds.nodes import NODES
from simulator.apiserver.kinds.pods.strategy import PODS
from simulator.apiserver.node_defaults import joined_node, with_internal_address
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.resource import Resource
from simulator.objects.addresses import NODE_NETWORK, AddressPool, internal_addresses


class PageEntry:
    """The conveniences for the objects of one request."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay

    @cached_property
    def _addresses(self) -> AddressPool:
        """The addresses that nodes have. The nodes are read when the first address is needed."""
        pool = AddressPool(NODE_NETWORK)
        for node in self._overlay.list(NODES.id):
            pool.use(internal_addresses(node))
        return pool

    def was_placed(self, resource: Resource, manifest: Manifest) -> bool:
        """Whether the object is a pod that has a node."""
        return resource == PODS and bool(manifest["spec"].get("nodeName"))

    def complete(self, resource: Resource, manifest: Manifest, given_status: Manifest, now: str) -> Manifest:
        """Return a new object, which has been prepared, with what it keeps or gets. ``given_status``: that
        with which it came."""
        if self.was_placed(resource, manifest):
            status = {**given_status, **manifest["status"]}
            return {**manifest, "status": {**status, "phase": given_status.get("phase", status["phase"])}}
        if resource == NODES:
            return with_internal_address(joined_node(manifest, now), self._addresses)
        return manifest

    def note(self, resource: Resource, manifest: Manifest) -> None:
        """Note an object that the request creates."""
        if resource == NODES and "_addresses" in self.__dict__:
            self._addresses.use(internal_addresses(manifest))
