"""The reasons for which a node could not allocate the claims of a pod: what each of its devices lacks. The
scheduler only says "cannot allocate all claims"; this is computed from the cluster when the cycle is
shown."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

import msgspec
from django.utils.translation import gettext, ngettext

from schedviz.store.past import Readable
from schedviz.web.devices.devices import pools_seen_by
from schedviz.web.picture.device_index import Holder, pods_of_claim
from schedviz.web.picture.picture import NODES, PODS
from schedviz.web.text import format as fmt
from simulator.api import Manifest
from simulator.decision import Decision
from simulator.objects.pod import Pod
from simulator.objects.status import status_of
from simulator.plugins.dynamic_resources.allocated_devices import devices_in_use
from simulator.plugins.dynamic_resources.device_constraints import attribute_value
from simulator.plugins.dynamic_resources.device_selectors import (
    DEVICE_CLASSES,
    AllocationError,
    ClaimError,
    is_selectable,
)
from simulator.plugins.dynamic_resources.filter_search import CANNOT_ALLOCATE
from simulator.plugins.dynamic_resources.pod_claims import claim_name
from simulator.plugins.dynamic_resources.pool import PoolDevice
from simulator.plugins.dynamic_resources.resource_claim import (
    RESOURCE_CLAIMS,
    ClaimRequest,
    DeviceID,
    DeviceRequest,
    ResourceClaim,
    parse_claim,
    selector_expressions,
)

PLUGIN: Final = "DynamicResources"
NODES_AT_MOST: Final = 12
"""Maximum number of nodes of a cycle that are explained."""
NAMES_AT_MOST: Final = 4
"""Maximum number of devices that are named in one reason."""


class DeviceReason(msgspec.Struct, frozen=True):
    """The reason for which some devices were not taken. ``expression``: the selector that is false;
    ``claim``: the one that has them."""

    devices: str
    """The names of the devices; "" if the reason is not about single devices."""
    words: str
    expression: str = ""
    claim: str = ""


class RequestReasons(msgspec.Struct, frozen=True):
    """A request, or one of its alternatives, on one node."""

    request: str
    words: str
    """The number of devices that the request needs, and of those that it could take."""
    reasons: list[DeviceReason]
    short: bool
    """Whether the reasons are enough for the node to be rejected."""


class NodeReasons(msgspec.Struct, frozen=True):
    """The reasons of one or several nodes; of several, ``node`` is the first."""

    node: str
    others: int
    requests: list[RequestReasons]


class _Situation:
    """The claims of a pod, and who has which device."""

    def __init__(self, source: Readable, decision: Decision, pod: Manifest) -> None:
        self.claims = [*_claims_to_allocate(source, decision, pod)]
        own = {claim.key for claim in self.claims}
        self.holders: dict[DeviceID, Holder] = {}
        for manifest in source.list(RESOURCE_CLAIMS).items:
            claim = parse_claim(manifest)
            if claim.key not in own:
                holder = Holder(claim.key, pods_of_claim(manifest))
                self.holders.update(dict.fromkeys(devices_in_use(claim.allocation), holder))
        self.classes = {
            each["metadata"]["name"]: tuple(selector_expressions(each.get("spec") or {}))
            for each in source.list(DEVICE_CLASSES).items
        }


def device_reasons(source: Readable, decision: Decision) -> list[NodeReasons]:
    """Return the reasons of the first nodes that could not serve the claims. source: the cluster as it was
    when the cycle ended; a claim that the cycle itself allocated counts as not allocated."""
    rejected = [*rejected_nodes(decision)][:NODES_AT_MOST]
    pod = source.get(PODS, decision.pod) if rejected else None
    if pod is None:
        return []
    situation = _Situation(source, decision, pod)
    if not situation.claims:
        return []
    found = []
    for name in rejected:
        node = source.get(NODES, name)
        if node is not None:
            devices = [device for pool in pools_seen_by(source, node) for device in pool.devices]
            found.append(NodeReasons(name, 0, _node_requests(situation, devices)))
    return [*_grouped(found)]


def rejected_nodes(decision: Decision) -> Iterator[str]:
    """Yield the nodes that could not serve the claims."""
    codes = {
        place
        for place, failure in enumerate(decision.failures, 1)
        if failure.plugin == PLUGIN and failure.reasons == [*CANNOT_ALLOCATE.reasons]
    }
    if codes:
        for node, code in zip(decision.nodes, decision.verdicts, strict=True):
            if code in codes:
                yield node


def _grouped(found: Sequence[NodeReasons]) -> Iterator[NodeReasons]:
    """Yield one entry for nodes with equal reasons that follow each other."""
    for _, group in groupby(found, key=lambda each: each.requests):
        first, *rest = group
        yield msgspec.structs.replace(first, others=len(rest))


def _claims_to_allocate(source: Readable, decision: Decision, manifest: Manifest) -> Iterator[ResourceClaim]:
    pod = Pod.parse(manifest)
    for reference in manifest["spec"].get("resourceClaims") or ():
        try:
            name = claim_name(pod, reference)
        except ClaimError:
            continue
        found = source.get(RESOURCE_CLAIMS, f"{pod.namespace}/{name}") if name else None
        if found is None:
            continue
        by_cycle = decision.outcome == "scheduled" and pods_of_claim(found) == (pod.key,)
        if status_of(found).get("allocation") is None or by_cycle:
            yield parse_claim(found)


def _node_requests(situation: _Situation, devices: Sequence[PoolDevice]) -> list[RequestReasons]:
    found = [*_requests(situation, devices)]
    if found and not any(each.short for each in found):
        text = gettext(
            "Each request alone could be served, but not all of them together; or the devices were being "
            "allocated to another pod."
        )
        found[-1] = msgspec.structs.replace(found[-1], reasons=[*found[-1].reasons, DeviceReason("", text)])
    return found


def _requests(situation: _Situation, devices: Sequence[PoolDevice]) -> Iterator[RequestReasons]:
    for claim in situation.claims:
        for request in claim.requests:
            for alternative in request.alternatives:
                yield _request(situation, devices, claim, request, alternative)


def _request(
    situation: _Situation,
    devices: Sequence[PoolDevice],
    claim: ResourceClaim,
    request: ClaimRequest,
    alternative: DeviceRequest,
) -> RequestReasons:
    reasons: dict[DeviceReason, list[str]] = {}
    free = []
    for device in devices:
        reason = _reason(situation, device, alternative)
        if reason is None:
            free.append(device)
        else:
            reasons.setdefault(reason, []).append(device.id.device)
    listed = [
        msgspec.structs.replace(reason, devices=fmt.first_pods(names, NAMES_AT_MOST))
        for reason, names in reasons.items()
    ]
    unsatisfied = [*_constraints(claim, request, alternative, free)]
    if not devices:
        listed = [DeviceReason("", gettext("The node has no devices."))]
    every = alternative.mode == "All"
    return RequestReasons(
        request=request.result_name(alternative),
        words=_need(alternative, len(free)),
        reasons=[*listed, *unsatisfied],
        short=bool(unsatisfied) or (bool(listed) if every else len(free) < alternative.number),
    )


def _need(alternative: DeviceRequest, free: int) -> str:
    if alternative.mode == "All":
        return gettext("needs all devices of class %(name)s") % {"name": alternative.device_class}
    text = ngettext(
        "needs %(n)s device of class %(name)s, %(free)s can be taken",
        "needs %(n)s devices of class %(name)s, %(free)s can be taken",
        alternative.number,
    )
    return text % {"n": alternative.number, "name": alternative.device_class, "free": free}


def _reason(situation: _Situation, device: PoolDevice, wanted: DeviceRequest) -> DeviceReason | None:
    """Return the reason for which a device cannot be taken for a request; None if it can, as far as
    constraints allow it."""
    of_class = situation.classes.get(wanted.device_class, ())
    for words, expressions in (
        (gettext("the class has a selector that is false:"), of_class),
        (gettext("the claim has a selector that is false:"), wanted.selectors),
    ):
        for expression in expressions:
            try:
                selected = is_selectable(device, (("", (expression or "",)),))
            except AllocationError as error:
                return DeviceReason("", str(error).removeprefix(": "))
            if not selected:
                return DeviceReason("", words, expression or "")
    holder = None if wanted.admin_access else situation.holders.get(device.id)
    if holder is None:
        return None
    if not holder.pods:
        return DeviceReason("", gettext("allocated to a claim that no pod uses"), claim=holder.claim)
    return DeviceReason(
        "", gettext("used by %(pods)s") % {"pods": fmt.first_pods(holder.pods)}, "", holder.claim
    )


def _constraints(
    claim: ResourceClaim, request: ClaimRequest, wanted: DeviceRequest, free: Sequence[PoolDevice]
) -> Iterator[DeviceReason]:
    """Yield the constraints that the devices which can be taken do not satisfy, as far as one request shows
    it."""
    for constraint in claim.constraints:
        attribute = constraint.match_attribute or constraint.distinct_attribute
        if not constraint.applies_to(request, wanted) or len(free) < wanted.number:
            continue
        values = _count_values(attribute, free)
        if constraint.match_attribute and max(values.values(), default=0) < wanted.number:
            text = gettext("Constraint matchAttribute %(name)s: at most %(n)s of them have the same value.")
            yield DeviceReason("", text % {"name": attribute, "n": max(values.values(), default=0)})
        elif not constraint.match_attribute and len(values) < wanted.number:
            text = gettext("Constraint distinctAttribute %(name)s: they have only %(n)s different values.")
            yield DeviceReason("", text % {"name": attribute, "n": len(values)})


def _count_values(attribute: str, devices: Sequence[PoolDevice]) -> Mapping[object, int]:
    """Return the number of devices with each value; without those that lack the attribute."""
    counts: dict[object, int] = {}
    for device in devices:
        value = attribute_value(device, attribute)
        if value is not None:
            counts[value] = counts.get(value, 0) + 1
    return counts
