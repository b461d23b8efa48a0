"""Constraints between the devices of a claim (matchAttributeConstraint in allocator_experimental.go, and
distinctAttributeConstraint in constraint.go)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from simulator.api import Manifest
from simulator.plugins.dynamic_resources.allocator_rules import AllocatorRules
from simulator.plugins.dynamic_resources.device_selectors import AllocationError
from simulator.plugins.dynamic_resources.pool import PoolDevice
from simulator.plugins.dynamic_resources.resource_claim import (
    ClaimRequest,
    DeviceConstraint,
    DeviceRequest,
    ResourceClaim,
)

Value = tuple[str, object]
"""The type of an attribute, and its value."""
UNKNOWN: Final[Value] = ("", None)
"""A value of another type, such as a list."""


class ConstraintState(ABC):
    """A constraint, and the devices that were taken so far."""

    def __init__(self, constraint: DeviceConstraint, attribute: str) -> None:
        self.constraint = constraint
        self.attribute = attribute

    def add(self, request: ClaimRequest, alternative: DeviceRequest, device: PoolDevice) -> bool:
        """Whether the device may be taken, too."""
        if not self.constraint.applies_to(request, alternative):
            return True
        value = attribute_value(device, self.attribute)
        return value is not None and self._add(request.name, value)

    def remove(self, request: ClaimRequest, alternative: DeviceRequest) -> None:
        """Undo :meth:`add`, which returned True."""
        if self.constraint.applies_to(request, alternative):
            self._remove(request.name)

    @abstractmethod
    def _add(self, request: str, value: Value) -> bool: ...

    @abstractmethod
    def _remove(self, request: str) -> None: ...


class MatchAttribute(ConstraintState):
    """The constraint that all devices have the same value of the attribute. The first one decides which."""

    count = 0
    value: Value = UNKNOWN

    def _add(self, request: str, value: Value) -> bool:
        if self.count and (value != self.value or value == UNKNOWN):
            return False
        if not self.count:
            self.value = value
        self.count += 1
        return True

    def _remove(self, request: str) -> None:
        self.count -= 1


class DistinctAttribute(ConstraintState):
    """The constraint that no two devices have the same value of the attribute. As upstream, of each request
    only the last device is remembered."""

    def __init__(self, constraint: DeviceConstraint, attribute: str) -> None:
        super().__init__(constraint, attribute)
        self.values: dict[str, Value] = {}
        self.count = 0

    def _add(self, request: str, value: Value) -> bool:
        others = self.values.values()
        if self.count and (value in others or (others and value == UNKNOWN)):
            return False
        self.values[request] = value
        self.count += 1
        return True

    def _remove(self, request: str) -> None:
        self.values.pop(request, None)
        self.count -= 1


def constraint_states(claim: ResourceClaim, rules: AllocatorRules) -> list[ConstraintState]:
    """Return the states of the constraints. Raises AllocationError for a constraint without an attribute."""
    return [_state(claim, index, each, rules) for index, each in enumerate(claim.constraints)]


def _state(
    claim: ResourceClaim, index: int, constraint: DeviceConstraint, rules: AllocatorRules
) -> ConstraintState:
    if constraint.match_attribute:
        return MatchAttribute(constraint, constraint.match_attribute)
    if constraint.distinct_attribute and rules.knows_capacity:
        return DistinctAttribute(constraint, constraint.distinct_attribute)
    raise AllocationError(
        f"claim {claim.key}, constraint #{index}: empty constraint (unsupported constraint type?)"
    )


def attribute_value(device: PoolDevice, name: str) -> Value | None:
    """Return the value of an attribute by its full name ``domain/id``; in the domain of the driver, also by
    ``id`` alone (lookupAttribute)."""
    attributes = device.device.attributes
    attribute: Manifest | None = attributes.get(name)
    domain, slash, id_ = name.partition("/")
    if attribute is None and slash and domain == device.id.driver:
        attribute = attributes.get(id_)
    if attribute is None:
        return None
    return next(
        (
            (kind, attribute[kind])
            for kind in ("string", "int", "bool", "version")
            if attribute.get(kind) is not None
        ),
        UNKNOWN,
    )


def add_to_all(
    states: Sequence[ConstraintState], request: ClaimRequest, alternative: DeviceRequest, device: PoolDevice
) -> bool:
    """Add the device to all constraints, or, if one refuses it, to none."""
    for count, state in enumerate(states):
        if not state.add(request, alternative, device):
            for earlier in states[:count]:
                earlier.remove(request, alternative)
            return False
    return True
