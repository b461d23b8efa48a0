"""The shared counters of pools, and what devices consume of them (checkAvailableCounters and
deallocateCountersForDevice in allocator_incubating.go)."""

from collections import Counter
from collections.abc import Callable

from simulator.objects.quantity import Nanos
from simulator.plugins.dynamic_resources.device import Device
from simulator.plugins.dynamic_resources.pool import Pool
from simulator.plugins.dynamic_resources.resource_claim import DeviceID

CounterName = tuple[str, str]
"""The counter set, and the counter in it."""


def available_counters(pool: Pool, is_allocated: Callable[[DeviceID], bool]) -> dict[CounterName, Nanos]:
    """Return what the allocated devices of a pool, on all nodes, leave of its counters. It can be
    negative."""
    left = {
        (name, counter): amount.nanos
        for name, counters in pool.counter_sets.items()
        for counter, amount in counters
    }
    for each in (*pool.devices, *pool.elsewhere):
        if each.device.consumes and is_allocated(each.id):
            for name, nanos in consumption(each.device).items():
                if name in left:
                    left[name] -= nanos
    return left


class CounterSearch:
    """The counters of one search. As upstream, they are kept by the name of the pool: of two drivers with
    pools of one name, the counters of the pool that is needed first count for both (kubernetes#140434)."""

    def __init__(self, is_allocated: Callable[[DeviceID], bool]) -> None:
        self._is_allocated = is_allocated
        self._available: dict[str, dict[CounterName, Nanos]] = {}
        self._taken: dict[str, Counter[CounterName]] = {}

    def take(self, pool: Pool, device: Device) -> bool:
        """Consume the counters of a device, if enough is left."""
        if pool.name not in self._available:
            self._available[pool.name] = available_counters(pool, self._is_allocated)
        taken = self._taken.setdefault(pool.name, Counter())
        taken.update(consumption(device))
        if all(taken[name] <= left for name, left in self._available[pool.name].items()):
            return True
        self.put_back(pool.name, device)
        return False

    def put_back(self, pool_name: str, device: Device) -> None:
        self._taken[pool_name].subtract(consumption(device))


def consumption(device: Device) -> Counter[CounterName]:
    """Return what a device consumes of each counter while it is allocated."""
    found: Counter[CounterName] = Counter()
    for each in device.consumes:
        for counter, amount in each.counters:
            found[each.counter_set, counter] += amount.nanos
    return found
