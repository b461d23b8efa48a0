"""The reasons for which a node could not allocate the claims of a pod: what each of its devices lacks. The
scheduler only says "cannot allocate all claims"; this is computed from the cluster when the cycle is
shown."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

import msgspec
from django.utils.translation import gettext, ngettext

from schedviz.store.past import Readable
from schedviz.web.devices.obstacle import DeviceReason, PodDevices, obstacle
from schedviz.web.picture.device_use import (
    PoolUse,
    pods_of_claim,
)
from schedviz.web.picture.picture import NODES, PODS
from schedviz.web.text import format as fmt
from simulator.api import Manifest
from simulator.decision import Decision
from simulator.objects.pod import Pod
from simulator.objects.status import status_of
from simulator.plugins.dynamic_resources.device_constraints import attribute_value
from simulator.plugins.dynamic_resources.device_selectors import (
    ClaimError,
)
from simulator.plugins.dynamic_resources.filter_search import CANNOT_ALLOCATE, INVALID_POOLS
from simulator.plugins.dynamic_resources.pod_claims import claim_name
from simulator.plugins.dynamic_resources.pool import Pool, PoolDevice
from simulator.plugins.dynamic_resources.resource_claim import (
    RESOURCE_CLAIMS,
    ClaimRequest,
    DeviceRequest,
    ResourceClaim,
    parse_claim,
)

PLUGIN: Final = "DynamicResources"
REASONS: Final = ([*CANNOT_ALLOCATE.reasons], [*INVALID_POOLS.reasons])
NODES_AT_MOST: Final = 12
"""Maximum number of nodes of a cycle that are explained."""
NAMES_AT_MOST: Final = 4
"""Maximum number of devices that are named in one reason."""


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


def device_reasons(source: Readable, decision: Decision) -> list[NodeReasons]:
    """Return the reasons of the first nodes that could not serve the claims. source: the cluster as it was
    when the cycle ended; a claim that the cycle itself allocated counts as not allocated."""
    rejected = [*rejected_nodes(decision)][:NODES_AT_MOST]
    pod = source.get(PODS, decision.pod) if rejected else None
    if pod is None:
        return []
    pod_devices = PodDevices(source, pod, [*_claims_to_allocate(source, decision, pod)])
    found = []
    for name in rejected:
        node = source.get(NODES, name)
        if node is not None:
            requests = _node_requests(pod_devices, pod_devices.claims_on(node), pod_devices.pools_on(node))
            found.append(NodeReasons(name, 0, requests))
    return [*_grouped([each for each in found if each.requests])]


def rejected_nodes(decision: Decision) -> Iterator[str]:
    """Yield the nodes that could not serve the claims."""
    codes = {
        place
        for place, failure in enumerate(decision.failures, 1)
        if failure.plugin == PLUGIN and failure.reasons in REASONS
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


class _Devices(NamedTuple):
    """The devices of a node, each with the use of its pool, and the pools that cannot be used."""

    devices: list[tuple[PoolDevice, Pool, PoolUse]]
    faults: list[DeviceReason]


def _node_requests(
    pod_devices: PodDevices, claims: Sequence[ResourceClaim], pools: Sequence[Pool]
) -> list[RequestReasons]:
    uses = [(pool, PoolUse(pool, lambda device: pod_devices.holders.get(device, ()))) for pool in pools]
    devices = [(device, pool, use) for pool, use in uses for device in pool.devices]
    node = _Devices(devices, [*_faults(pools)])
    found = [
        _request(pod_devices, node, claim, request, alternative)
        for claim in claims
        for request in claim.requests
        for alternative in request.alternatives
    ]
    if found and not any(each.short for each in found):
        text = gettext(
            "Each device was looked at alone. Not as many of them can be taken together, or they were being "
            "allocated to another pod."
        )
        found[-1] = msgspec.structs.replace(found[-1], reasons=[*found[-1].reasons, DeviceReason("", text)])
    return found


def _faults(pools: Sequence[Pool]) -> Iterator[DeviceReason]:
    for pool in pools:
        if pool.invalid:
            text = gettext("The pool %(pool)s is invalid: %(reason)s")
            yield DeviceReason("", text % {"pool": pool, "reason": pool.invalid})
        elif pool.incomplete:
            yield DeviceReason("", gettext("The pool %(pool)s is incomplete.") % {"pool": pool})


def _request(
    pod_devices: PodDevices,
    node: _Devices,
    claim: ResourceClaim,
    request: ClaimRequest,
    alternative: DeviceRequest,
) -> RequestReasons:
    reasons: dict[DeviceReason, list[str]] = {}
    free = []
    for device, pool, use in node.devices:
        reason = obstacle(pod_devices, pool, use, device, alternative)
        if reason is None:
            free.append(device)
        else:
            reasons.setdefault(reason, []).append(device.id.device)
    listed = [
        msgspec.structs.replace(reason, devices=fmt.first_pods(names, NAMES_AT_MOST))
        for reason, names in reasons.items()
    ]
    unsatisfied = [*_constraints(claim, request, alternative, free)]
    if not node.devices and not node.faults:
        listed = [DeviceReason("", gettext("The node has no devices."))]
    if alternative.mode == "All":
        is_short = not free or any(not each.is_excluded for each in listed)
    else:
        is_short = len(free) < alternative.number
    return RequestReasons(
        request=request.result_name(alternative),
        words=_need(alternative, len(free)),
        reasons=[*listed, *node.faults, *unsatisfied],
        short=bool(unsatisfied) or is_short,
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
