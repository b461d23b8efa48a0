"""Validation of how the containers of a pod resolve names: dnsConfig and hostAliases.

Upstream: validatePodDNSConfig and ValidateHostAliases in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_address, check_name
from simulator.apiserver.status import Cause, invalid, required

_MAX_SERVERS: Final = 3
_MAX_SEARCHES: Final = 32
_MAX_SEARCH_CHARACTERS: Final = 2048


def validate_dns_config(spec: Manifest, path: str) -> Iterator[Cause]:
    config, at = spec.get("dnsConfig"), f"{path}.dnsConfig"
    if spec.get("dnsPolicy") == "None":
        if config is None:
            yield required(at, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield required(f"{at}.nameservers", detail)
            return
    if config is not None:
        yield from _servers(config.get("nameservers", []), f"{at}.nameservers")
        yield from _searches(config.get("searches", []), f"{at}.searches")
        for index, option in enumerate(config.get("options", ())):
            if not option.get("name"):
                yield required(f"{at}.options[{index}]", "must not be empty")


def _servers(servers: list[str], path: str) -> Iterator[Cause]:
    if len(servers) > _MAX_SERVERS:
        yield invalid(path, servers, f"must not have more than {_MAX_SERVERS} nameservers")
    for index, server in enumerate(servers):
        yield from check_address(server, f"{path}[{index}]")


def _searches(searches: list[str], path: str) -> Iterator[Cause]:
    if len(searches) > _MAX_SEARCHES:
        yield invalid(path, searches, f"must not have more than {_MAX_SEARCHES} search paths")
    if len(" ".join(searches)) > _MAX_SEARCH_CHARACTERS:
        most = f"{_MAX_SEARCH_CHARACTERS} characters (including spaces)"
        detail = f"must not have more than {most} in the search list"
        yield invalid(path, searches, detail)
    for index, search in enumerate(searches):
        if search != ".":
            domain = search.removesuffix(".")
            yield from check_name(names.dns_subdomain_with_underscore, domain, f"{path}[{index}]")


def validate_host_aliases(aliases: Sequence[Manifest], path: str) -> Iterator[Cause]:
    for index, alias in enumerate(aliases):
        yield from check_address(alias.get("ip", ""), f"{path}[{index}].ip")
        for number, host in enumerate(alias.get("hostnames", ())):
            yield from check_name(names.dns_subdomain, host, f"{path}[{index}].hostnames[{number}]")
