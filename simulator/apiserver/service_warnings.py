"""Warnings about Services (GetWarningsForService in pkg/api/service/warnings.go, v1.34)."""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.address_warnings import address_warnings, cidr_warnings

_HINTS: Final = "service.kubernetes.io/topology-aware-hints"
_MODE: Final = "service.kubernetes.io/topology-mode"
_EXTERNAL_NAME: Final = "ExternalName"


def service_warnings(service: Manifest) -> Iterator[str]:
    spec = service["spec"]
    kind, addresses = spec.get("type"), spec.get("externalIPs") or ()
    if _HINTS in (service["metadata"].get("annotations") or {}):
        yield f"annotation {_HINTS} is deprecated, please use {_MODE} instead"
    if spec.get("clusterIP") not in (None, "", "None"):
        for index, address in enumerate(spec.get("clusterIPs") or ()):
            yield from address_warnings(address, f"spec.clusterIPs[{index}]")
    if kind == "ClusterIP" and spec.get("clusterIP") == "None":
        # The default of the affinity, which is "None", counts, too.
        for field, name in (
            ("loadBalancerIP", "loadBalancerIP"),
            ("externalIPs", "externalIPs"),
            ("sessionAffinity", "SessionAffinity"),
        ):
            if spec.get(field):
                yield f"spec.{name} is ignored for headless services"
    for index, address in enumerate(addresses):
        yield from address_warnings(address, f"spec.externalIPs[{index}]")
    if spec.get("loadBalancerIP"):
        yield from address_warnings(spec["loadBalancerIP"], "spec.loadBalancerIP")
    for index, text in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        yield from cidr_warnings(text, f"spec.loadBalancerSourceRanges[{index}]")
    if kind == _EXTERNAL_NAME and addresses:
        yield f'spec.externalIPs is ignored when spec.type is "{_EXTERNAL_NAME}"'
    if kind != _EXTERNAL_NAME and spec.get("externalName"):
        yield f'spec.externalName is ignored when spec.type is not "{_EXTERNAL_NAME}"'
