"""Why one device was not taken for a request: a selector, another claim, or the capacity, the counter or the
toleration that lacks."""

from collections.abc import Mapping

import msgspec
from django.utils.translation import gettext

from schedviz.store.past import Readable
from schedviz.web.devices.devices import lacking_words, parsed_slices
from schedviz.web.picture.device_use import PoolUse, holders_of_devices, used_capacity
from schedviz.web.picture.node_pools import pools_of
from schedviz.web.text import format as fmt
from simulator.api import Manifest
from simulator.cluster.other_objects import OtherObjects
from simulator.objects.metadata import key_of, labels_of, name_of
from simulator.objects.node import format_taint
from simulator.objects.pod import Pod
from simulator.objects.quantity import Nanos, text_in_format_of
from simulator.objects.status import status_of
from simulator.plugins.dynamic_resources.allocator_rules import allocator_rules
from simulator.plugins.dynamic_resources.amounts import Amounts
from simulator.plugins.dynamic_resources.capacity import consumed_capacity, has_capacity
from simulator.plugins.dynamic_resources.device import Device
from simulator.plugins.dynamic_resources.device_selectors import (
    DEVICE_CLASSES,
    AllocationError,
    class_expressions,
    matches,
)
from simulator.plugins.dynamic_resources.device_taints import prevents_allocation
from simulator.plugins.dynamic_resources.extended_resources import GATE, ExtendedResources, serving_classes
from simulator.plugins.dynamic_resources.pool import Pool, PoolDevice
from simulator.plugins.dynamic_resources.resource_claim import (
    RESOURCE_CLAIMS,
    DeviceRequest,
    ResourceClaim,
)


class DeviceReason(msgspec.Struct, frozen=True):
    """The reason for which some devices were not taken. ``expression``: the selector that is false;
    ``claim``: the one that has them."""

    devices: str
    """The names of the devices; "" if the reason is not about single devices."""
    words: str
    expression: str = ""
    claim: str = ""
    is_excluded: bool = False
    """Whether the allocation mode All leaves such devices out."""


class PodDevices:
    """The claims of a pod, and who has which device."""

    def __init__(self, source: Readable, pod: Manifest, claims: list[ResourceClaim]) -> None:
        self.claims = claims
        features = source.meta().features()
        self._slices = parsed_slices(source)
        self.rules = allocator_rules(features)
        own = {claim.key for claim in self.claims}
        others = [each for each in source.list(RESOURCE_CLAIMS).items if key_of(each) not in own]
        self.holders = holders_of_devices(others)
        objects = OtherObjects()
        for each in source.list(DEVICE_CLASSES).items:
            objects.set_object(DEVICE_CLASSES, key_of(each), each)
        self.classes = class_expressions(objects)
        self.extended: ExtendedResources | None = None
        """The extended resources of the pod, if a class serves some."""
        if features.enabled(GATE):
            self.extended = ExtendedResources(Pod.parse(pod), serving_classes(objects), None)

    def pools_on(self, node: Manifest) -> tuple[Pool, ...]:
        return pools_of(self._slices, name_of(node), labels_of(node), self.rules)

    def claims_on(self, node: Manifest) -> list[ResourceClaim]:
        """Return the claims that a node must serve: also the one for extended resources that it lacks."""
        if self.extended is None:
            return self.claims
        allocatable = status_of(node).get("allocatable") or {}
        lacking = [bit for bit, name in enumerate(self.extended.served) if name not in allocatable]
        made = [self.extended.claim_for(sum(1 << bit for bit in lacking))] if lacking else []
        return [*self.claims, *made]


def obstacle(
    pod_devices: PodDevices, pool: Pool, use: PoolUse, found: PoolDevice, wanted: DeviceRequest
) -> DeviceReason | None:
    """Return the reason for which a device cannot be taken for a request; None if it can, as far as
    constraints and other requests allow it."""
    return _selection(pod_devices, found, wanted) or _lack(pod_devices, pool, use, found, wanted)


def _selection(pod_devices: PodDevices, device: PoolDevice, wanted: DeviceRequest) -> DeviceReason | None:
    """Return why a device does not count for a request, or who has it."""
    of_class = pod_devices.classes.get(wanted.device_class, ())
    for words, expressions in (
        (gettext("the class has a selector that is false:"), of_class),
        (gettext("the claim has a selector that is false:"), wanted.selectors),
    ):
        for expression in expressions:
            selectors = (("", (expression or "",)),)
            try:
                selected = matches(device.device.value, selectors, lists=pod_devices.rules.list_attributes)
            except AllocationError as error:
                return DeviceReason("", str(error).removeprefix(": "))
            if not selected:
                return DeviceReason("", words, expression or "", is_excluded=True)
    if not device.here:
        return DeviceReason("", gettext("can be used on other nodes only"), is_excluded=True)
    if not pod_devices.rules.allocates(device.device):
        return DeviceReason("", gettext("needs a feature gate that is off"))
    holders = () if wanted.admin_access else pod_devices.holders.get(device.id, ())
    if not holders or pod_devices.rules.shares(device.device):
        return None
    pods = [pod for holder in holders for pod in holder.pods]
    if not pods:
        return DeviceReason("", gettext("allocated to a claim that no pod uses"), claim=holders[0].claim)
    text = gettext("used by %(pods)s") % {"pods": fmt.first_pods(pods)}
    return DeviceReason("", text, claim=holders[0].claim)


def _lack(
    pod_devices: PodDevices, pool: Pool, use: PoolUse, found: PoolDevice, wanted: DeviceRequest
) -> DeviceReason | None:
    """Return the capacity or the counter that a device lacks, or the taints that a request does not
    tolerate."""
    device, rules, holders = found.device, pod_devices.rules, pod_devices.holders.get(found.id, ())
    requested = wanted.capacity or ()
    used = used_capacity(holders) if rules.shares(device) else {}
    if rules.consumable_capacity and not has_capacity(device, requested, used, {}):
        return DeviceReason("", _capacity_words(device, requested, used), is_excluded=True)
    is_shared_already = rules.shares(device) and any(each.consumed for each in holders)
    if not is_shared_already and use.lacking(device):
        return DeviceReason("", lacking_words(pool, use, device))
    if rules.device_taints and prevents_allocation(device.taints, wanted.tolerations):
        taints = [each for each in device.taints if prevents_allocation((each,), wanted.tolerations)]
        text = gettext("has a taint that the request does not tolerate: %(taints)s")
        return DeviceReason("", text % {"taints": ", ".join(format_taint(*each) for each in taints)})
    return None


def _capacity_words(device: Device, requested: Amounts, used: Mapping[str, Nanos]) -> str:
    """Return which capacity a device lacks for a request."""
    capacities = dict(device.capacity)
    for name, _ in requested:
        if name not in capacities:
            return gettext("has no capacity %(name)s") % {"name": name}
    for name, amount in consumed_capacity(device, requested).items():
        total = capacities[name].value
        left = total.nanos - used.get(name, 0)
        if amount.nanos > left:
            text = gettext("capacity %(name)s: needs %(needs)s, %(left)s of %(total)s is left")
            left_text = text_in_format_of(left, total.text)
            return text % {"name": name, "needs": amount.text, "left": left_text, "total": total.text}
    return gettext("its requestPolicy does not allow the requested capacity")
