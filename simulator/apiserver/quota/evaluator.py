"""Counting the objects of a resource for ResourceQuotas. Resources whose objects use more than their count
have evaluators of their own: Services, PersistentVolumeClaims and ResourceClaims here, pods in ``pods.py``.

Upstream: apiserver/pkg/quota/v1/generic/evaluator.go, and registry.go, services.go,
persistent_volume_claims.go and resource_claims.go in pkg/quota/v1/evaluator/core.
"""

from collections.abc import Collection, Iterator
from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver.amounts import Amounts
from simulator.objects import quantity
from simulator.objects.metadata import annotations_of
from simulator.objects.quantity import NANO
from simulator.objects.status import status_of
from simulator.objects.volumes import BETA_STORAGE_CLASS

QUOTAS: Final = "resourcequotas"
LEGACY_NAMES: Final = frozenset(("configmaps", "replicationcontrollers", QUOTAS, "secrets"))
"""Resources that are counted under their own name, too (legacyObjectCountAliases)."""
_OF_STORAGE_CLASS: Final = ".storageclass.storage.k8s.io/"
_OF_DEVICE_CLASS: Final = ".deviceclass.resource.k8s.io/devices"
MOST_DEVICES: Final = 32
"""The number of devices with which a request for all devices is charged (AllocationResultsMaxSize)."""


class Evaluator:
    """The rule by which the objects of one resource use a quota."""

    updates: frozenset[str] = frozenset()
    """The subresources whose updates are charged, "" being the object itself. Creations always are."""

    def __init__(self, resource: str) -> None:
        """``resource``: the id of a namespaced resource."""
        self.count_name = f"count/{resource}"
        self._names = (self.count_name, resource) if resource in LEGACY_NAMES else (self.count_name,)

    def matching(self, names: Collection[str]) -> list[str]:
        """Return the names among these, sorted, under which the objects are counted (MatchingResources)."""
        return sorted(name for name in names if self.charges(name))

    def charges(self, name: str) -> bool:
        return name in self._names

    def usage(self, manifest: Manifest, now: Micros) -> Amounts:
        """Return the object's usage at this time."""
        return Amounts.counted(self._names)

    def missing(self, manifest: Manifest, names: Collection[str]) -> str:
        """Return the resources that the object must specify where a quota has these names, as the message
        names them; "" = none (Constraints)."""
        return ""

    def in_scope(self, selector: Manifest, manifest: Manifest) -> bool:
        """Whether the object is in the scope of a scope selector's expression."""
        return False

    def matches(self, quota: Manifest, manifest: Manifest) -> bool:
        """Whether the quota is about this object: it has one of its names, and the object is in all of its
        scopes (Matches)."""
        hard = (quota.get("status") or {}).get("hard") or {}
        return any(map(self.charges, hard)) and self.in_scopes(quota, manifest)

    def in_scopes(self, quota: Manifest, manifest: Manifest) -> bool:
        return all(self.in_scope(selector, manifest) for selector in scope_selectors(quota))


def scope_selectors(quota: Manifest) -> Iterator[Manifest]:
    """Yield the scopes of a quota as expressions of a scope selector (getScopeSelectorsFromQuota)."""
    spec = quota.get("spec") or {}
    for scope in spec.get("scopes") or ():
        yield {"scopeName": scope, "operator": "Exists"}
    yield from (spec.get("scopeSelector") or {}).get("matchExpressions") or ()


def selects(selector: Manifest, found: Collection[str]) -> bool:
    """Whether an expression selects an object that refers to these classes. Without any, it is matched
    against an object without the label; of several, one is enough."""
    wanted = selector.get("values") or ()
    match selector.get("operator"):
        case "Exists":
            return bool(found)
        case "DoesNotExist":
            return not found
        case "In":
            return any(name in wanted for name in found)
        case "NotIn":
            return not found or any(name not in wanted for name in found)
    return False


