"""Validation of updates of the status of Namespaces, Services, PersistentVolumeClaims and ResourceQuotas.

Upstream: the Validate...StatusUpdate functions in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_address, check_name, parse_address
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required
from simulator.objects import quantity

_IP_MODES: Final = ("Proxy", "VIP")
_RESIZE_STATES: Final = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizePending",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
)


def _service(new: Manifest, _: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateLoadBalancerStatus reports."""
    path, balancer = "status.loadBalancer.ingress", new.get("status", {}).get("loadBalancer", {})
    ingresses = balancer.get("ingress", ())
    if ingresses and new["spec"].get("type") != "LoadBalancer":
        yield forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    for index, ingress in enumerate(ingresses):
        yield from _balancer_ingress(ingress, f"{path}[{index}]")


def _balancer_ingress(ingress: Manifest, path: str) -> Iterator[Cause]:
    address, mode, host = ingress.get("ip"), ingress.get("ipMode"), ingress.get("hostname")
    if address:
        yield from check_address(address, f"{path}.ip")
    if mode is None and address:
        yield required(f"{path}.ipMode", "must be specified when `ip` is set")
    elif mode is not None and not address:
        yield forbidden(f"{path}.ipMode", "may not be specified when `ip` is not set")
    elif mode is not None and mode not in _IP_MODES:
        yield not_supported(f"{path}.ipMode", mode, _IP_MODES)
    if host:
        yield from check_name(names.dns_subdomain, host, f"{path}.hostname")
        if parse_address(host) is not None:
            yield invalid(f"{path}.hostname", host, "must be a DNS name, not an IP address")


def _claim_of_storage(new: Manifest, _: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidatePersistentVolumeClaimStatusUpdate reports."""
    status = new.get("status", {})
    for name, text in sorted(status.get("capacity", {}).items()):
        yield from _basic_amount(text, f"status.capacity[{name}]")
    for name, state in sorted(status.get("allocatedResourceStatuses", {}).items()):
        path = "status.allocatedResourceStatuses"
        yield from _claim_resource(name, path)
        if state not in _RESIZE_STATES:
            yield not_supported(path, name, _RESIZE_STATES)
    for name, text in sorted(status.get("allocatedResources", {}).items()):
        faults = [*_claim_resource(name, "status.allocatedResources")]
        yield from faults or _basic_amount(text, f"status.allocatedResources[{name}]")


def _basic_amount(text: str, path: str) -> Iterator[Cause]:
    amount = quantity.value(quantity.parse_text(text))
    if amount < 0:
        yield invalid(path, amount, "must be a valid resource quantity")


def _claim_resource(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validatePersistentVolumeClaimResourceKey reports."""
    faults = [*check_name(names.qualified_name, name, path)]
    if not faults and name != "storage" and ("/" not in name or "kubernetes.io/" in name):
        faults = [not_supported(path, name, ("storage",))]
    yield from faults


CORE_STATUS_CHECKS: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    "persistentvolumeclaims": _claim_of_storage,
    "services": _service,
}
