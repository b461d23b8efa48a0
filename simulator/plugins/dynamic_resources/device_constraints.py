"""Constraints between the devices of a claim (matchAttributeConstraint in allocator_experimental.go, and
distinctAttributeConstraint in constraint.go)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from simulator.api import Manifest
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
        return value is not None and self._add(value)

    def remove(self, request: ClaimRequest, alternative: DeviceRequest, device: PoolDevice) -> None:
        """Undo :meth:`add`, which returned True."""
        value = attribute_value(device, self.attribute)
        if self.constraint.applies_to(request, alternative) and value is not None:
            self._remove(value)

    @abstractmethod
    def _add(self, value: Value) -> bool: ...

    @abstractmethod
    def _remove(self, value: Value) -> None: ...


class MatchAttribute(ConstraintState):
    """The constraint that all devices have the same value of the attribute. The first one decides which."""

    count = 0
    value: Value | None = None

    def _add(self, value: Value) -> bool:
        if self.count and value != self.value:
            return False
        self.value = value
        self.count += 1
        return True

    def _remove(self, value: Value) -> None:
        self.count -= 1


class DistinctAttribute(ConstraintState):
    """The constraint that no two devices have the same value of the attribute."""

    def __init__(self, constraint: DeviceConstraint, attribute: str) -> None:
        super().__init__(constraint, attribute)
        self.values: set[Value] = set()

    def _add(self, value: Value) -> bool:
        if value in self.values:
            return False
        self.values.add(value)
        return True

    def _remove(self, value: Value) -> None:
        self.values.discard(value)


def constraint_states(claim: ResourceClaim) -> list[ConstraintState]:
    """Return the states of the constraints. Raises AllocationError for a constraint without an attribute."""
    return [_state(claim, index, each) for index, each in enumerate(claim.constraints)]


def _state(claim: ResourceClaim, index: int, constraint: DeviceConstraint) -> ConstraintState:
    if constraint.match_attribute:
        return MatchAttribute(constraint, constraint.match_attribute)
    if constraint.distinct_attribute:
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
        None,
    )


def add_to_all(
    states: Sequence[ConstraintState], request: ClaimRequest, alternative: DeviceRequest, device: PoolDevice
) -> bool:
    """Add the device to all constraints, or, if one refuses it, to none."""
    for count, state in enumerate(states):
        if not state.add(request, alternative, device):
            for earlier in states[:count]:
                earlier.remove(request, alternative, device)
            return False
    return True
