"""Validation of IPAddresses and ServiceCIDRs.

Upstream: ValidateIPAddress and ValidateServiceCIDR in pkg/apis/networking/validation/validation.go, and
net/netip/netip.go of Go, v1.34.
"""

import ipaddress
from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import IMMUTABLE, check_cidr, check_name, parse_cidr
from simulator.apiserver.status import Cause, invalid, required
from simulator.kernel.go_text import quote

IP_ADDRESSES: Final = "ipaddresses.networking.k8s.io"
SERVICE_CIDRS: Final = "servicecidrs.networking.k8s.io"
_FAMILIES: Final = 2
_ONE_OF_EACH: Final = (
    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
)
_OCTETS: Final = 4


def ip_address_name(name: str) -> list[str]:
    """Return the faults of a name that must be an address, in the one form that Go writes
    (ValidateIPAddressName)."""
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return [f"ParseAddr({quote(name)}): {_fault(name)}"]
    return [] if str(address) == name else ["must be a canonical format IP address"]


def _fault(name: str) -> str:
    """Return Go's error for a text that is no IPv4 address. Go's errors for IPv6 addresses are longer."""
    first = next((character for character in name if character in ".:%"), "")
    if first == "%":
        return "missing IPv6 address"
    octets = name.split(".")
    if first != "." or not all(octet.isascii() and octet.isdigit() for octet in octets):
        return "unable to parse IP"
    for octet in octets:
        if len(octet) > 1 and octet.startswith("0"):
            return "IPv4 field has octet with leading zero"
        if int(octet[:_OCTETS]) > 0xFF:
            return "IPv4 field has value >255"
    return "IPv4 address too short" if len(octets) < _OCTETS else "IPv4 address too long"


def _validate_ip_address(manifest: Manifest) -> Iterator[Cause]:
    reference, path = (manifest.get("spec") or {}).get("parentRef"), "spec.parentRef"
    if reference is None:
        yield required(path)
        return
    if reference.get("group"):
        yield from check_name(names.dns_subdomain, reference["group"], f"{path}.group")
    for field in ("resource", "name", "namespace"):
        if reference.get(field):
            yield from check_name(names.path_segment, reference[field], f"{path}.{field}")
        elif field != "namespace":
            yield required(f"{path}.{field}")


def _validate_ip_address_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    after, before = ((manifest.get("spec") or {}).get("parentRef") for manifest in (new, old))
    if after != before:
        fields = ("group", "resource", "namespace", "name")
        shown = {field.capitalize(): (after or {}).get(field, "") for field in fields}
        yield invalid("spec.parentRef", shown, IMMUTABLE, whole=True)


def _validate_service_cidr(manifest: Manifest) -> Iterator[Cause]:
    cidrs, path = _cidrs(manifest), "spec.cidrs"
    if not cidrs:
        yield required(path, "at least one CIDR required")
    elif len(cidrs) > _FAMILIES:
        yield invalid(path, {"CIDRs": cidrs}, "may only hold up to 2 values", whole=True)
    elif len(cidrs) == _FAMILIES and not _is_dual(cidrs):
        yield invalid(path, {"CIDRs": cidrs}, _ONE_OF_EACH, whole=True)
    else:
        for index, cidr in enumerate(cidrs):
            yield from check_cidr(cidr, f"{path}[{index}]")


def _is_dual(cidrs: list[str]) -> bool:
    return {network.version for network in map(parse_cidr, cidrs) if network is not None} == {4, 6}


def _validate_service_cidr_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults of an update: a second range may be added, for the other family."""
    after, before, path = _cidrs(new), _cidrs(old), "spec.cidrs"
    if len(after) != len(before) and (len(before), len(after)) != (1, _FAMILIES):
        yield invalid(path, after, IMMUTABLE)
        return
    for index, cidr in enumerate(before):
        if after[index] != cidr:
            yield invalid(f"{path}[{index}]", after[index], IMMUTABLE)


def _cidrs(manifest: Manifest) -> list[str]:
    return (manifest.get("spec") or {}).get("cidrs") or []


ADDRESS_CHECKS: Final[dict[str, Callable[[Manifest], Iterator[Cause]]]] = {
    IP_ADDRESSES: _validate_ip_address,
    SERVICE_CIDRS: _validate_service_cidr,
}
ADDRESS_UPDATE_CHECKS: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    IP_ADDRESSES: _validate_ip_address_update,
    SERVICE_CIDRS: _validate_service_cidr_update,
}
