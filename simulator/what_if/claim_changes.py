"""Proposals to change the pending pod's resource claims: fewer devices, without a selector or a constraint;
to create what is missing; and to drop a claim."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from simulator.api import Manifest
from simulator.plugins.dynamic_resources.device_selectors import (
    DEVICE_CLASSES,
    AllocationError,
    device_classes,
    is_selectable,
)
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES
from simulator.plugins.dynamic_resources.pool import PoolDevice
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS, DeviceID
from simulator.what_if.edit import Edit, create_object, mutable_copy, recreate_object, update_object
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.pod_claims import (
    PLUGIN,
    ClaimPart,
    claim_parts,
    devices_of,
    listed_devices,
    unallocated_claims,
)
from simulator.what_if.proposal import Proposal, Proposals, pod_proposal
from simulator.what_if.situation import Situation

API = "resource.k8s.io/v1"
CREATED_AT_MOST = 8
"""Maximum number of classes, or drivers, for which a missing object is proposed."""


# What is missing


def propose_missing_claims(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose to create a claim that the pod names, for one device of each class. A claim from a template is
    created by a controller, when there is the template."""
    claims = situation.cluster.objects(RESOURCE_CLAIMS)
    for reference in situation.pod.spec.get("resourceClaims") or ():
        name = reference.get("resourceClaimName")
        key = f"{situation.pod.namespace}/{name}"
        if not name or key in claims:
            continue
        for device_class in sorted(device_classes(situation.cluster))[:CREATED_AT_MOST]:
            request = {"name": "device", "exactly": {"deviceClassName": device_class, **ONE_DEVICE}}
            manifest = {
                "apiVersion": API,
                "kind": "ResourceClaim",
                "metadata": {"name": name, "namespace": situation.pod.namespace},
                "spec": {"devices": {"requests": [request]}},
            }
            made = create_object(RESOURCE_CLAIMS, key, manifest)
            yield Proposal("claim", key, device_class, "", device_class, partial(list, [made]))


ONE_DEVICE = {"allocationMode": "ExactCount", "count": 1}


