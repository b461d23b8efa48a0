"""Checks of single fields that many kinds share, with the messages of the API server.

Upstream: apimachinery/pkg/api/validation/generic.go, apimachinery/pkg/util/validation/{ip,validation}.go,
ValidatePositiveIntOrPercent in pkg/apis/apps/validation/validation.go, and validateLocalDescendingPath and
its neighbours in pkg/apis/core/validation/validation.go.
"""

import ipaddress
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final

from simulator.apiserver import names
from simulator.apiserver.status import Cause, invalid, not_supported, required
from simulator.objects.labels import parse_int64

NameRule = Callable[[str], list[str]]
NOT_NEGATIVE: Final = "must be greater than or equal to 0"
NOT_POSITIVE: Final = "must be greater than zero"
IMMUTABLE: Final = "field is immutable"
NO_ADDRESS: Final = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
NO_CIDR: Final = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
NO_INTERFACE_ADDRESS: Final = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_LEADING_ZEROS: Final = re.compile(r"(?<![0-9])0+(?=[0-9])")
PERCENTAGE: Final = re.compile("[0-9]{1,9}%", re.ASCII)
"""A percentage. It has at most nine digits, because with more the number overflows upstream."""
_NO_PERCENTAGE: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def check_name(rule: NameRule, name: str, path: str) -> list[Cause]:
    """Return a cause for each problem that a rule of :mod:`simulator.apiserver.names` finds."""
    problems = rule(name)
    return [invalid(path, name, problem) for problem in problems] if problems else []


def check_choice(
    value: str, choices: Collection[str], path: str, *, detail: str = "", as_given: bool = False
) -> Iterable[Cause]:
    """Return the fault of a value that is none of the choices. An empty value is a missing one."""
    if value in choices and value:
        return ()
    return (not_supported(path, value, choices, as_given=as_given) if value else required(path, detail),)


def too_many(path: str, given: int, most: int) -> Cause:
    return Cause(path, f"Too many: {given}: must have at most {most} items", "FieldValueTooMany")


def check_port_number(number: int, path: str) -> Iterable[Cause]:
    """Return the faults that IsValidPortNum reports."""
    return () if 1 <= number <= names.MAX_PORT else (invalid(path, number, names.PORT_RANGE),)


def check_port(port: Any, path: str) -> Iterable[Cause]:
    """Check a number of a port, or the name of one (ValidatePortNumOrName)."""
    if isinstance(port, str):
        return check_name(names.port_name, port, path)
    return check_port_number(port or 0, path)


def parse_address(text: str) -> Address | None:
    """Return the address, which may have leading zeros (ParseIPSloppy). None: it is none."""
    if "%" in text:
        return None
    try:
        return ipaddress.ip_address(_LEADING_ZEROS.sub("", text) if ":" not in text else text)
    except ValueError:
        return None


def parse_cidr(text: str) -> Network | None:
    """Parse a network (ParseCIDRSloppy)."""
    host, slash, bits = text.partition("/")
    address = parse_address(host)
    if address is None or not slash or not bits.isascii() or not bits.isdigit() or len(bits) > len("128"):
        return None
    try:
        return ipaddress.ip_network((address, int(bits)), strict=False)
    except ValueError:
        return None


def check_address(text: str, path: str) -> Iterable[Cause]:
    """Return the faults that IsValidIP reports."""
    return () if parse_address(text) is not None else (invalid(path, text, NO_ADDRESS),)


def check_cidr(text: str, path: str) -> Iterable[Cause]:
    """Return the faults that IsValidCIDR reports."""
    return () if parse_cidr(text) is not None else (invalid(path, text, NO_CIDR),)


def check_interface_address(text: str, path: str) -> Iterator[Cause]:
    """IsValidInterfaceAddress: an address and the length of its network, in canonical form."""
    network, address = parse_cidr(text), parse_address(text.partition("/")[0])
    if network is None or address is None:
        yield invalid(path, text, NO_INTERFACE_ADDRESS)
    elif text != (canonical := f"{address}/{network.prefixlen}"):
        yield invalid(path, text, f'must be in canonical form ("{canonical}")')


def check_non_special_address(text: str, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateNonSpecialIP reports."""
    address = parse_address(text)
    if address is None:
        yield invalid(path, text, "must be a valid IP address")
        return
    link_local_multicast = (
        "224.0.0.0/24" if address.version == 4 else "ff02::/16"  # Go looks at the first two bytes
    )
    for is_wrong, detail in (
        (address.is_unspecified, f"may not be unspecified ({text})"),
        (address.is_loopback, "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
        (address.is_link_local, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
        (
            address in ipaddress.ip_network(link_local_multicast),
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        ),
    ):
        if is_wrong:
            yield invalid(path, text, detail)


def check_domain_prefixed(text: str, path: str) -> Iterator[Cause]:
    """Yield the faults that IsDomainPrefixedPath reports."""
    host, slash, rest = text.partition("/")
    if not text:
        yield required(path)
    elif not slash or not host or not rest:
        yield invalid(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        yield from check_name(names.dns_subdomain, host, path)
        if not names.is_http_path(rest):
            yield invalid(path, rest, names.HTTP_PATH_RULE)


def validate_int_or_percent(value: int | str, path: str) -> Iterator[Cause]:
    """Validate a number that is not negative, or a percentage (ValidatePositiveIntOrPercent)."""
    if isinstance(value, int):
        if value < 0:
            yield invalid(path, value, NOT_NEGATIVE)
    elif not PERCENTAGE.fullmatch(value):
        yield invalid(path, value, _NO_PERCENTAGE)


def check_at_most_all(value: int | str, path: str) -> Iterator[Cause]:
    """Yield the faults that IsNotMoreThan100Percent reports."""
    if isinstance(value, str) and PERCENTAGE.fullmatch(value) and int(value[:-1]) > 100:
        yield invalid(path, value, "must not be greater than 100%")


def amount_of(value: int | str) -> int:
    """Return the number or the percentage (getIntOrPercentValue)."""
    if isinstance(value, int):
        return value
    return int(value[:-1]) if PERCENTAGE.fullmatch(value) else parse_int64(value) or 0


def check_no_steps_back(text: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validatePathNoBacksteps reports."""
    if ".." in text.split("/"):
        yield invalid(path, text, "must not contain '..'")


def check_descending_path(text: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validateLocalDescendingPath reports."""
    if text.startswith("/"):
        yield invalid(path, text, "must be a relative path")
    yield from check_no_steps_back(text, path)


def check_file_path(text: str, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateLocalNonReservedPath reports."""
    yield from check_descending_path(text, path)
    if text.startswith("..") and not text.startswith("../"):
        yield invalid(path, text, "must not start with '..'")