class ServiceEvaluator(Evaluator):
    updates = frozenset(("",))

    def charges(self, name: str) -> bool:
        return name in (self.count_name, "services", "services.nodeports", "services.loadbalancers")

    def usage(self, manifest: Manifest, now: Micros) -> Amounts:
        spec = manifest.get("spec") or {}
        ports, kind = spec.get("ports") or (), spec.get("type")
        node_ports = len(ports) if kind in ("NodePort", "LoadBalancer") else 0
        if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
            node_ports = sum(bool(port.get("nodePort")) for port in ports)
        return (
            Amounts.counted((self.count_name, "services"))
            .plus(Amounts.counted(("services.loadbalancers",), int(kind == "LoadBalancer")))
            .plus(Amounts.counted(("services.nodeports",), node_ports))
        )


class ClaimEvaluator(Evaluator):
    updates = frozenset(("", "status"))

    def charges(self, name: str) -> bool:
        own = ("persistentvolumeclaims", "requests.storage")
        return name in (self.count_name, *own) or name.endswith(
            tuple(f"{_OF_STORAGE_CLASS}{each}" for each in own)
        )

    def usage(self, manifest: Manifest, now: Micros) -> Amounts:
        spec = manifest["spec"]
        storage_class = annotations_of(manifest).get(BETA_STORAGE_CLASS, spec.get("storageClassName") or "")
        prefixes = ("", f"{storage_class}{_OF_STORAGE_CLASS}") if storage_class else ("",)
        counted = Amounts.counted((self.count_name, *(f"{each}persistentvolumeclaims" for each in prefixes)))
        requested = _requested_storage(manifest)
        if requested is None:
            return counted
        nanos, text = requested
        names = [f"{each}requests.storage" for each in prefixes]
        return counted.plus(Amounts(dict.fromkeys(names, nanos), dict.fromkeys(names, text)))

    def in_scope(self, selector: Manifest, manifest: Manifest) -> bool:
        return selector["scopeName"] == "VolumeAttributesClass" and selects(
            selector, attributes_classes(manifest)
        )


def attributes_classes(claim: Manifest) -> set[str]:
    """Return the VolumeAttributesClasses to which a claim refers
    (getReferencedVolumeAttributesClassNames)."""
    status = status_of(claim)
    found = {
        (claim.get("spec") or {}).get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    }
    return {name for name in found if name}


def _requested_storage(claim: Manifest) -> tuple[int, str] | None:
    """Return the storage that a claim asks for, or has been given if that is more, in whole bytes
    (getStorageUsage)."""
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    if "storage" not in requests:
        return None
    text = str(requests["storage"])
    given = (status_of(claim).get("allocatedResources") or {}).get("storage")
    if given is not None and quantity.parse_quantity(given) > quantity.parse_quantity(text):
        text = str(given)
    nanos = quantity.parse_quantity(text)
    if nanos % NANO:
        nanos = quantity.value(nanos) * NANO
        text = quantity.text_in_format_of(nanos, text)
    return nanos, text


class DeviceClaimEvaluator(Evaluator):
    updates = frozenset(("",))

    def charges(self, name: str) -> bool:
        return name == self.count_name or name.endswith(_OF_DEVICE_CLASS)

    def usage(self, manifest: Manifest, now: Micros) -> Amounts:
        total = Amounts.counted((self.count_name,))
        for request in (manifest["spec"].get("devices") or {}).get("requests") or ():
            alternatives = request.get("firstAvailable") or [request.get("exactly") or {}]
            most: dict[str, int] = {}
            for each in alternatives:
                name, number = f"{each.get('deviceClassName', '')}{_OF_DEVICE_CLASS}", _device_count(each)
                most[name] = max(number, most.get(name, 0))
            for name, number in most.items():
                total = total.plus(Amounts.counted((name,), number))
        return total


def _device_count(request: Manifest) -> int:
    exact = request.get("allocationMode", "ExactCount") == "ExactCount"
    return int(request.get("count", 1)) if exact else MOST_DEVICES
