"""Devices and resource claims in the panels of nodes and pods."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
from django.utils.translation import gettext

from schedviz.store.past import Readable
from schedviz.web.devices.bars import Bar, capacity_bars, counter_bars
from schedviz.web.picture.device_use import (
    DeviceState,
    Holders,
    PoolUse,
    holders_of_devices,
    is_partition,
    pods_of_claim,
)
from schedviz.web.picture.node_pools import pools_of
from simulator.api import Manifest
from simulator.objects.metadata import labels_of, name_of, namespace_of
from simulator.objects.node import format_taint
from simulator.objects.pod import Pod
from simulator.objects.quantity import text_in_format_of
from simulator.objects.status import status_of
from simulator.plugins.dynamic_resources.allocator_rules import allocator_rules
from simulator.plugins.dynamic_resources.amounts import Amounts
from simulator.plugins.dynamic_resources.binding_conditions import conditions_of_device
from simulator.plugins.dynamic_resources.device import Device, DeviceCapacity
from simulator.plugins.dynamic_resources.device_selectors import ClaimError
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES
from simulator.plugins.dynamic_resources.pod_claims import claim_name
from simulator.plugins.dynamic_resources.pool import Pool, PoolDevice
from simulator.plugins.dynamic_resources.resource_claim import (
    RESOURCE_CLAIMS,
    DeviceID,
    DeviceRequest,
    parse_claim,
)
from simulator.plugins.dynamic_resources.resource_slice import ResourceSlice, parse_slice

DEVICES_AT_MOST: Final = 64
"""The maximum number of devices of a node that its panel shows."""


class UserView(msgspec.Struct, frozen=True):
    """A claim that has a device, the pods that use it, and what it consumes of a shared device."""

    claim: str
    pods: list[str]
    consumed: str


class DeviceView(msgspec.Struct, frozen=True):
    name: str
    attributes: list[str]
    """The attributes, and the capacity of a device that is not shared: ``model a100``; of a partition those
    that its device has not."""
    state: DeviceState
    part: bool
    """Whether it is a partition of another device."""
    taints: list[str]
    attached_first: str
    """The conditions for which a pod with the device waits before it is bound."""
    lacks: str
    """What is left of the counter that blocks the device, and what it needs."""
    bars: list[Bar]
    """What is consumed of the capacity of a shared device."""
    users: list[UserView]


class DeviceGroup(msgspec.Struct, frozen=True):
    """Devices that consume one set of counters, with the counters; or those that consume none."""

    counters: str
    bars: list[Bar]
    devices: list[DeviceView]


class PoolView(msgspec.Struct, frozen=True):
    name: str
    """The driver and the pool."""
    free: int
    count: int
    incomplete: bool
    invalid: str
    """The reason for which none of its devices is allocated."""
    groups: list[DeviceGroup]
    more: int
    """The number of devices that are not shown."""


class ClaimView(msgspec.Struct, frozen=True):
    entry: str
    """The name in the pod's spec."""
    key: str
    """The key of the claim; "" if there is none."""
    template: str
    requests: list[str]
    """The requests of the claim: ``gpus: 2 of class gpu``."""
    devices: list[str]
    """The allocated devices: ``node-1/gpu-0``."""
    awaited: list[str]
    """The conditions of these devices that must be true before the pod is bound, and are not."""
    others: list[str]
    """The keys of other pods that use the claim."""
    problem: str
    """The reason for which the claim cannot be used."""


def pools_of_node(sandbox: Readable, node: Manifest) -> list[PoolView]:
    """Return the pools of devices of a node, as the allocator sees them."""
    rules = allocator_rules(sandbox.meta().features())
    pools = pools_of(parsed_slices(sandbox), name_of(node), labels_of(node), rules)
    if not pools:
        return []
    holders = holders_of_devices(sandbox.list(RESOURCE_CLAIMS).items)
    return [_pool_view(pool, holders) for pool in pools]


def parsed_slices(sandbox: Readable) -> list[ResourceSlice]:
    return [parse_slice(manifest) for manifest in sandbox.list(RESOURCE_SLICES).items]


def _results(claim: Manifest) -> list[Manifest]:
    allocation = status_of(claim).get("allocation") or {}
    found: list[Manifest] = (allocation.get("devices") or {}).get("results") or []
    return found


def _pool_view(pool: Pool, holders: Mapping[DeviceID, Holders]) -> PoolView:
    use = PoolUse(pool, lambda device: holders.get(device, ()))
    states = [use.state(device) for device in pool.devices]
    groups: dict[str, list[DeviceView]] = {}
    for device in pool.devices[:DEVICES_AT_MOST]:
        group = groups.setdefault(next((each.counter_set for each in device.device.consumes), ""), [])
        view = _device_view(pool, use, device, holders.get(device.id, ()))
        if view.part and group and not group[0].part:
            own = [each for each in view.attributes if each not in group[0].attributes]
            view = msgspec.structs.replace(view, attributes=own)
        group.append(view)
    return PoolView(
        name=str(pool),
        free=states.count("free") + states.count("shared"),
        count=len(states),
        incomplete=pool.incomplete,
        invalid=pool.invalid,
        groups=[
            DeviceGroup(counters, [*counter_bars(pool, use, counters)], devices)
            for counters, devices in groups.items()
        ],
        more=max(len(states) - DEVICES_AT_MOST, 0),
    )


