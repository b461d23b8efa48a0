"""Allocation of what a Service has in its cluster alone: its addresses and its ports on the nodes.

kube-apiserver allocates before it validates. Upstream: beginCreate and beginUpdate in
pkg/registry/core/service/storage/storage.go, alloc.go beside it and the allocators in
pkg/registry/core/service/{ipallocator,portallocator}. The numbers are drawn from the Service's UID, so
that the same cluster always gives the same ones."""

import hashlib
import ipaddress
from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.field_checks import parse_address
from simulator.apiserver.kinds.services.dependent_fields import (
    HEADLESS,
    drop_type_dependent_fields,
    hide_internal_policy,
    keep_allocated,
    needs_addresses,
    needs_node_ports,
    set_families,
)
from simulator.apiserver.kinds.services.validation import WITH_NODE_PORTS, is_headless, needs_health_check
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.resource import built_in
from simulator.apiserver.status import Cause, Invalid, StatusError, invalid

SERVICES: Final = built_in("v1", "Service", "svc", has_status=True)
_ADDRESSES: Final = ipaddress.IPv4Network("10.96.0.0/12")
"""kubeadm's range of the addresses of Services, from which they are drawn."""
_KNOWN_RANGES: Final = (_ADDRESSES, ipaddress.IPv4Network("10.0.0.0/24"))
"""The ranges whose addresses a Service may ask for: also the default of a kube-apiserver without a configured
range."""
_OF_API_SERVER: Final = "10.96.0.1"
_PORTS: Final = range(30_000, 32_768)
_NOT_IN_RANGE: Final = (
    f"provided port is not in the valid range. The range of valid ports is {_PORTS.start}-{_PORTS.stop - 1}"
)


