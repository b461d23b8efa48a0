"""What changes in decisions from one version to another: the fields of KubernetesVersion in which they
differ, and the feature gates of the scheduler that have another default. docs/VERSIONS.md lists them."""

from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from simulator.versions.features import Features

Kind = Literal["formula", "gate", "hint", "message", "plugin", "configuration"]


class SchedulerChange(msgspec.Struct, frozen=True):
    """A difference between two schedulers on which their decisions depend."""

    name: str
    """The field of KubernetesVersion, the feature gate, or the part of the configuration."""
    kind: Kind
    text: str
    """What changes, in a sentence of the newer version or the other configuration."""
    values: dict[str, str] = {}
    """The values of the sentence, by their names."""

    @property
    def sentence(self) -> str:
        return self.text % self.values


CHANGES: Final = (
    SchedulerChange(
        "taint_message_names_taint",
        "message",
        "TaintToleration's reason names no taint any more: node(s) had untolerated taint(s).",
    ),
    SchedulerChange(
        "class_configs_name_requests",
        "plugin",
        "DynamicResources writes the configuration of a DeviceClass once, with the requests that use it.",
    ),
    SchedulerChange(
        "default_allocator_knows_capacity",
        "plugin",
        "DynamicResources refuses capacity requests where DRAConsumableCapacity is off; v1.35 ignores them.",
    ),
    SchedulerChange(
        "device_pools_are_whole",
        "plugin",
        "DynamicResources counts slices of other nodes, and takes nothing of incomplete or invalid pools.",
    ),
    SchedulerChange(
        "results_have_tolerations",
        "plugin",
        "DynamicResources copies the tolerations of a request to the devices that it allocates.",
    ),
    SchedulerChange(
        "dynamic_resources_scores",
        "plugin",
        "DynamicResources scores nodes: subrequests that stand first in firstAvailable are preferred.",
    ),
    SchedulerChange(
        "nomination_ends_with_binding",
        "hint",
        "The binding of a nominated pod does not requeue the pods of lower or equal priority any more.",
    ),
    SchedulerChange(
        "deleted_pods_free_nodes",
        "hint",
        "A pod that is deleted while its binding is under way leaves its node at once, and requeues others.",
    ),
    SchedulerChange(
        "balanced_allocation_by_gain",
        "formula",
        "NodeResourcesBalancedAllocation scores how much more balanced the node is with the pod.",
    ),
    SchedulerChange(
        "devices_are_sorted",
        "plugin",
        "DynamicResources tries pools in the order of their drivers and names, and slices in that of names.",
    ),
    SchedulerChange(
        "filter_timeout_is_error",
        "plugin",
        "DynamicResources ends the attempt where the search for devices takes too long.",
    ),
    SchedulerChange(
        "mode_all_knows_subrequest",
        "plugin",
        "DynamicResources takes all devices of a later subrequest of firstAvailable with allocationMode All.",
    ),
    SchedulerChange(
        "owner_reason_is_capitalized",
        "message",
        "DynamicResources writes Pod in the reason for a ResourceClaim that belongs to another pod.",
    ),
    SchedulerChange(
        "image_locality_counts_volumes", "formula", "ImageLocality counts the images of volumes, too."
    ),
    SchedulerChange(
        "portworx_is_migrated",
        "plugin",
        "In-tree Portworx volumes count against the limit of the CSI driver on each node.",
    ),
    SchedulerChange(
        "affinity_hint_sees_both_sides",
        "hint",
        "InterPodAffinity requeues a pod also for its own labels, and when a pod that kept it out is gone.",
    ),
    SchedulerChange(
        "hints_count_nominated_pods",
        "hint",
        "The hints of InterPodAffinity and PodTopologySpread count nominated pods as bound ones.",
    ),
    SchedulerChange(
        "preempted_pods_are_retried",
        "plugin",
        "Victims that wait on Permit or in PreBind are tried again after a backoff.",
    ),
    SchedulerChange(
        "OpportunisticBatching",
        "gate",
        "A pod like the one before may get the next best node of its ranking. Off in effect by default.",
    ),
    SchedulerChange(
        "NominatedNodeNameForExpectation",
        "gate",
        "A pod has its node in status.nominatedNodeName while it waits on Permit or in PreBind.",
    ),
    SchedulerChange(
        "ClearingNominatedNodeNameAfterBinding",
        "gate",
        "The API server clears status.nominatedNodeName when a pod is bound.",
    ),
    SchedulerChange(
        "NodeDeclaredFeatures",
        "gate",
        "NodeDeclaredFeatures rejects nodes whose kubelet does not declare a feature that the pod needs.",
    ),
    SchedulerChange(
        "DRADeviceTaints", "gate", "Devices with a taint are taken only for requests that tolerate it."
    ),
    SchedulerChange(
        "DRAPartitionableDevices",
        "gate",
        "Devices that consume shared counters are taken while enough is left of them.",
    ),
    SchedulerChange(
        "DRAConsumableCapacity",
        "gate",
        "Several claims share a device that allows it, and requests can ask for capacity.",
    ),
    SchedulerChange(
        "DRADeviceBindingConditions",
        "gate",
        "Devices with binding conditions are taken, and pods wait for these before they are bound.",
    ),
    SchedulerChange(
        "DRAExtendedResource",
        "gate",
        "Devices serve the extended resource of a DeviceClass, through a claim that the scheduler makes.",
    ),
    SchedulerChange(
        "DRAListTypeAttributes",
        "gate",
        "Attributes of devices can be lists, which selectors know, with includes; constraints refuse them.",
    ),
    SchedulerChange(
        "DRANodeAllocatableResources",
        "gate",
        "Devices that are cpu or memory of their node are added to the requests of the pod.",
    ),
    SchedulerChange(
        "StorageCapacityScoring", "gate", "VolumeBinding scores nodes by the capacity of their storage."
    ),
    SchedulerChange(
        "TaintTolerationComparisonOperators", "gate", "Tolerations can compare numbers, with Gt and Lt."
    ),
    SchedulerChange(
        "GenericWorkload",
        "gate",
        "The pods of a PodGroup are tried together, in one cycle.",
    ),
    SchedulerChange(
        "GangScheduling",
        "gate",
        "Pods of a gang wait until minCount of them are there, and are bound only together.",
    ),
    SchedulerChange(
        "WorkloadAwarePreemption",
        "gate",
        "Pods are evicted for a whole group, and the pods of a group together.",
    ),
    SchedulerChange(
        "TopologyAwareWorkloadScheduling",
        "gate",
        "All pods of a group get nodes with the same value of a label.",
    ),
    SchedulerChange(
        "WorkloadWithJob",
        "gate",
        "The pods of an indexed Job that all run at the same time are a gang.",
    ),
    SchedulerChange(
        "VolumeLimitScaling",
        "gate",
        "NodeVolumeLimits rejects nodes without a CSI driver that must be there.",
    ),
)
"""In the order of the versions; the gates come last."""


def changes_between(one: Features, other: Features) -> Iterator[SchedulerChange]:
    """Yield the changes in which two versions, with their gates, differ."""
    for change in CHANGES:
        if _value(one, change) != _value(other, change):
            yield change


def taken_back(change: SchedulerChange, of: Features, to: Features) -> Features:
    """Return ``of`` with a change as ``to`` has it. A gate takes those with it that depend on it."""
    value = _value(to, change)
    if change.kind != "gate":
        return Features(msgspec.structs.replace(of.version, **{change.name: value}), of.gates)
    return of.with_gate(change.name, value)


def _value(features: Features, change: SchedulerChange) -> bool:
    if change.kind == "gate":
        return features.enabled(change.name)
    found: bool = getattr(features.version, change.name)
    return found
