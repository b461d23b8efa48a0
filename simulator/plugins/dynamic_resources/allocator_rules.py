"""The features of the allocator in a version with its feature gates (AllocatorFeatures in
dynamicresources.go, and NewAllocator in
staging/src/k8s.io/dynamic-resource-allocation/structured/allocator.go)."""

from functools import lru_cache
from typing import Final, NamedTuple

from simulator.plugins.dynamic_resources.device import Device
from simulator.versions.features import FEATURES_CACHED, UNSTATED_FEATURES, Features
from simulator.versions.kubernetes_version import KubernetesVersion


class AllocatorRules(NamedTuple):
    version: KubernetesVersion
    admin_access: bool
    binding_conditions: bool
    consumable_capacity: bool
    device_taints: bool
    list_attributes: bool
    """Whether selectors know attributes that are lists. As upstream, constraints do not know them."""
    partitionable_devices: bool
    prioritized_list: bool

    @property
    def knows_capacity(self) -> bool:
        """Whether the allocator has code for capacity requests and distinctAttribute, if only to refuse them.
        The incubating one of v1.35, which runs there by default, has not."""
        return (
            self.version.default_allocator_knows_capacity
            or self.consumable_capacity
            or self.binding_conditions
        )

    def allocates(self, device: Device) -> bool:
        """Return whether devices with these fields are allocated at all."""
        if device.consumes and not self.partitionable_devices:
            return False
        return self.binding_conditions or not device.binding_conditions

    def shares(self, device: Device) -> bool:
        """Return whether several claims can have the device at the same time."""
        return self.consumable_capacity and device.shareable


@lru_cache(maxsize=FEATURES_CACHED)
def allocator_rules(features: Features) -> AllocatorRules:
    conditions = ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
    return AllocatorRules(
        features.version,
        features.enabled("DRAAdminAccess"),
        all(features.enabled(gate) for gate in conditions),
        features.enabled("DRAConsumableCapacity"),
        features.enabled("DRADeviceTaints"),
        features.enabled("DRAListTypeAttributes"),
        features.enabled("DRAPartitionableDevices"),
        features.enabled("DRAPrioritizedList"),
    )


DEFAULT_RULES: Final = allocator_rules(UNSTATED_FEATURES)
