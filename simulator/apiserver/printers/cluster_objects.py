"""The rows of nodes, namespaces, classes and budgets, claims of devices, ConfigMaps and Leases."""

from typing import Any

from simulator.api import Manifest, Micros
from simulator.apiserver.printers.column import AGE, NAME, NONE, Column, Printer, age_of
from simulator.objects.metadata import is_terminating
from simulator.objects.status import phase_of, status_of


def _namespace(item: Manifest, now: Micros) -> list[Any]:
    return [item["metadata"]["name"], phase_of(item), age_of(item, now)]


def _runtime_class(item: Manifest, now: Micros) -> list[Any]:
    return [item["metadata"]["name"], item["handler"], age_of(item, now)]


def _disruption_budget(item: Manifest, now: Micros) -> list[Any]:
    spec = item.get("spec") or {}
    return [
        item["metadata"]["name"],
        *(str(spec[name]) if name in spec else "N/A" for name in ("minAvailable", "maxUnavailable")),
        status_of(item).get("disruptionsAllowed") or 0,
        age_of(item, now),
    ]


def _config_map(item: Manifest, now: Micros) -> list[Any]:
    count = len(item.get("data") or ()) + len(item.get("binaryData") or ())
    return [item["metadata"]["name"], count, age_of(item, now)]


def _secret(item: Manifest, now: Micros) -> list[Any]:
    return [item["metadata"]["name"], item.get("type", ""), len(item.get("data") or ()), age_of(item, now)]


def _lease(item: Manifest, now: Micros) -> list[Any]:
    holder = (item.get("spec") or {}).get("holderIdentity") or ""
    return [item["metadata"]["name"], holder, age_of(item, now)]


def _resource_quota(item: Manifest, now: Micros) -> list[Any]:
    hard, used = (status_of(item).get(name) or {} for name in ("hard", "used"))
    texts: dict[bool, list[str]] = {False: [], True: []}
    for name in sorted(hard):
        texts[name.startswith("limits.")].append(f"{name}: {used.get(name, '0')}/{hard[name]}")
    return [item["metadata"]["name"], ", ".join(texts[False]), ", ".join(texts[True]), age_of(item, now)]


def claim_state(claim: Manifest) -> str:
    """Return the state of a ResourceClaim: ``pending``, ``allocated``, ``allocated,reserved``,
    ``deleted,...``."""
    states = ["deleted"] if is_terminating(claim) else []
    if status_of(claim).get("allocation") is None:
        states += [] if states else ["pending"]
    else:
        states += ["allocated", "reserved"] if status_of(claim).get("reservedFor") else ["allocated"]
    return ",".join(states)


def _resource_claim(item: Manifest, now: Micros) -> list[Any]:
    return [item["metadata"]["name"], claim_state(item), age_of(item, now)]


def _resource_slice(item: Manifest, now: Micros) -> list[Any]:
    spec = item["spec"]
    return [
        item["metadata"]["name"],
        spec.get("nodeName") or NONE,
        spec["driver"],
        spec["pool"]["name"],
        age_of(item, now),
    ]


CLUSTER_PRINTERS = {
    "namespaces": Printer((NAME, Column("Status", "The status of the namespace"), AGE), _namespace),
    # Upstream looks for the description in the wrong type.
    "runtimeclasses.node.k8s.io": Printer((NAME, Column("Handler", ""), AGE), _runtime_class),
    "poddisruptionbudgets.policy": Printer(
        (
            NAME,
            Column("Min Available", "The minimum number of pods that must be available."),
            Column("Max Unavailable", "The maximum number of pods that may be unavailable."),
            Column(
                "Allowed Disruptions",
                "Calculated number of pods that may be disrupted at this time.",
                "integer",
            ),
            AGE,
        ),
        _disruption_budget,
    ),
    "configmaps": Printer((NAME, Column("Data", "ConfigMap.data"), AGE), _config_map),
    "secrets": Printer((NAME, Column("Type", "Secret.type"), Column("Data", "Secret.data"), AGE), _secret),
    "leases.coordination.k8s.io": Printer((NAME, Column("Holder", "LeaseSpec.holderIdentity"), AGE), _lease),
    "resourcequotas": Printer(
        (
            NAME,
            Column(
                "Request", "Request represents a minimum amount of cpu/memory that a container may consume."
            ),
            Column(
                "Limit",
                "Limits control the maximum amount of cpu/memory that a container may use independent of "
                "contention on the node.",
            ),
            AGE,
        ),
        _resource_quota,
    ),
    "resourceclaims.resource.k8s.io": Printer(
        (NAME, Column("State", "A summary of the current state (allocated, pending, reserved, etc.)."), AGE),
        _resource_claim,
    ),
    "resourceslices.resource.k8s.io": Printer(
        (
            NAME,
            Column("Node", "ResourceSliceSpec.nodeName"),
            Column("Driver", "ResourceSliceSpec.driver"),
            Column("Pool", "ResourcePool.name"),
            AGE,
        ),
        _resource_slice,
    ),
}
