"""The rows of nodes, namespaces, classes and budgets, claims of devices, ConfigMaps and Leases."""

from typing import Any

from simulator.api import Manifest, Micros
from simulator.apiserver.printers.column import AGE, NAME, NONE, Column, Printer, age_of
from simulator.objects.metadata import is_terminating
from simulator.objects.status import status_of


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
