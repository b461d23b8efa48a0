"""The addresses of nodes and pods: which are in use, and which one is free next.

Upstream: GetNodeHostIPs in pkg/util/node/node.go; the plugin host-local of the CNI project assigns
addresses of pods in the same way, except that it goes on behind the last one that it assigned."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeVar

from simulator.api import Manifest
from simulator.objects.status import status_of

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address
T = TypeVar("T", IPv4Network | IPv6Network, IPv4Address | IPv6Address)

NODE_NETWORK: Final = IPv4Network("172.18.0.0/16")
"""The addresses of nodes whose objects have none: the network that Docker usually gives to kind."""
POD_NETWORK: Final = IPv4Network("10.128.0.0/9")
"""The addresses of pods on nodes without a podCIDR. It has none of the addresses of Services."""
WITH_GATEWAY: Final = 4
"""The fewest addresses of a network of which some are kept: the first one names the network, the second one
is the gateway's, and the last one of IPv4 means all."""


class AddressPool:
    """The addresses that are in use, and the free ones of a network from which most are taken. Texts that are
    no addresses are not counted."""

    def __init__(self, network: IPv4Network) -> None:
        self._network = network
        self._uses: Counter[int] = Counter()
        self._first = _usable(network).start
        """No address of the network before this one is free."""

    def use(self, addresses: Iterable[str]) -> None:
        for number in _numbers(addresses):
            self._uses[number] += 1

    def release(self, addresses: Iterable[str]) -> None:
        for number in _numbers(addresses):
            self._uses[number] -= 1
            if self._uses[number] <= 0:
                del self._uses[number]
                if number in _usable(self._network):
                    self._first = min(self._first, number)

    def free(self) -> str | None:
        """Return the lowest free address of the pool's network; None if there is none."""
        found = self._lowest_free(range(self._first, _usable(self._network).stop))
        if found is None:
            return None
        self._first = found
        return str(IPv4Address(found))

    def free_in(self, network: Network) -> str | None:
        """Return the lowest free address of another network; None if there is none."""
        found = self._lowest_free(_usable(network))
        if found is None:
            return None
        return str(IPv4Address(found) if network.version == 4 else IPv6Address(found))

    def _lowest_free(self, numbers: range) -> int | None:
        return next((number for number in numbers if number not in self._uses), None)


def _usable(network: Network) -> range:
    """Return the addresses of a network that pods and nodes may have, as numbers."""
    first, last = int(network.network_address), int(network.broadcast_address)
    if network.num_addresses < WITH_GATEWAY:
        return range(first, last + 1)
    return range(first + 2, last + (1 if network.version == 6 else 0))


def _numbers(addresses: Iterable[str]) -> Iterable[int]:
    for address in addresses:
        parsed = parse_address(address)
        if parsed is not None:
            yield int(parsed)


@lru_cache(maxsize=10_000)
def parse_address(text: str) -> Address | None:
    """Parse an address; None if the text is none."""
    try:
        return ip_address(text)
    except ValueError:
        return None


@lru_cache(maxsize=10_000)
def parse_network(text: str) -> Network | None:
    """Parse a range of addresses; None if the text is none."""
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


def pod_networks(node: Manifest) -> list[Network]:
    """Return the networks of the node's pods, at most one of each family; [] for a node without a podCIDR."""
    spec = node.get("spec") or {}
    ranges = spec.get("podCIDRs") or [spec.get("podCIDR") or ""]
    return _one_of_each_family([network for text in ranges if (network := parse_network(text))])


def internal_addresses(node: Manifest) -> list[str]:
    return [address for kind, address in _addresses(node) if kind == "InternalIP"]


def host_addresses(node: Manifest) -> list[str]:
    """Return the addresses that the node's pods report as their host's: the first one and the first of the
    other family, internal ones before external ones (GetNodeHostIPs)."""
    parsed = [
        parse_address(address)
        for wanted in ("InternalIP", "ExternalIP")
        for kind, address in _addresses(node)
        if kind == wanted
    ]
    return [str(address) for address in _one_of_each_family([address for address in parsed if address])]


def _addresses(node: Manifest) -> list[tuple[str, str]]:
    return [
        (str(each.get("type")), str(each.get("address"))) for each in status_of(node).get("addresses") or ()
    ]


def pod_addresses(pod: Manifest) -> list[str]:
    """Return the addresses in a pod's status."""
    status = status_of(pod)
    listed = [each["ip"] for each in status.get("podIPs") or () if each.get("ip")]
    return listed or ([status["podIP"]] if status.get("podIP") else [])


def _one_of_each_family(given: Sequence[T]) -> list[T]:
    """Return the first one, and the first one of the other family."""
    kept: list[T] = []
    for each in given:
        if all(each.version != other.version for other in kept):
            kept.append(each)
    return kept
