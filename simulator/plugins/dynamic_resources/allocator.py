"""The search for devices on one node (Allocate and allocateOne in
staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go).

Depth first: claim by claim, request by request, device by device. The first solution is taken."""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple

from simulator.kernel.work import limit_work, spend_work
from simulator.plugins.dynamic_resources.allocated_devices import AllocatedState
from simulator.plugins.dynamic_resources.amounts import Amount
from simulator.plugins.dynamic_resources.capacity import consumed_capacity, has_capacity
from simulator.plugins.dynamic_resources.counters import CounterSearch
from simulator.plugins.dynamic_resources.device_constraints import (
    ConstraintState,
    add_to_all,
    constraint_states,
)
from simulator.plugins.dynamic_resources.device_selectors import AllocationError, matches
from simulator.plugins.dynamic_resources.device_taints import prevents_allocation
from simulator.plugins.dynamic_resources.pool import Pool, PoolDevice
from simulator.plugins.dynamic_resources.requested_devices import (
    RequestedDevices,
    Selectors,
    requested_devices,
)
from simulator.plugins.dynamic_resources.resource_claim import (
    ClaimRequest,
    DeviceID,
    DeviceRequest,
    ResourceClaim,
)

MAX_DEVICES_OF_CLAIM: Final = 32
"""The maximum number of devices of a claim (AllocationResultsMaxSize)."""

SEARCH_WORK: Final = 300_000
"""The maximum work of the search on one node: some 0.3 s. A step is a unit, and so is each device that is
looked at; the selectors spend their own. Upstream ends the search after the plugin's filterTimeout, which is
10 s by default; work is the same in a replay."""


class Outcome(Enum):
    FOUND = 1
    NOT_FOUND = 2
    TOO_MANY_DEVICES = 3
    """A claim would have more than 32 devices (errAllocationResultMaxSizeExceeded)."""


class TakenDevice(NamedTuple):
    request: ClaimRequest
    alternative: DeviceRequest
    device: PoolDevice
    shared: bool
    """Whether other claims can have the device, too."""
    consumed: Mapping[str, Amount]
    """What is consumed of the capacity of a shared device."""


class ClaimAllocation(NamedTuple):
    claim: ResourceClaim
    devices: list[TakenDevice]
    chosen: dict[int, int]
    """Index of a firstAvailable request -> index of its subrequest."""


def allocate(
    claims: Sequence[ResourceClaim],
    classes: Mapping[str, tuple[str, ...]],
    pools: Sequence[Pool],
    allocated: AllocatedState,
) -> list[ClaimAllocation] | None:
    """Return what each claim gets; None if the node cannot serve them all.

    ``classes``: DeviceClass -> its CEL expressions. Raises AllocationError, InvalidPools, and OutOfWork if
    the search was ended: nothing is known of the node."""
    with limit_work(SEARCH_WORK):
        search = _Search(claims, classes, pools, allocated)
        outcome = search.allocate_one(Place(0, 0, 0, 0))
    if outcome is Outcome.TOO_MANY_DEVICES:
        raise AllocationError("allocation max size exceeded")
    if outcome is Outcome.NOT_FOUND:
        if allocated.rules.version.device_pools_are_whole and any(pool.invalid for pool in pools):
            raise InvalidPools
        return None
    return [
        ClaimAllocation(claim, search.taken[c], {r: s for (of, r), s in search.chosen.items() if of == c})
        for c, claim in enumerate(claims)
    ]


class InvalidPools(Exception):
    """The node cannot serve the claims, and has an invalid pool (ErrFailedAllocationOnNode)."""


class Place(NamedTuple):
    """The device that is searched for: device ``k`` of subrequest ``s`` (0 for ``exactly``) of request ``r``
    of claim ``c``."""

    c: int
    r: int
    s: int
    k: int
    within_subrequest: bool = False
    """Go on with ``s``, instead of trying all subrequests."""
    start: int = 0
    """The index of the first device to try: that after device ``k - 1``. Until v1.35, all are tried."""


