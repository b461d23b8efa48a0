"""Validation of how the containers of a pod resolve names: dnsConfig and hostAliases.

Upstream: validatePodDNSConfig and ValidateHostAliases in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Iterable
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_address, check_name
from simulator.apiserver.shapes import all_of, at_most, each, field, must_have, named_by, where
from simulator.apiserver.status import Cause, required

_MAX_SEARCH_CHARACTERS: Final = 2048
_SEARCH_LENGTH: Final = (
    f"must not have more than {_MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list"
)


def validate_dns_config(spec: Manifest, path: str) -> Iterable[Cause]:
    config, at = spec.get("dnsConfig"), f"{path}.dnsConfig"
    if spec.get("dnsPolicy") == "None":
        if config is None:
            return (required(at, "must provide `dnsConfig` when `dnsPolicy` is None"),)
        if not config.get("nameservers"):
            return _SERVERS(config, at)
    return () if config is None else _CONFIG(config, at)


def _option(option: Manifest, path: str) -> Iterable[Cause]:
    return () if option.get("name") else (required(path, "must not be empty"),)


def _search(search: str, path: str) -> Iterable[Cause]:
    is_root = search == "."
    return () if is_root else check_name(names.dns_subdomain_with_underscore, search.removesuffix("."), path)


_SERVERS: Final = must_have(
    "nameservers", detail="must provide at least one DNS nameserver when `dnsPolicy` is None"
)
_CONFIG: Final = all_of(
    field("nameservers", at_most(3, "nameservers")),
    each("nameservers", check_address),
    field("searches", at_most(32, "search paths")),
    field("searches", where(lambda given: len(" ".join(given)) <= _MAX_SEARCH_CHARACTERS, _SEARCH_LENGTH)),
    each("searches", _search),
    each("options", _option),
)
HOST_ALIASES: Final = each(
    "hostAliases",
    field("ip", check_address, default=""),
    each("hostnames", named_by(names.dns_subdomain)),
)
