"""Kubernetes' CEL libraries of addresses and networks (apiserver/pkg/cel/library/ip.go, cidr.go), with
the errors of Go's net/netip."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final

from simulator.cel.conversions import to_string
from simulator.cel.errors import ExpressionError
from simulator.cel.functions import Function
from simulator.cel.values import Opaque, Value
from simulator.kernel.go_text import quote

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_HEX: Final = re.compile(r"[0-9a-fA-F]*", re.ASCII)
_BITS: Final = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)


@dataclass(frozen=True, slots=True)
class IP(Opaque):
    """An address."""

    type_name = "net.IP"
    go_name = "cel.IP"
    prints = True
    address: _Address

    def equals(self, other: Value) -> bool | None:
        return self.address == other.address if isinstance(other, IP) else None

    def __str__(self) -> str:
        return str(self.address)


@dataclass(frozen=True, slots=True)
class CIDR(Opaque):
    """A network: an address, which may have bits behind the prefix, and the length of the prefix."""

    type_name = "net.CIDR"
    go_name = "cel.CIDR"
    prints = True
    address: _Address
    bits: int

    def equals(self, other: Value) -> bool | None:
        return self == other if isinstance(other, CIDR) else None

    def __str__(self) -> str:
        return f"{self.address}/{self.bits}"

    def mask(self) -> "CIDR":
        """Return the network without the bits behind the prefix."""
        free = self.address.max_prefixlen - self.bits
        return CIDR(type(self.address)(int(self.address) >> free << free), self.bits)


class _Fault(Exception):
    """The error of an address that cannot be parsed, with its place."""

    def __init__(self, message: str, at: str = "") -> None:
        super().__init__(f"{message} (at {quote(at)})" if at else message)


def _parse_address(text: str) -> tuple[_Address, str]:
    """Return an address and its zone (netip.ParseAddr). Raises _Fault."""
    first = next((each for each in text if each in ".:%"), "")
    if first == ".":
        return _parse_v4(text), ""
    if first != ":":
        raise _Fault("missing IPv6 address" if first else "unable to parse IP")
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        raise _Fault("zone must be a non-empty string")
    return _parse_v6(rest), zone


def _parse_v4(text: str) -> ipaddress.IPv4Address:
    fields = [0]
    digits = 0
    for index, each in enumerate(text):
        if each in "0123456789":
            if digits == 1 and fields[-1] == 0:
                raise _Fault("IPv4 field has octet with leading zero")
            fields[-1] = fields[-1] * 10 + int(each)
            digits += 1
            if fields[-1] > 255:
                raise _Fault("IPv4 field has value >255")
        elif each == ".":
            if index in (0, len(text) - 1) or text[index - 1] == ".":
                raise _Fault("IPv4 field must have at least one digit", text[index:])
            if len(fields) == 4:
                raise _Fault("IPv4 address too long")
            fields.append(0)
            digits = 0
        else:
            raise _Fault("unexpected character", text[index:])
    if len(fields) < 4:
        raise _Fault("IPv4 address too short")
    return ipaddress.IPv4Address(bytes(fields))


def _parse_v6(rest: str) -> ipaddress.IPv6Address:
    found = bytearray()
    gap = -1
    if rest.startswith("::"):
        gap, rest = 0, rest[2:]
    while rest and len(found) < 16:
        digits = _get_digits(rest)
        after = rest[len(digits) :]
        if after[:1] == ".":
            if gap < 0 and len(found) != 12:
                raise _Fault("embedded IPv4 address must replace the final 2 fields of the address", rest)
            if len(found) + 4 > 16:
                raise _Fault("too many hex fields to fit an embedded IPv4 at the end of the address", rest)
            found += _parse_v4(rest).packed
            rest = ""
            break
        found += int(digits, 16).to_bytes(2)
        rest = after
        if not rest:
            break
        if rest[0] != ":":
            raise _Fault("unexpected character, want colon", rest)
        if len(rest) == 1:
            raise _Fault("colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest[0] == ":":
            if gap >= 0:
                raise _Fault("multiple :: in address", rest)
            gap, rest = len(found), rest[1:]
    if rest:
        raise _Fault("trailing garbage after address", rest)
    if len(found) < 16:
        if gap < 0:
            raise _Fault("address string too short")
        found[gap:gap] = bytes(16 - len(found))
    elif gap >= 0:
        raise _Fault("the :: must expand to at least one field of zeros")
    return ipaddress.IPv6Address(bytes(found))


def _get_digits(rest: str) -> str:
    found = _HEX.match(rest)
    digits = found[0] if found else ""
    if len(digits) > 4:
        raise _Fault("each group must have 4 or less digits", rest)
    if not digits:
        raise _Fault("each colon-separated field must have at least one digit", rest)
    return digits


def _is_mapped(address: _Address) -> bool:
    return isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None


def parse_ip(text: str) -> IP:
    """Return the address of a text. Raises ExpressionError (parseIPAddr)."""
    try:
        address, zone = _parse_address(text)
    except _Fault as fault:
        raise ExpressionError(
            f"IP Address {quote(text)} parse error during conversion from string:"
            f" ParseAddr({quote(text)}): {fault}"
        ) from None
    if zone:
        raise ExpressionError(f"IP address {quote(text)} with zone value is not allowed")
    if _is_mapped(address):
        raise ExpressionError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return IP(address)


def parse_cidr(text: str) -> CIDR:
    """Return the network of a text. Raises ExpressionError (parseCIDR)."""
    prefix = "network address parse error during conversion from string: "
    try:
        address, bits = _parse_prefix(text)
    except _Fault as fault:
        raise ExpressionError(f"{prefix}{prefix}netip.ParsePrefix({quote(text)}): {fault}") from None
    if _is_mapped(address):
        raise ExpressionError(f"{prefix}IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return CIDR(address, bits)


def _parse_prefix(text: str) -> tuple[_Address, int]:
    start, slash, bits = text.rpartition("/")
    if not slash:
        raise _Fault("no '/'")
    try:
        address, zone = _parse_address(start)
    except _Fault as fault:
        raise _Fault(f"ParseAddr({quote(start)}): {fault}") from None
    if zone:
        raise _Fault("IPv6 zones cannot be present in a prefix")
    if not _BITS.fullmatch(bits):
        raise _Fault(f"bad bits after slash: {quote(bits)}")
    if int(bits) > address.max_prefixlen:
        raise _Fault("prefix length out of range")
    return address, int(bits)


def _is_ip(text: str) -> bool:
    try:
        parse_ip(text)
    except ExpressionError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    try:
        parse_cidr(text)
    except ExpressionError:
        return False
    return True


_GROUP_LOCAL: Final = ipaddress.IPv4Network("224.0.0.0/24")


def _is_link_local_multicast(ip: IP) -> bool:
    if isinstance(ip.address, ipaddress.IPv4Address):
        return ip.address in _GROUP_LOCAL
    return int(ip.address) >> 112 & 0xFF0F == 0xFF02


def _is_global_unicast(ip: IP) -> bool:
    address = ip.address
    if address == ipaddress.IPv4Address("255.255.255.255"):
        return False
    return not (
        address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    )


def _contains_ip(cidr: CIDR, ip: IP) -> bool:
    return ip.address.version == cidr.address.version and CIDR(ip.address, cidr.bits).mask() == cidr.mask()


def _contains_cidr(cidr: CIDR, other: CIDR) -> bool:
    # Upstream does not mask the other network.
    return cidr.mask() == CIDR(other.address, cidr.bits) and cidr.bits <= other.bits


_I: Final = IP.type_name
_C: Final = CIDR.type_name
FUNCTIONS: Final = (
    Function("ip", "(string) -> net.IP", parse_ip),
    Function("ip", f"{_C}.() -> net.IP", lambda cidr: IP(cidr.address)),
    Function("ip.isCanonical", "(string) -> bool", lambda text: str(parse_ip(text)) == text),
    Function("isIP", "(string) -> bool", _is_ip),
    Function("family", f"{_I}.() -> int", lambda ip: ip.address.version),
    Function("isUnspecified", f"{_I}.() -> bool", lambda ip: ip.address.is_unspecified),
    Function("isLoopback", f"{_I}.() -> bool", lambda ip: ip.address.is_loopback),
    Function("isLinkLocalMulticast", f"{_I}.() -> bool", _is_link_local_multicast),
    Function("isLinkLocalUnicast", f"{_I}.() -> bool", lambda ip: ip.address.is_link_local),
    Function("isGlobalUnicast", f"{_I}.() -> bool", _is_global_unicast),
    Function("cidr", f"(string) -> {_C}", parse_cidr),
    Function("isCIDR", "(string) -> bool", _is_cidr),
    Function("containsIP", f"{_C}.(string) -> bool", lambda cidr, text: _contains_ip(cidr, parse_ip(text))),
    Function("containsIP", f"{_C}.({_I}) -> bool", _contains_ip),
    Function("containsCIDR", f"{_C}.(string) -> bool",
             lambda cidr, text: _contains_cidr(cidr, parse_cidr(text))),
    Function("containsCIDR", f"{_C}.({_C}) -> bool", _contains_cidr),
    Function("masked", f"{_C}.() -> {_C}", CIDR.mask),
    Function("prefixLength", f"{_C}.() -> int", lambda cidr: cidr.bits),
    Function("string", f"({_I}) -> string", to_string),
    Function("string", f"({_C}) -> string", to_string),
)  # fmt: skip