class _Search:
    def __init__(
        self,
        claims: Sequence[ResourceClaim],
        classes: Mapping[str, tuple[str, ...]],
        pools: Sequence[Pool],
        allocated: AllocatedState,
    ) -> None:
        self.claims = claims
        self.pools = {pool.key: pool for pool in pools}
        self.rules = allocated.rules
        self.allocated = allocated
        self.requested: dict[tuple[int, int, int], RequestedDevices] = {}
        """The requested devices, by the indices of claim, request and subrequest (0 for ``exactly``)."""
        self.constraints: list[list[ConstraintState]] = []
        self.taken: list[list[TakenDevice]] = [[] for _ in claims]
        self.chosen: dict[tuple[int, int], int] = {}
        self.candidates: list[PoolDevice] = []
        """The devices that are tried, in order."""
        self.invalid_pool = ""
        """The error of the pool after them (until v1.34)."""
        self._holders: dict[DeviceID, list[int]] = {}
        """Indices of the claims for which a device is taken; a shared device has no holder."""
        self._consumed: dict[DeviceID, Counter[str]] = {}
        """What is taken of the capacity of shared devices."""
        self._counters = CounterSearch(allocated.is_allocated)
        self._selectable: dict[tuple[int, int, int, DeviceID], bool] = {}
        """Whether a device is selectable, by the indices of the request, as upstream keeps it."""
        for index, claim in enumerate(claims):
            self._check(index, claim, classes, pools)
        self._list_candidates(pools)

    def _check(
        self, index: int, claim: ResourceClaim, classes: Mapping[str, tuple[str, ...]], pools: Sequence[Pool]
    ) -> None:
        """Find out how many devices are asked for."""
        at_least = 0
        for number, request in enumerate(claim.requests):
            found = requested_devices(claim, request, classes, pools, self._counts_for_all, rules=self.rules)
            for subrequest, requested in enumerate(found):
                self.requested[index, number, subrequest] = requested
            at_least += min((each.number for each in found), default=0)
        if at_least > MAX_DEVICES_OF_CLAIM:
            raise AllocationError(
                f"claim {claim.key}: number of requested devices {at_least} "
                f"exceeds the claim limit of {MAX_DEVICES_OF_CLAIM}"
            )
        self.constraints.append(constraint_states(claim, self.rules))

    def _list_candidates(self, pools: Sequence[Pool]) -> None:
        for pool in pools:
            if pool.invalid and not self.rules.version.device_pools_are_whole:
                self.invalid_pool = f"pool {pool.name} is invalid: {pool.invalid}"
                break
            self.candidates += pool.devices

    def allocate_one(self, at: Place) -> Outcome:
        """Take the device of a place, and all that come after it (allocateOne)."""
        spend_work(1)
        c, r, s, k = at[:4]
        if c == len(self.claims):
            return Outcome.FOUND
        claim = self.claims[c]
        if r == len(claim.requests):
            outcome = self.allocate_one(Place(c + 1, 0, 0, 0))
            return Outcome.NOT_FOUND if outcome is Outcome.TOO_MANY_DEVICES else outcome
        if claim.requests[r].first_available and not at.within_subrequest:
            return self._try_subrequests(c, r)
        wanted = self.requested[c, r, s]
        if wanted.all_devices is not None and not wanted.number:
            return Outcome.NOT_FOUND
        if k >= wanted.number:
            return self.allocate_one(Place(c, r + 1, 0, 0))
        if len(self.taken[c]) + wanted.number - k > MAX_DEVICES_OF_CLAIM:
            return Outcome.TOO_MANY_DEVICES
        if wanted.all_devices is not None:
            return self._take_next_of_all(at, wanted, wanted.all_devices[k])
        return self._try_devices(at, wanted)

    def _try_subrequests(self, c: int, r: int) -> Outcome:
        """Return the first subrequest with which all that comes after it is found, too."""
        outcomes = set()
        for s in range(len(self.claims[c].requests[r].alternatives)):
            outcome = self.allocate_one(Place(c, r, s, 0, within_subrequest=True))
            if outcome is Outcome.FOUND:
                self.chosen[c, r] = s
                return outcome
            outcomes.add(outcome)
        return Outcome.NOT_FOUND if Outcome.NOT_FOUND in outcomes else Outcome.TOO_MANY_DEVICES

    def _take_next_of_all(self, at: Place, wanted: RequestedDevices, device: PoolDevice) -> Outcome:
        """Take the next device of the allocation mode All, for which there is no other choice."""
        if not self._take(at.c, wanted, device):
            return Outcome.NOT_FOUND
        # Until v1.35 upstream drops the index of the subrequest here: it continues with the first one.
        s = at.s if self.rules.version.mode_all_knows_subrequest else 0
        outcome = self.allocate_one(Place(at.c, at.r, s, at.k + 1, at.within_subrequest))
        if outcome is not Outcome.FOUND:
            self._put_back(at.c)
        return outcome

    def _try_devices(self, at: Place, wanted: RequestedDevices) -> Outcome:
        """Try each device that can be taken, until all that comes after it is found, too."""
        for index in range(at.start, len(self.candidates)):
            device = self.candidates[index]
            spend_work(1)
            if self._is_in_use(at.c, wanted, device) or not self._is_selectable(at, wanted, device):
                continue
            if not self._has_capacity(wanted.alternative, device):
                continue
            if not self._take(at.c, wanted, device):
                continue
            start = index + 1 if self.rules.version.devices_are_sorted else 0
            outcome = self.allocate_one(Place(at.c, at.r, at.s, at.k + 1, at.within_subrequest, start))
            if outcome is Outcome.FOUND:
                return outcome
            self._put_back(at.c)
            if outcome is Outcome.TOO_MANY_DEVICES:
                return outcome
        if self.invalid_pool:
            raise AllocationError(self.invalid_pool)
        return Outcome.NOT_FOUND

    def _is_selectable(self, at: Place, wanted: RequestedDevices, device: PoolDevice) -> bool:
        key = at.c, at.r, at.s, device.id
        if key not in self._selectable:
            self._selectable[key] = self._matches(device, wanted.selectors)
        return self._selectable[key]

    def _matches(self, device: PoolDevice, selectors: Selectors) -> bool:
        if device.device.binding_conditions and not self.rules.binding_conditions:
            return False
        lists = self.rules.list_attributes
        return matches(device.device.value, selectors, lists=lists) and device.here

    def _counts_for_all(self, request: DeviceRequest, device: PoolDevice, selectors: Selectors) -> bool:
        """Return whether the allocation mode All includes a device, in use or not."""
        return self._matches(device, selectors) and self._has_capacity(request, device)

    def _has_capacity(self, request: DeviceRequest, device: PoolDevice) -> bool:
        if not self.rules.consumable_capacity:
            return True
        used = self.allocated.consumed(device.id) or {}
        return has_capacity(device.device, request.capacity or (), used, self._consumed.get(device.id) or {})

    def _is_in_use(self, c: int, wanted: RequestedDevices, device: PoolDevice) -> bool:
        """Return whether the device is in use. With adminAccess it is only if the same claim has it
        already."""
        holders = self._holders.get(device.id, ())
        if wanted.alternative.admin_access:
            return c in holders
        return bool(holders) or self.allocated.is_in_use(device.id)

    def _take(self, c: int, wanted: RequestedDevices, found: PoolDevice) -> bool:
        """Take a device, if that is possible (allocateDevice). As upstream, the counters of a device that a
        taint or a constraint refuses stay consumed in this search, and so do those of shared devices."""
        request, alternative, device = wanted.request, wanted.alternative, found.device
        if self._is_in_use(c, wanted, found) or (device.consumes and not self.rules.partitionable_devices):
            return False
        shared = self.rules.shares(device)
        is_shared_already = shared and (
            self.allocated.consumed(found.id) is not None or found.id in self._consumed
        )
        spend_work(len(self.constraints[c]) + len(device.consumes))
        if device.consumes and not is_shared_already and not self._counters.take(self._pool(found), device):
            return False
        if self.rules.device_taints and prevents_allocation(device.taints, alternative.tolerations):
            return False
        if not add_to_all(self.constraints[c], request, alternative, found):
            if wanted.all_devices is not None:
                raise AllocationError(
                    f"claim {self.claims[c].key}, request {alternative.name}: cannot add device {found.id} "
                    "because a claim constraint would not be satisfied"
                )
            return False
        if not self._has_capacity(alternative, found):
            return False
        consumed: Mapping[str, Amount] = {}
        if shared:
            consumed = consumed_capacity(device, alternative.capacity or ())
            nanos = {name: amount.nanos for name, amount in consumed.items()}
            self._consumed.setdefault(found.id, Counter()).update(nanos)
        else:
            self._holders.setdefault(found.id, []).append(c)
        self.taken[c].append(TakenDevice(request, alternative, found, shared, consumed))
        return True

    def _pool(self, device: PoolDevice) -> Pool:
        return self.pools[device.id.driver, device.id.pool]

    def _put_back(self, c: int) -> None:
        """Undo the last :meth:`_take` for the claim."""
        request, alternative, found, shared, consumed = self.taken[c].pop()
        for state in self.constraints[c]:
            state.remove(request, alternative)
        if not shared:
            self._holders[found.id].remove(c)
            if found.device.consumes:
                self._counters.put_back(found.id.pool, found.device)
        elif consumed:
            left = self._consumed[found.id]
            left.subtract({name: amount.nanos for name, amount in consumed.items()})
            if not any(left.values()):
                del self._consumed[found.id]
