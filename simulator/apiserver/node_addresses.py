"""The addresses of the nodes that one request to the API server creates."""

from functools import cached_property

from simulator.api import Manifest
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.resources import NODES
from simulator.objects.addresses import NODE_NETWORK, AddressPool, internal_addresses


class NodeAddresses:
    """The addresses that nodes have. The nodes are read when the first address is needed."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay

    @cached_property
    def pool(self) -> AddressPool:
        pool = AddressPool(NODE_NETWORK)
        for node in self._overlay.list(NODES.id):
            pool.use(internal_addresses(node))
        return pool

    def use(self, node: Manifest) -> None:
        """Note the addresses of a node that the request creates."""
        if "pool" in self.__dict__:
            self.pool.use(internal_addresses(node))
