"""Warnings about addresses and CIDRs in forms that Kubernetes will refuse one day (GetWarningsForIP and
GetWarningsForCIDR in apimachinery/pkg/util/validation/ip.go, v1.34)."""

import ipaddress
from collections.abc import Iterator
from typing import Final

from simulator.apiserver.field_checks import Address, parse_address, parse_cidr
from simulator.kernel.go_text import quote

_FUTURE: Final = "will be considered invalid in a future Kubernetes release: use"
_CANONICAL: Final = "should be in RFC 5952 canonical format"


def address_warnings(text: str, path: str) -> Iterator[str]:
    address = parse_address(text)
    if address is None:
        return
    if _has_leading_zeros(text) or _mapped(address) is not None:
        yield f"{path}: non-standard IP address {quote(text)} {_FUTURE} {quote(_shown(address))}"
    elif address.version == 6 and str(address) != text:
        yield f"{path}: IPv6 address {quote(text)} {_CANONICAL} ({quote(str(address))})"


def cidr_warnings(text: str, path: str) -> Iterator[str]:
    host, _, bits = text.partition("/")
    network, address = parse_cidr(text), parse_address(host)
    if network is None or address is None:
        return
    is_ambiguous = address != network.network_address
    if is_ambiguous:
        single = f"{_shown(address)}/{address.max_prefixlen}"
        choices = f"should be {quote(str(network))} or {quote(single)}?"
        yield f"{path}: CIDR value {quote(text)} is ambiguous in this context ({choices})"
    if _has_leading_zeros(host) or str(int(bits)) != bits or _mapped(address) is not None:
        yield f"{path}: non-standard CIDR value {quote(text)} {_FUTURE} {quote(str(network))}"
    elif not is_ambiguous and address.version == 6 and str(network) != text:
        yield f"{path}: IPv6 CIDR value {quote(text)} {_CANONICAL} ({quote(str(network))})"


def _has_leading_zeros(text: str) -> bool:
    """Whether an IPv4 address has leading zeros. In IPv6 they are valid."""
    return ":" not in text and any(len(part) > 1 and part.startswith("0") for part in text.split("."))


def _mapped(address: Address) -> ipaddress.IPv4Address | None:
    return address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None


def _shown(address: Address) -> str:
    """Return the address as Go's net.IP writes it."""
    return str(_mapped(address) or address)
