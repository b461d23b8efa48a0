"""The addresses that kubelets and their network plugins give to pods (generateAPIPodStatus in
pkg/kubelet/kubelet_pods.go)."""

from collections.abc import Sequence

from simulator.api import Manifest
from simulator.kernel.containment import Refusal
from simulator.objects.addresses import (
    POD_NETWORK,
    AddressPool,
    Network,
    host_addresses,
    internal_addresses,
    pod_addresses,
    pod_networks,
)
from simulator.objects.status import FINISHED_PHASES, phase_of


class NoFreeAddress(Refusal):
    """The networks of a node's pods have no free address: the pod cannot start."""


class PodAddresses:
    """The addresses of all pods that have not ended, and of the nodes, which no other pod gets."""

    def __init__(self) -> None:
        self._pool = AddressPool(POD_NETWORK)

    def pod_changed(self, old: Manifest | None, new: Manifest | None) -> None:
        self._replace(_held(old), _held(new))

    def node_changed(self, old: Manifest | None, new: Manifest | None) -> None:
        before = () if old is None else internal_addresses(old)
        self._replace(before, () if new is None else internal_addresses(new))

    def _replace(self, before: Sequence[str], after: Sequence[str]) -> None:
        if before != after:
            self._pool.use(after)
            self._pool.release(before)

    def fields(self, pod: Manifest, node: Manifest) -> dict[str, object]:
        """Return the fields of the status of a pod that starts on this node. A pod keeps the addresses that
        it has. Raises NoFreeAddress."""
        hosts = host_addresses(node)
        own = pod_addresses(pod)
        if not own:
            own = hosts if _is_on_host_network(pod) else self._new(pod_networks(node), hosts)
        fields: dict[str, object] = {}
        if hosts:
            fields |= {"hostIP": hosts[0], "hostIPs": [{"ip": each} for each in hosts]}
        if own:
            fields |= {"podIP": own[0], "podIPs": [{"ip": each} for each in own]}
        return fields

    def _new(self, networks: Sequence[Network], hosts: Sequence[str]) -> list[str]:
        """Return a free address of each network, that of the family of the node's first address at the
        beginning (sortPodIPs)."""
        found = [self._pool.free_in(network) for network in networks] or [self._pool.free()]
        addresses = [address for address in found if address is not None]
        if len(addresses) < len(found):
            ranges = ", ".join(map(str, networks)) or str(POD_NETWORK)
            raise NoFreeAddress(f"Failed to create pod sandbox: no address is free in {ranges}")
        is_ipv6 = bool(hosts) and ":" in hosts[0]
        return sorted(addresses, key=lambda address: (":" in address) != is_ipv6)


def _held(pod: Manifest | None) -> Sequence[str]:
    """Return the addresses that nobody else may have because of this pod."""
    if pod is None or phase_of(pod) in FINISHED_PHASES or _is_on_host_network(pod):
        return ()
    return pod_addresses(pod)


def _is_on_host_network(pod: Manifest) -> bool:
    return bool(pod["spec"].get("hostNetwork"))
