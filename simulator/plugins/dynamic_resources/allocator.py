"""The search for devices on one node (Allocate and allocateOne in
staging/src/k8s.io/dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go,
with the features that are on by default).

Depth first: claim by claim, request by request, device by device. The first solution is taken."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple

from simulator.kernel.work import limit_work, spend_work
from simulator.plugins.dynamic_resources.device_constraints import (
    ConstraintState,
    add_to_all,
    constraint_states,
)
from simulator.plugins.dynamic_resources.device_selectors import AllocationError, is_selectable
from simulator.plugins.dynamic_resources.pool import Pool, PoolDevice
from simulator.plugins.dynamic_resources.requested_devices import RequestedDevices, requested_devices
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


class ClaimAllocation(NamedTuple):
    """The allocation of one claim."""

    claim: ResourceClaim
    devices: list[TakenDevice]
    chosen: dict[int, int]
    """Index of a firstAvailable request -> index of its subrequest."""


def allocate(
    claims: Sequence[ResourceClaim],
    classes: Mapping[str, tuple[str, ...]],
    pools: Sequence[Pool],
    in_use: Callable[[DeviceID], bool],
) -> list[ClaimAllocation] | None:
    """Return what each claim gets; None if the node cannot serve them all.

    ``classes``: DeviceClass -> its CEL expressions. Raises AllocationError, and OutOfWork if the search
    was ended: nothing is known of the node."""
    with limit_work(SEARCH_WORK):
        search = _Search(claims, classes, pools, in_use)
        outcome = search.allocate_one(0, 0, 0, 0, within_subrequest=False)
    if outcome is Outcome.TOO_MANY_DEVICES:
        raise AllocationError("allocation max size exceeded")
    if outcome is Outcome.NOT_FOUND:
        return None
    return [
        ClaimAllocation(claim, search.taken[c], {r: s for (of, r), s in search.chosen.items() if of == c})
        for c, claim in enumerate(claims)
    ]


class _Search:
    def __init__(
        self,
        claims: Sequence[ResourceClaim],
        classes: Mapping[str, tuple[str, ...]],
        pools: Sequence[Pool],
        in_use: Callable[[DeviceID], bool],
    ) -> None:
        self.claims = claims
        self.pools = pools
        self.in_use = in_use
        self.requested: dict[tuple[int, int, int], RequestedDevices] = {}
        """The requested devices, by the indices of claim, request and subrequest (0 for ``exactly``)."""
        self.constraints: list[list[ConstraintState]] = []
        self.taken: list[list[TakenDevice]] = [[] for _ in claims]
        self.chosen: dict[tuple[int, int], int] = {}
        self._holders: dict[DeviceID, list[int]] = {}
        """Indices of the claims for which a device is taken."""
        self._selectable: dict[tuple[int, int, int, DeviceID], bool] = {}
        """Whether a device is selectable, by the indices of the request, as upstream keeps it."""
        for index, claim in enumerate(claims):
            self._check(index, claim, classes)

    def _check(self, index: int, claim: ResourceClaim, classes: Mapping[str, tuple[str, ...]]) -> None:
        """Find out how many devices are asked for."""
        at_least = 0
        for number, request in enumerate(claim.requests):
            if request.has_capacity:
                raise AllocationError(
                    f"claim {claim.key}, request {request.name}: "
                    "has capacity requests, but the DRAConsumableCapacity feature is disabled"
                )
            found = requested_devices(claim, request, classes, self.pools)
            for subrequest, requested in enumerate(found):
                self.requested[index, number, subrequest] = requested
            at_least += min((each.number for each in found), default=0)
        if at_least > MAX_DEVICES_OF_CLAIM:
            raise AllocationError(
                f"claim {claim.key}: number of requested devices {at_least} "
                f"exceeds the claim limit of {MAX_DEVICES_OF_CLAIM}"
            )
        self.constraints.append(constraint_states(claim))

    def allocate_one(self, c: int, r: int, s: int, k: int, *, within_subrequest: bool) -> Outcome:
        """Take device ``k`` of subrequest ``s`` of request ``r`` of claim ``c``, and all that come after it
        (allocateOne). ``within_subrequest``: go on with ``s`` instead of trying all subrequests."""
        spend_work(1)
        if c == len(self.claims):
            return Outcome.FOUND
        claim = self.claims[c]
        if r == len(claim.requests):
            outcome = self.allocate_one(c + 1, 0, 0, 0, within_subrequest=False)
            return Outcome.NOT_FOUND if outcome is Outcome.TOO_MANY_DEVICES else outcome
        if claim.requests[r].first_available and not within_subrequest:
            return self._try_subrequests(c, r)
        wanted = self.requested[c, r, s]
        takes_all = wanted.all_devices is not None
        if takes_all and not wanted.number:
            return Outcome.NOT_FOUND
        if k >= wanted.number:
            return self.allocate_one(c, r + 1, 0, 0, within_subrequest=False)
        if len(self.taken[c]) + wanted.number - k > MAX_DEVICES_OF_CLAIM:
            return Outcome.TOO_MANY_DEVICES
        if wanted.all_devices is not None:
            if not self._take(c, wanted, wanted.all_devices[k]):
                return Outcome.NOT_FOUND
            # As upstream, which drops the index of the subrequest here: it continues with the first one.
            outcome = self.allocate_one(c, r, 0, k + 1, within_subrequest=within_subrequest)
            if outcome is not Outcome.FOUND:
                self._put_back(c)
            return outcome
        return self._try_devices(c, r, s, k, within_subrequest=within_subrequest)

    def _try_subrequests(self, c: int, r: int) -> Outcome:
        """Return the first subrequest with which all that comes after it is found, too."""
        outcomes = set()
        for s in range(len(self.claims[c].requests[r].alternatives)):
            outcome = self.allocate_one(c, r, s, 0, within_subrequest=True)
            if outcome is Outcome.FOUND:
                self.chosen[c, r] = s
                return outcome
            outcomes.add(outcome)
        return Outcome.NOT_FOUND if Outcome.NOT_FOUND in outcomes else Outcome.TOO_MANY_DEVICES

    def _try_devices(self, c: int, r: int, s: int, k: int, *, within_subrequest: bool) -> Outcome:
        """Try each device that can be taken, until all that comes after it is found, too."""
        wanted = self.requested[c, r, s]
        for pool in self.pools:
            if pool.duplicate:
                raise AllocationError(f"pool {pool.name} is invalid: duplicate device name {pool.duplicate}")
            for device in pool.devices:
                spend_work(1)
                if self._is_in_use(c, wanted, device) or not self._is_selectable(c, r, s, device):
                    continue
                if not self._take(c, wanted, device):
                    continue
                outcome = self.allocate_one(c, r, s, k + 1, within_subrequest=within_subrequest)
                if outcome is Outcome.FOUND:
                    return outcome
                self._put_back(c)
                if outcome is Outcome.TOO_MANY_DEVICES:
                    return outcome
        return Outcome.NOT_FOUND

    def _is_selectable(self, c: int, r: int, s: int, device: PoolDevice) -> bool:
        key = c, r, s, device.id
        if key not in self._selectable:
            self._selectable[key] = is_selectable(device, self.requested[c, r, s].selectors)
        return self._selectable[key]

    def _is_in_use(self, c: int, wanted: RequestedDevices, device: PoolDevice) -> bool:
        """Return whether the device is in use. With adminAccess it is only if the same claim has it
        already."""
        holders = self._holders.get(device.id, ())
        if wanted.alternative.admin_access:
            return c in holders
        return bool(holders) or self.in_use(device.id)

    def _take(self, c: int, wanted: RequestedDevices, device: PoolDevice) -> bool:
        """Take a device, if that is possible (allocateDevice). Devices that consume counters need the feature
        DRAPartitionableDevices."""
        if self._is_in_use(c, wanted, device) or device.device.consumes_counters:
            return False
        request, alternative = wanted.request, wanted.alternative
        spend_work(len(self.constraints[c]))
        if not add_to_all(self.constraints[c], request, alternative, device):
            if wanted.all_devices is not None:
                raise AllocationError(
                    f"claim {self.claims[c].key}, request {alternative.name}: cannot add device {device.id} "
                    "because a claim constraint would not be satisfied"
                )
            return False
        self.taken[c].append(TakenDevice(request, alternative, device))
        self._holders.setdefault(device.id, []).append(c)
        return True

    def _put_back(self, c: int) -> None:
        """Undo the last :meth:`_take` for the claim."""
        request, alternative, device = self.taken[c].pop()
        self._holders[device.id].remove(c)
        for state in self.constraints[c]:
            state.remove(request, alternative, device)
