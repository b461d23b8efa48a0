"""The devices of a node on its card: a slot for each device, or a meter for a pool of many."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec
from django.utils.translation import gettext, ngettext

from schedviz.web.nodes.cards import Meter, More, block_id, percent
from schedviz.web.picture.device_use import DeviceState, Holders, PoolUse, is_partition
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.priority import Ranks
from schedviz.web.picture.records import NodeRecord
from schedviz.web.text import format as fmt
from simulator.objects.node import format_taint
from simulator.plugins.dynamic_resources.pool import Pool, PoolDevice

SLOTS_AT_MOST: Final = 16
"""Maximum number of slots of one pool: two lines of a card. A pool with more devices has a meter."""
POOLS_AT_MOST: Final = 4
"""Maximum number of pools of one card. The number of other pools is shown."""
NUMBER: Final = re.compile(r"\d{1,3}$")


class DeviceSlot(msgspec.Struct, frozen=True):
    """A device. ``short``: the number at the end of its name. ``rank``: of the first pod that uses it.
    ``part``: it is a partition of another device."""

    state: DeviceState
    short: str
    claim: str
    rank: int
    words: str
    """The name, the state, who has the device, and its taints."""
    tainted: bool
    part: bool


class FreeDevices(msgspec.Struct, frozen=True):
    """The number of free devices, behind the slots."""

    free: int


class PoolRow(msgspec.Struct, frozen=True):
    """A pool on a card. ``label``: the driver's name before its first dot. ``meter``: in place of slots."""

    label: str
    name: str
    slots: Mapping[str, DeviceSlot | FreeDevices]
    """Id of the element -> device slot or free devices."""
    meter: Meter | None = None


def pool_rows(picture: Picture, ranks: Ranks, node: NodeRecord) -> tuple[list[PoolRow], More | None]:
    """Return the rows of the first pools of a node, and how many more pools there are."""
    pools = picture.devices.pools(node.name, node.labels)
    rows = [pool_row(picture, ranks, node.name, pool) for pool in pools[:POOLS_AT_MOST]]
    return rows, More(len(pools) - POOLS_AT_MOST) if len(pools) > POOLS_AT_MOST else None


def pool_row(picture: Picture, ranks: Ranks, node: str, pool: Pool) -> PoolRow:
    label = pool.driver.partition(".")[0]
    use = PoolUse(pool, picture.devices.holders)
    states = [use.state(device) for device in pool.devices]
    free = states.count("free") + states.count("shared")
    if len(states) > SLOTS_AT_MOST:
        return PoolRow(label, str(pool), {}, pool_meter(str(pool), len(states), free))
    slots: dict[str, DeviceSlot | FreeDevices] = {
        block_id(node, str(device.id)): device_slot(picture, ranks, pool, device, state)
        for device, state in zip(pool.devices, states, strict=True)
    }
    slots[block_id(node, str(pool))] = FreeDevices(free)
    return PoolRow(label, str(pool), slots)


def pool_meter(name: str, count: int, free: int) -> Meter:
    return Meter(
        resource=name,
        requested=str(count - free),
        allocatable=str(count),
        percent=percent(count - free, count),
        free=str(free),
        limits="",
        limit_percent=0,
        overcommitted=False,
    )


def device_slot(
    picture: Picture, ranks: Ranks, pool: Pool, device: PoolDevice, state: DeviceState
) -> DeviceSlot:
    name, holders = device.id.device, picture.devices.holders(device.id)
    number = NUMBER.search(name)
    pods = [pod for holder in holders for pod in holder.pods]
    first = picture.pods.get(pods[0]) if pods else None
    taints = [format_taint(*taint) for taint in device.device.taints]
    words = slot_words(name, state, holders)
    return DeviceSlot(
        state=state,
        short=number[0] if number else "",
        claim=holders[0].claim if holders else "",
        rank=ranks.rank(first.priority) if first else 0,
        words=f"{words} ⊘ {', '.join(taints)}" if taints else words,
        tainted=bool(taints),
        part=is_partition(pool, device.device),
    )


def slot_words(device: str, state: DeviceState, holders: Holders) -> str:
    names = {
        "device": device,
        "claim": fmt.first_pods([each.claim for each in holders]),
        "pods": fmt.first_pods([pod for each in holders for pod in each.pods]),
        "n": len(holders),
    }
    match state:
        case "free":
            return gettext("%(device)s: free") % names
        case "blocked":
            return gettext("%(device)s: not free, other devices have its counters") % names
        case "kept":
            return gettext("%(device)s: allocated to claim %(claim)s, which no pod uses") % names
        case "shared":
            text = ngettext(
                "%(device)s: %(n)s claim shares it (%(claim)s)",
                "%(device)s: %(n)s claims share it (%(claim)s)",
                len(holders),
            )
            return text % names
    return gettext("%(device)s: used by %(pods)s (claim %(claim)s)") % names
