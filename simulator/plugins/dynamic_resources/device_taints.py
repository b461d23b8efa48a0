"""Taints of devices, and tolerations of requests (taintPreventsAllocation in allocator_incubating.go, and
ToleratesTaint in staging/src/k8s.io/dynamic-resource-allocation/resourceclaim/devicetoleration.go)."""

from collections.abc import Iterable
from typing import Final

from simulator.plugins.dynamic_resources.device import DeviceTaint
from simulator.plugins.dynamic_resources.resource_claim import DeviceToleration

EFFECTS: Final = frozenset(("NoSchedule", "NoExecute"))
"""The effects that prevent an allocation. None and unknown ones are ignored."""


def prevents_allocation(taints: Iterable[DeviceTaint], tolerations: tuple[DeviceToleration, ...]) -> bool:
    return any(
        taint.effect in EFFECTS and not any(tolerates(each, taint) for each in tolerations)
        for taint in taints
    )


def tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"
