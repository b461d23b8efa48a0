"""Proposals to free a device that another claim has, or to add one to a node."""

from collections.abc import Iterator
from string import digits
from typing import Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.resources import PODS
from simulator.objects.pod import Pod
from simulator.plugins.dynamic_resources.allocated_devices import devices_in_use
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES
from simulator.plugins.dynamic_resources.pool import PoolDevice
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS, DeviceID
from simulator.what_if.edit import Edit, create_object, delete_object, mutable_copy, update_object
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.pod_claims import (
    PLUGIN,
    ClaimPart,
    can_take,
    claim_parts,
    claims_without_pod,
    devices_of,
    listed_devices,
    pod_claim_keys,
)
from simulator.what_if.proposal import Proposal, Proposals
from simulator.what_if.situation import Situation

ADDED_AT_MOST: Final = 128
"""Maximum number of devices of a slice (ResourceSliceMaxDevices)."""


# Devices in use


class _Holder(NamedTuple):
    """A claim that has devices which the pending pod could take. Sorted as they are tried: unused claims
    first, then those of less important pods."""

    used: bool
    priority: int
    key: str
    claim: Manifest
    pod: Pod | None
    devices: list[DeviceID]


def propose_device_releases(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose to delete a claim that no pod uses, or the only pod that uses a claim, which is then
    deallocated."""
    for place, holder in enumerate(sorted(_holders(situation, obstacles), key=lambda each: each[:3])):
        what = listed_devices(holder.devices)
        measure = min(0.49, 0.001 * place)
        if holder.pod is None:
            edits = [delete_object(RESOURCE_CLAIMS, holder.key)]
            yield Proposal("delete-claim", holder.key, what, holder.key, "", edits.copy, measure)
            continue
        more_important = holder.pod.priority > situation.pod.priority
        edits = [delete_object(PODS.id, holder.pod.key)]
        yield Proposal(
            "free-device",
            holder.pod.key,
            what,
            holder.key,
            str(holder.pod.priority),
            edits.copy,
            measure + (0.5 if more_important else 0),
            follows=[*claims_without_pod(situation, holder.pod)],
        )


def _holders(situation: Situation, obstacles: Obstacles) -> Iterator[_Holder]:
    wanted = _wanted_devices(situation, obstacles)
    own = {*pod_claim_keys(situation)} if len(obstacles.only(PLUGIN)) else set()
    pods = situation.cluster.pods
    for key, claim in situation.cluster.objects(RESOURCE_CLAIMS).items():
        status = claim.get("status") or {}
        devices = [each for each in devices_in_use(status.get("allocation")) if each in wanted]
        consumers = status.get("reservedFor") or []
        if key in own:
            devices = [*devices_in_use(status.get("allocation"))]
        if not devices or len(consumers) > 1 or claim["metadata"].get("deletionTimestamp"):
            continue
        if not consumers:
            yield _Holder(False, 0, key, claim, None, devices)
            continue
        if consumers[0].get("uid") == situation.pod.uid:
            continue
        name = f"{key.rpartition('/')[0]}/{consumers[0]['name']}"
        pod = pods.get(name)
        if pod is not None and not pod.terminating:
            yield _Holder(True, pod.priority, key, claim, pod, devices)


def _wanted_devices(situation: Situation, obstacles: Obstacles) -> set[DeviceID]:
    """Return the devices that one of the pod's requests could take, were they free, on nodes that have no
    other obstacle."""
    parts = [*claim_parts(situation)]
    return {
        device.id
        for row in obstacles.only(PLUGIN).tolist()
        for device in devices_of(situation, row)
        if any(can_take(situation, part, device) for part in parts)
    }


# Further devices


def propose_devices(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose one more device on a node, like one that a request can take."""
    rows = obstacles.only(PLUGIN).tolist()
    for part in claim_parts(situation):
        pattern = _pattern(situation, rows, part)
        if pattern is None:
            continue
        for row in rows:
            edit = _edit_for_device(situation, row, pattern)
            if edit is not None:
                node = situation.cluster.node(row).name
                yield Proposal(
                    "device",
                    node,
                    f"{pattern.id.pool}/{pattern.id.device}",
                    "",
                    part.request.device_class,
                    [edit].copy,
                )


def _pattern(situation: Situation, rows: list[int], part: ClaimPart) -> PoolDevice | None:
    others = situation.cluster.order().tolist()
    return next(
        (
            device
            for row in (*rows, *others)
            for device in devices_of(situation, row)
            if can_take(situation, part, device)
        ),
        None,
    )


def _edit_for_device(situation: Situation, row: int, pattern: PoolDevice) -> Edit | None:
    """Return a new device in the slice of a node, or a slice with it for a node that has none of this
    driver."""
    slices = situation.cluster.objects(RESOURCE_SLICES)
    like = next((each for each in slices.values() if each["metadata"]["name"] == pattern.slice.name), None)
    if like is None:
        return None
    device = next(each for each in like["spec"]["devices"] if each["name"] == pattern.id.device)
    node = situation.cluster.node(row).name
    own = [
        each
        for each in slices.values()
        if each["spec"].get("nodeName") == node and each["spec"]["driver"] == pattern.id.driver
    ]
    if own:
        manifest = max(own, key=lambda each: each["spec"]["pool"].get("generation") or 0)
        return _with_device(manifest, own, device)
    name = f"{node}-{pattern.id.driver}"
    if name in slices:
        return None
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": pattern.id.driver, "nodeName": node, "pool": pool, "devices": [mutable_copy(device)]}
    made = {
        "apiVersion": like.get("apiVersion", "resource.k8s.io/v1"),
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": spec,
    }
    return create_object(RESOURCE_SLICES, name, made)


def _with_device(manifest: Manifest, own: list[Manifest], device: Manifest) -> Edit | None:
    devices = manifest["spec"].get("devices") or []
    if len(devices) >= ADDED_AT_MOST:
        return None
    taken = {each["name"] for of in own for each in of["spec"].get("devices") or ()}
    new = mutable_copy(manifest)
    added = mutable_copy(device)
    added["name"] = _unused_name(device["name"], taken)
    new["spec"]["devices"] = [*devices, added]
    name = manifest["metadata"]["name"]
    return update_object(RESOURCE_SLICES, name, manifest, new)


def _unused_name(like: str, taken: set[str]) -> str:
    """Return the first free name: ``gpu-0`` -> the first of ``gpu-0``, ``gpu-1``, ... that is free."""
    base = like.rstrip(digits).removesuffix("-") or "device"
    number = 0
    while f"{base}-{number}" in taken:
        number += 1
    return f"{base}-{number}"
