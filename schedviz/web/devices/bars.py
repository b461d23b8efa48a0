"""How much of a device's capacity, or of counters that devices share, is taken."""

from collections.abc import Iterator, Mapping

import msgspec

from schedviz.web.picture.device_use import Holders, PoolUse, used_capacity
from simulator.objects.quantity import Nanos, text_in_format_of
from simulator.plugins.dynamic_resources.amounts import Amount
from simulator.plugins.dynamic_resources.device import Device
from simulator.plugins.dynamic_resources.pool import Pool


class Bar(msgspec.Struct, frozen=True):
    """An amount that is taken, with the names of the fields of a node's meters."""

    resource: str
    requested: str
    allocatable: str
    free: str
    percent: int


def capacity_bars(device: Device, holders: Holders) -> list[Bar]:
    """Return what claims consume of the capacities of a shared device; of another device none."""
    used: Mapping[str, Nanos] = used_capacity(holders)
    return [_bar(name, used.get(name, 0), each.value) for name, each in device.capacity if device.shareable]


def counter_bars(pool: Pool, use: PoolUse, counter_set: str) -> Iterator[Bar]:
    for name, amount in pool.counter_sets.get(counter_set, ()):
        yield _bar(name, amount.nanos - use.counters[counter_set, name], amount)


def _bar(name: str, used: Nanos, total: Amount) -> Bar:
    return Bar(
        resource=name,
        requested=text_in_format_of(used, total.text),
        allocatable=total.text,
        free=text_in_format_of(total.nanos - used, total.text),
        percent=min(100, used * 100 // total.nanos) if total.nanos else 100,
    )