def propose_missing_classes(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose to create a DeviceClass that a request names, for all devices of a driver."""
    slices = situation.cluster.objects(RESOURCE_SLICES).values()
    drivers = sorted({manifest["spec"]["driver"] for manifest in slices})[:CREATED_AT_MOST]
    known = device_classes(situation.cluster)
    missing = dict.fromkeys(part.request.device_class for part in claim_parts(situation))
    for name in missing:
        for driver in drivers if name and name not in known else ():
            selector = {"cel": {"expression": f'device.driver == "{driver}"'}}
            manifest = {
                "apiVersion": API,
                "kind": "DeviceClass",
                "metadata": {"name": name},
                "spec": {"selectors": [selector]},
            }
            made = create_object(DEVICE_CLASSES, name, manifest)
            yield Proposal("device-class", name, driver, "", driver, partial(list, [made]))


# Fewer demands


def propose_counts(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose for each request the largest number of devices with which the pod fits."""
    for part in claim_parts(situation):
        wanted = part.request.number
        if part.request.mode != "ExactCount":
            continue
        for number in range(min(wanted - 1, COUNT_AT_MOST), 0, -1):
            made = claim_proposal(
                part, "claim-count", part.name, _setter(part, "count", number), before=str(wanted)
            )
            measure = 0.999 * (wanted - number) / wanted
            if (yield made._replace(after=str(number), measure=measure)):
                break


COUNT_AT_MOST = 32
"""The maximum number of devices that a claim can have."""


def propose_relaxed_claims(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose to remove one selector of a request or of its class, or one constraint."""
    devices = [
        device
        for row in obstacles.only(PLUGIN)[:ROWS_AT_MOST].tolist()
        for device in devices_of(situation, row)
    ]
    for part in claim_parts(situation):
        for index, expression in enumerate(part.request.selectors):
            remove = _remover(part, index)
            refused = listed_devices(_refused(expression or "", devices))
            made = claim_proposal(part, "claim-selector", expression or "", remove, before=refused)
            yield made._replace(within=part.name)
    for name in dict.fromkeys(part.request.device_class for part in claim_parts(situation)):
        yield from _class_proposals(situation, name, devices)
    for key, claim in unallocated_claims(situation):
        for index, constraint in enumerate(claim["spec"]["devices"].get("constraints") or ()):
            attribute = constraint.get("matchAttribute") or constraint.get("distinctAttribute") or ""

            def drop(new: Manifest, index: int = index) -> None:
                _remove_item(new["spec"]["devices"], "constraints", index)

            make = partial(_edits_of_claim, key, claim, drop)
            about = ", ".join(constraint.get("requests") or ())
            yield Proposal("claim-constraint", key, attribute, attribute, "", make, within=about)


ROWS_AT_MOST = 500
"""Maximum number of nodes whose devices are looked at for the words of a proposal."""


def _class_proposals(situation: Situation, name: str, devices: list[PoolDevice]) -> Iterator[Proposal]:
    manifest = device_classes(situation.cluster).get(name)
    if manifest is None:
        return
    for index, selector in enumerate((manifest.get("spec") or {}).get("selectors") or ()):
        expression = (selector.get("cel") or {}).get("expression") or ""
        new = mutable_copy(manifest)
        _remove_item(new["spec"], "selectors", index)
        made = update_object(DEVICE_CLASSES, name, manifest, new)
        refused = listed_devices(_refused(expression, devices))
        yield Proposal("class-selector", name, expression, refused, "", partial(list, [made]))


def _refused(expression: str, devices: list[PoolDevice]) -> list[DeviceID]:
    """Return the devices for which a selector is not true."""
    found = []
    for device in devices:
        try:
            if not is_selectable(device, (("", (expression,)),)):
                found.append(device.id)
        except AllocationError:
            found.append(device.id)
    return found


def propose_claim_removals(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose to remove one claim from the pod. This shows which claim is the obstacle."""
    for i, reference in enumerate(situation.pod.spec.get("resourceClaims") or ()):
        name = reference["name"]

        def drop(new: Manifest, i: int = i, name: str = name) -> None:
            spec = new["spec"]
            _remove_item(spec, "resourceClaims", i)
            for container in (*spec["containers"], *(spec.get("initContainers") or ())):
                resources = container.get("resources") or {}
                if resources.get("claims"):
                    resources["claims"] = [each for each in resources["claims"] if each["name"] != name]

        yield pod_proposal(situation, "drop-claim", name, drop, before=name)


# Edits of claims


def claim_proposal(
    part: ClaimPart,
    kind: Any,
    what: str,
    change: Callable[[Manifest], None],
    *,
    before: str,
) -> Proposal:
    make = partial(_edits_of_claim, part.key, part.claim, change)
    return Proposal(kind, part.key, what, before, "", make)


def _edits_of_claim(key: str, claim: Manifest, change: Callable[[Manifest], None]) -> list[Edit]:
    """Return the edits that change a claim: it is created again, as its spec cannot be updated."""
    new = mutable_copy(claim)
    change(new)
    return [recreate_object(RESOURCE_CLAIMS, key, claim, new)]


def _setter(part: ClaimPart, field: str, value: object) -> Callable[[Manifest], None]:
    def change(new: Manifest) -> None:
        part_of(part, new)[field] = value

    return change


def _remover(part: ClaimPart, index: int) -> Callable[[Manifest], None]:
    def change(new: Manifest) -> None:
        _remove_item(part_of(part, new), "selectors", index)

    return change


def part_of(part: ClaimPart, manifest: Manifest) -> Manifest:
    """Return the part of its claim's manifest."""
    found: Any = manifest
    for step in part.path:
        found = found[step]
    assert isinstance(found, dict)
    return found


def _remove_item(holder: Manifest, field: str, index: int) -> None:
    """Remove an item of a list, and the list if it is then empty."""
    holder[field] = [each for i, each in enumerate(holder[field]) if i != index]
    if not holder[field]:
        del holder[field]