class AllocationError(StatusError):
    """A port that load balancers ask for cannot be allocated: upstream an internal error."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"Internal error occurred: {detail}", causes=[Cause("", detail, "")])


def allocate_new(service: Manifest, overlay: Overlay, any_address: bool) -> None:
    """Allocate what a new Service needs. ``any_address``: it may have that of another cluster. Raises
    Invalid."""
    spec = service["spec"]
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    _refuse(service, set_families(spec, None, any_family=any_address))
    used = _Used(service, overlay)
    if needs_addresses(spec) and not is_headless(spec):
        used.allocate_addresses(spec, any_address=any_address)
    if spec.get("type") in WITH_NODE_PORTS:
        used.allocate_ports(spec)
    if needs_health_check(spec):
        used.allocate_health_check_port(spec)
    hide_internal_policy(spec)


def allocate_updated(new: Manifest, old: Manifest, overlay: Overlay) -> None:
    """Keep what is allocated to a Service, release what its new type does not need, and allocate what it
    does. Raises Invalid."""
    after, before = new["spec"], old["spec"]
    keep_allocated(after, before)
    _refuse(new, set_families(after, before, any_family=False))
    used = _Used(new, overlay)
    if needs_addresses(after) and not needs_addresses(before) and not is_headless(after):
        used.allocate_addresses(after)
    if after.get("type") in WITH_NODE_PORTS:
        used.update_ports(after, before)
    if needs_health_check(after) and not needs_health_check(before):
        used.allocate_health_check_port(after)
    drop_type_dependent_fields(new, before)
    hide_internal_policy(after)


def _refuse(service: Manifest, causes: list[Cause]) -> None:
    if causes:
        raise Invalid("Service", "", service["metadata"].get("name", ""), causes)


class _Used:
    """The addresses and ports of the other Services of the cluster, and those that this one has been
    given."""

    def __init__(self, service: Manifest, overlay: Overlay) -> None:
        own = service["metadata"]["uid"]
        others = [each["spec"] for each in overlay.list(SERVICES.id) if each["metadata"]["uid"] != own]
        self._service = service
        self._addresses = {address for spec in others for address in spec.get("clusterIPs", ())}
        self._addresses |= {_OF_API_SERVER}
        self._ports = {port for spec in others for port in _ports_of(spec)}

    def allocate_addresses(self, spec: Manifest, *, any_address: bool = False) -> None:
        addresses = spec.get("clusterIPs") or [""]
        for index, address in enumerate(addresses):
            if not address:
                addresses[index] = next(ip for ip in _drawn_addresses(self._service) if not self._has(ip))
                continue
            problem = "provided IP is already allocated" if self._has(address) else ""
            if not problem and not any_address and not _is_in_range(address):
                problem = "the provided network does not match the current range"
            if problem:
                detail = f"failed to allocate IP {address}: {problem}"
                _refuse(self._service, [invalid("spec.clusterIPs", addresses, detail)])
        spec["clusterIPs"], spec["clusterIP"] = addresses, addresses[0]

    def _has(self, address: str) -> bool:
        return address != HEADLESS and address in self._addresses

    def allocate_ports(self, spec: Manifest) -> None:
        """Allocate the node ports of a new Service: one for each port number, shared by its protocols
        (initNodePorts)."""
        ports, allocated = spec.get("ports", ()), dict[int, int]()
        for index, port in enumerate(ports):
            number = port.get("port", 0)
            if not port.get("nodePort") and not needs_node_ports(spec):
                continue
            if number not in allocated:
                wanted = [
                    each["nodePort"] for each in ports if each.get("port") == number and each.get("nodePort")
                ]
                allocated[number] = self._take(index, wanted[0]) if wanted else self._take_any()
                port["nodePort"] = allocated[number]
            elif not port.get("nodePort"):
                port["nodePort"] = allocated[number]
            elif port["nodePort"] != allocated[number]:
                self._take(index, port["nodePort"])

    def update_ports(self, spec: Manifest, before: Manifest) -> None:
        """Allocate the node ports that an updated Service does not have yet (updateNodePorts)."""
        kept, taken = {port.get("nodePort") for port in before.get("ports", ())}, set[int]()
        self._ports |= {number for number in kept if number}
        for index, port in enumerate(spec.get("ports", ())):
            number = port.get("nodePort")
            if not number:
                if needs_node_ports(spec):
                    port["nodePort"] = self._take_any()
            elif number not in kept and number not in taken:
                taken.add(self._take(index, number))

    def allocate_health_check_port(self, spec: Manifest) -> None:
        number = spec.get("healthCheckNodePort")
        problem = self._problem(number) if number else ""
        if problem:
            raise AllocationError(f"failed to allocate requested HealthCheck NodePort {number}: {problem}")
        spec["healthCheckNodePort"] = number or self._take_any()

    def _take(self, index: int, number: int) -> int:
        problem = self._problem(number)
        if problem:
            _refuse(self._service, [invalid(f"spec.ports[{index}].nodePort", number, problem)])
        self._ports.add(number)
        return number

    def _problem(self, number: int) -> str:
        if number not in _PORTS:
            return _NOT_IN_RANGE
        return "provided port is already allocated" if number in self._ports else ""

    def _take_any(self) -> int:
        drawn = (_PORTS[number] for number in _drawn(self._service, len(_PORTS)))
        number = next(port for port in drawn if port not in self._ports)
        self._ports.add(number)
        return number


def _ports_of(spec: Manifest) -> Iterator[int]:
    yield from (port["nodePort"] for port in spec.get("ports", ()) if port.get("nodePort"))
    if spec.get("healthCheckNodePort"):
        yield spec["healthCheckNodePort"]


def _is_in_range(text: str) -> bool:
    address = parse_address(text)
    return any(
        address in network and address not in (network.network_address, network.broadcast_address)
        for network in _KNOWN_RANGES
        if address is not None
    )


def _drawn_addresses(service: Manifest) -> Iterator[str]:
    # Neither the network's own address nor its first, which is that of the API server, nor the broadcast's.
    return (str(_ADDRESSES[2 + number]) for number in _drawn(service, _ADDRESSES.num_addresses - 3))


def _drawn(service: Manifest, count: int) -> Iterator[int]:
    """Yield all numbers below ``count``, from one that the Service's UID decides."""
    first = int.from_bytes(hashlib.sha256(service["metadata"]["uid"].encode()).digest()[:8])
    return ((first + step) % count for step in range(count))
