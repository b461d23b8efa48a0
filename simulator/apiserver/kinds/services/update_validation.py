"""Validation of updates of Services: which of their addresses, families and classes may change.

Upstream: ValidateServiceUpdate and what it calls in pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.kinds.services.validation import (
    check_balancer_class,
    is_headless,
    needs_health_check,
)
from simulator.apiserver.status import NIL, Cause, forbidden, invalid

_MAY_NOT_CHANGE: Final = "may not change once set"
_SINGLE: Final = "must be set to 'SingleStack' when releasing the secondary {}"


def validate_service_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    after, before = new["spec"], old["spec"]
    if "ExternalName" not in (after.get("type"), before.get("type")):
        yield from _cluster_ips(after, before)
        yield from _families(after, before)
    wanted = after.get("loadBalancerClass")
    if after.get("type") == before.get("type") == "LoadBalancer" and wanted != before.get(
        "loadBalancerClass"
    ):
        yield invalid("spec.loadBalancerClass", NIL if wanted is None else wanted, _MAY_NOT_CHANGE)
    yield from check_balancer_class(after)
    ports = [spec.get("healthCheckNodePort", 0) for spec in (after, before)]
    if needs_health_check(after) and needs_health_check(before) and ports[0] != ports[1]:
        yield forbidden("spec.healthCheckNodePort", "field is immutable")


def _cluster_ips(after: Manifest, before: Manifest) -> Iterator[Cause]:
    """Yield the faults that validateUpgradeDowngradeClusterIPs reports."""
    if is_headless(after) and is_headless(before):
        return
    path, given, known = "spec.clusterIPs", after.get("clusterIPs", []), before.get("clusterIPs", [])
    if len(known) == len(given):
        for index, (address, other) in enumerate(zip(known, given, strict=True)):
            if address != other:
                yield invalid(f"{path}[{index}]", given, _MAY_NOT_CHANGE)
        return
    if not given:
        yield invalid(f"{path}[0]", None, "primary clusterIP can not be unset")
    elif known and given[0] != known[0]:
        yield invalid(f"{path}[0]", given, _MAY_NOT_CHANGE)
    if len(known) > len(given) == 1:
        yield from _single_stack(after, "clusterIP")


def _families(after: Manifest, before: Manifest) -> Iterator[Cause]:
    """Yield the faults that validateUpgradeDowngradeIPFamilies reports. Upstream shows the addresses where
    families are added or gone."""
    if is_headless(after) or is_headless(before):
        return
    path, given, known = "spec.ipFamilies[0]", after.get("ipFamilies", []), before.get("ipFamilies", [])
    addresses = after.get("clusterIPs")
    if len(known) == len(given):
        changed = [family for family, other in zip(known, given, strict=True) if family != other]
        yield from (invalid(path, given, _MAY_NOT_CHANGE) for _ in changed)
        return
    if len(known) > len(given) and not addresses:
        yield invalid(path, given or None, "primary ipFamily can not be unset")
    if known and given and known[0] != given[0]:
        yield invalid(path, addresses, _MAY_NOT_CHANGE)
    if len(known) > len(given) == 1:
        yield from _single_stack(after, "ipFamily")


def _single_stack(spec: Manifest, what: str) -> Iterator[Cause]:
    policy = spec.get("ipFamilyPolicy")
    if policy != "SingleStack":
        yield invalid("spec.ipFamilyPolicy", NIL if policy is None else policy, _SINGLE.format(what))
