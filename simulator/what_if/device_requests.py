"""Proposals to ask for other devices in the pending pod's claims: with a taint, of another class, smaller,
or less of a shared device."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from simulator.api import Manifest
from simulator.objects.node import format_taint
from simulator.objects.quantity import Nanos, parse_quantity, text_in_format_of
from simulator.plugins.dynamic_resources.allocated_devices import AllocatedDevices, AllocatedState
from simulator.plugins.dynamic_resources.device import DeviceTaint
from simulator.plugins.dynamic_resources.device_selectors import device_classes
from simulator.plugins.dynamic_resources.device_taints import EFFECTS, tolerates
from simulator.plugins.dynamic_resources.node_devices import NodeDevices
from simulator.plugins.dynamic_resources.pool import PoolDevice
from simulator.what_if.claim_changes import ROWS_AT_MOST, claim_proposal, part_of
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.pod_claims import PLUGIN, ClaimPart, can_take, claim_parts, devices_of
from simulator.what_if.proposal import Proposals
from simulator.what_if.situation import Situation

AMOUNTS_AT_MOST: Final = 32
"""Maximum number of amounts that are proposed for one capacity."""
_QUANTITY: Final = re.compile(r"quantity\(\s*(\"([^\"\\]*)\"|'([^'\\]*)')\s*\)")


def propose_device_tolerations(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose to tolerate the taints of a device that a request selects."""
    if not situation.cluster.object_index(NodeDevices).rules.device_taints:
        return
    for part in claim_parts(situation):
        sets: dict[tuple[DeviceTaint, ...], None] = {}
        for device in _devices(situation, obstacles):
            missing = tuple(taint for taint in device.device.taints if not _is_harmless(part, taint))
            if missing and missing not in sets and can_take(situation, part, device):
                sets[missing] = None
        for place, taints in enumerate(sorted(sets, key=len)):
            texts = ", ".join(format_taint(*each) for each in taints)
            made = claim_proposal(
                part, "device-toleration", texts, partial(_tolerate, part, taints), before=""
            )
            yield made._replace(within=part.name, measure=min(0.49, 0.001 * place))


def _is_harmless(part: ClaimPart, taint: DeviceTaint) -> bool:
    return taint.effect not in EFFECTS or any(tolerates(each, taint) for each in part.request.tolerations)


def _tolerate(part: ClaimPart, taints: tuple[DeviceTaint, ...], new: Manifest) -> None:
    request = part_of(part, new)
    added = [
        {"key": each.key, "operator": "Equal", "value": each.value, "effect": each.effect}
        if each.value
        else {"key": each.key, "operator": "Exists", "effect": each.effect}
        for each in taints
    ]
    request["tolerations"] = [*(request.get("tolerations") or ()), *added]


def propose_other_classes(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose to name another DeviceClass, of which a node has a device that the request selects."""
    devices = [*_devices(situation, obstacles)]
    for part in claim_parts(situation):
        for name in sorted(device_classes(situation.cluster)):
            other = part._replace(request=part.request._replace(device_class=name))
            if name == part.request.device_class or not any(
                can_take(situation, other, device) for device in devices
            ):
                continue

            def rename(new: Manifest, part: ClaimPart = part, name: str = name) -> None:
                part_of(part, new)["deviceClassName"] = name

            made = claim_proposal(part, "claim-class", part.name, rename, before=part.request.device_class)
            yield made._replace(after=name)


def propose_smaller_devices(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose the largest smaller amount of a selector with which the pod fits, among the capacities of
    devices: a partition in place of a whole device."""
    known = {
        amount.value.nanos: amount.value.text
        for device in _devices(situation, obstacles)
        for _, amount in device.device.capacity
    }
    for part in claim_parts(situation):
        for index, expression in enumerate(part.request.selectors):
            for found in _QUANTITY.finditer(expression or ""):
                given = found[2] if found[2] is not None else found[3]
                before = _parse(given)
                smaller = sorted((nanos for nanos in known if 0 < nanos < before), reverse=True)
                for nanos in smaller[:AMOUNTS_AT_MOST]:
                    text = f'{found.string[: found.start(1)]}"{known[nanos]}"{found.string[found.end(1) :]}'

                    def select(
                        new: Manifest, part: ClaimPart = part, index: int = index, text: str = text
                    ) -> None:
                        part_of(part, new)["selectors"][index] = {"cel": {"expression": text}}

                    made = claim_proposal(part, "claim-size", part.name, select, before=given)
                    measure = 0.6 * (before - nanos) / before
                    if (yield made._replace(after=known[nanos], measure=measure)):
                        break


def _parse(text: str) -> Nanos:
    """Return the amount; 0, than which none is smaller, for a text that is no quantity."""
    try:
        return parse_quantity(text)
    except ValueError:
        return 0


def propose_less_capacity(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose for each requested capacity the largest amount with which the pod fits: what is left of some
    device."""
    for part in claim_parts(situation):
        for name, amount in part.request.capacity or ():
            amounts = {
                left
                for device in _devices(situation, obstacles)
                for left in _left_of(situation, device, name)
                if 0 < left < amount.nanos
            }
            for left in sorted(amounts, reverse=True)[:AMOUNTS_AT_MOST]:
                text = text_in_format_of(left, amount.text)

                def reduce(new: Manifest, part: ClaimPart = part, name: str = name, text: str = text) -> None:
                    part_of(part, new)["capacity"]["requests"][name] = text

                made = claim_proposal(part, "claim-capacity", name, reduce, before=amount.text)
                measure = 0.999 * (amount.nanos - left) / amount.nanos
                if (yield made._replace(after=text, within=part.name, measure=measure)):
                    break


def _left_of(situation: Situation, device: PoolDevice, name: str) -> Iterator[Nanos]:
    """Yield what is left of a capacity of a device."""
    rules = situation.cluster.object_index(NodeDevices).rules
    allocated = AllocatedState(situation.cluster.object_index(AllocatedDevices), rules)
    consumed = allocated.consumed(device.id) or {}
    for capacity, each in device.device.capacity:
        if capacity == name:
            yield each.value.nanos - consumed.get(name, 0)


def _devices(situation: Situation, obstacles: Obstacles) -> Iterator[PoolDevice]:
    """Yield the devices of the first nodes of which devices are the only obstacle."""
    for row in obstacles.only(PLUGIN)[:ROWS_AT_MOST].tolist():
        yield from devices_of(situation, row)