def _device_view(pool: Pool, use: PoolUse, found: PoolDevice, holders: Holders) -> DeviceView:
    device, state = found.device, use.state(found)
    return DeviceView(
        name=device.name,
        attributes=[*_attributes(device.attributes, () if device.shareable else device.capacity)],
        state=state,
        part=is_partition(pool, device),
        taints=[format_taint(*each) for each in device.taints],
        attached_first=", ".join(device.binding_conditions),
        lacks=lacking_words(pool, use, device) if state == "blocked" else "",
        bars=capacity_bars(device, holders),
        users=[UserView(each.claim, [*each.pods], amounts_text(each.consumed)) for each in holders],
    )


def lacking_words(pool: Pool, use: PoolUse, device: Device) -> str:
    """Return of which counter a device needs more than is left; "" if of none."""
    lacking = use.lacking(device)
    if lacking is None:
        return ""
    (counters, counter), needs, left = lacking
    total = dict(pool.counter_sets[counters])[counter].text
    text = gettext("counter %(counter)s of %(counters)s: needs %(needs)s, %(left)s of %(total)s is left")
    return text % {
        "counter": counter,
        "counters": counters,
        "needs": text_in_format_of(needs, total),
        "left": text_in_format_of(left, total),
        "total": total,
    }


def amounts_text(amounts: Amounts) -> str:
    return " · ".join(f"{name} {each.text}" for name, each in amounts)


def _attributes(attributes: Manifest, capacity: Sequence[tuple[str, DeviceCapacity]]) -> Iterator[str]:
    for name, value in attributes.items():
        [shown] = value.values() if len(value) == 1 else ("",)
        items = shown if isinstance(shown, list) else [shown]
        texts = [str(each).lower() if isinstance(each, bool) else str(each) for each in items]
        yield f"{name} {', '.join(texts)}"
    for name, each in capacity:
        yield f"{name} {each.value.text}"


def _key(claim: Manifest) -> str:
    return f"{namespace_of(claim)}/{name_of(claim)}"


def claims_of_pod(sandbox: Readable, manifest: Manifest) -> list[ClaimView]:
    """Return the claims of a pod, in the order of its spec, and that for its extended resources."""
    references = [*(manifest["spec"].get("resourceClaims") or ())]
    extended = status_of(manifest).get("extendedResourceClaimStatus")
    if extended:
        name = gettext("extended resources")
        references.append({"name": name, "resourceClaimName": extended["resourceClaimName"]})
    if not references:
        return []
    pod = Pod.parse(manifest)
    return [_claim_view(sandbox, pod, reference) for reference in references]


def awaited_conditions(claim: Manifest, result: Manifest) -> list[str]:
    """Return the binding conditions of an allocated device that are not true."""
    conditions = conditions_of_device(claim, result) or {}
    names = result.get("bindingConditions") or ()
    return [name for name in names if (conditions.get(name) or {}).get("status") != "True"]


def _claim_view(sandbox: Readable, pod: Pod, reference: Manifest) -> ClaimView:
    template = reference.get("resourceClaimTemplateName") or ""
    problem, claim, key = "", None, ""
    try:
        name = claim_name(pod, reference)
        key = f"{pod.namespace}/{name}" if name else ""
        claim = sandbox.get(RESOURCE_CLAIMS, key) if name else None
        if name and claim is None:
            problem = f'could not find ResourceClaim "{key}"'
    except ClaimError as missing:
        problem = str(missing)
    if claim is None:
        return ClaimView(reference["name"], "", template, [], [], [], [], problem)
    results = _results(claim)
    return ClaimView(
        entry=reference["name"],
        key=key,
        template=template,
        requests=[*_requests(claim)],
        devices=[f"{each['pool']}/{each['device']}" for each in results],
        awaited=[
            *dict.fromkeys(name for each in _results(claim) for name in awaited_conditions(claim, each))
        ],
        others=[other for other in pods_of_claim(claim) if other != pod.key],
        problem=problem,
    )


def _requests(claim: Manifest) -> Iterator[str]:
    for request in parse_claim(claim).requests:
        yield f"{request.name}: {' | '.join(_amount(each) for each in request.alternatives)}"


def _amount(request: DeviceRequest) -> str:
    return f"{'all' if request.mode == 'All' else request.number} of class {request.device_class}"
