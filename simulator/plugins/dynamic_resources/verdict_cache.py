"""The allocator's earlier results for claims that request the same and nodes in the same situation."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, NamedTuple

from simulator.framework.status import Status
from simulator.plugins.dynamic_resources.resource_claim import ResourceClaim

MAX_VERDICTS: Final = 200_000
"""The maximum number of verdicts: some 20 MB. Beyond it, all are computed again."""


class CachedVerdict(NamedTuple):
    status: Status | None
    """The reason for which the claims cannot be allocated; None if they can."""


class VerdictCache:
    """The verdicts by the requests of the claims, and the situation of a node
    (:class:`simulator.plugins.dynamic_resources.node_devices.NodeDevices`).

    Errors are not kept, as they name claims and pools."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._verdicts: dict[tuple[int, int], CachedVerdict] = {}
        self._classes: Mapping[str, tuple[str, ...]] | None = None

    def number_of(self, claims: Sequence[ResourceClaim], classes: Mapping[str, tuple[str, ...]]) -> int:
        """Return a number for what the claims request. ``classes``: DeviceClass -> its CEL expressions,
        another mapping whenever a class has changed."""
        if classes is not self._classes or len(self._verdicts) > MAX_VERDICTS:
            self.clear()
            self._classes = classes
        requested = tuple((claim.requests, claim.constraints) for claim in claims)
        return self._numbers.setdefault(requested, len(self._numbers))

    def find(self, number: int, situation: int) -> CachedVerdict | None:
        return self._verdicts.get((number, situation))

    def keep(self, number: int, situation: int, status: Status | None) -> CachedVerdict:
        found = self._verdicts[number, situation] = CachedVerdict(status)
        return found

    def clear(self) -> None:
        self._numbers.clear()
        self._verdicts.clear()
