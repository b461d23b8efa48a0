"""The devices of a node on its card: a slot for each device, or a meter for a pool of many."""

import re
from collections.abc import Mapping
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext

from schedviz.web.nodes.cards import Meter, More, block_id, percent
from schedviz.web.picture.device_index import Holder
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.priority import Ranks
from schedviz.web.picture.records import NodeRecord
from schedviz.web.text import format as fmt
from simulator.plugins.dynamic_resources.pool import Pool, PoolDevice

SLOTS_AT_MOST: Final = 16
"""Maximum number of slots of one pool: two lines of a card. A pool with more devices has a meter."""
POOLS_AT_MOST: Final = 4
"""Maximum number of pools of one card. The number of other pools is shown."""
NUMBER: Final = re.compile(r"\d{1,3}$")

DeviceSlotState = Literal["free", "used", "kept"]
"""The states of a device. used: some pod uses the claim that has the device. kept: the claim is allocated,
and no pod uses it."""


class DeviceSlot(msgspec.Struct, frozen=True):
    """A device. ``short``: the number at the end of its name. ``rank``: of the first pod that uses it."""

    state: DeviceSlotState
    short: str
    claim: str
    rank: int
    words: str
    """The name, the state and who has the device."""


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
    holders = [picture.devices.holder(device.id) for device in pool.devices]
    if len(holders) > SLOTS_AT_MOST:
        return PoolRow(label, str(pool), {}, pool_meter(str(pool), len(holders), holders.count(None)))
    slots: dict[str, DeviceSlot | FreeDevices] = {
        block_id(node, str(device.id)): device_slot(picture, ranks, device, holder)
        for device, holder in zip(pool.devices, holders, strict=True)
    }
    slots[block_id(node, str(pool))] = FreeDevices(holders.count(None))
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


def device_slot(picture: Picture, ranks: Ranks, device: PoolDevice, holder: Holder | None) -> DeviceSlot:
    name = device.id.device
    number = NUMBER.search(name)
    pods = holder.pods if holder else ()
    first = picture.pods.get(pods[0]) if pods else None
    return DeviceSlot(
        state="free" if holder is None else "used" if pods else "kept",
        short=number[0] if number else "",
        claim=holder.claim if holder else "",
        rank=ranks.rank(first.priority) if first else 0,
        words=slot_words(name, holder),
    )


def slot_words(device: str, holder: Holder | None) -> str:
    if holder is None:
        return gettext("%(device)s: free") % {"device": device}
    claim = fmt.pod_name(holder.claim)
    if not holder.pods:
        text = gettext("%(device)s: allocated to claim %(claim)s, which no pod uses")
        return text % {"device": device, "claim": claim}
    text = gettext("%(device)s: used by %(pods)s (claim %(claim)s)")
    return text % {"device": device, "pods": fmt.first_pods(holder.pods), "claim": claim}
