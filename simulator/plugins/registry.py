"""The in-tree plugins by name (pkg/scheduler/framework/plugins/registry.go, v1.34)."""

from collections.abc import Mapping

from simulator.config import Configuration
from simulator.framework.interface import Plugin
from simulator.framework.runtime import Framework
from simulator.plugins.default_binder import DefaultBinder
from simulator.plugins.default_preemption import DefaultPreemption
from simulator.plugins.dynamic_resources import DynamicResources
from simulator.plugins.image_locality import ImageLocality
from simulator.plugins.inter_pod_affinity import InterPodAffinity
from simulator.plugins.node_affinity import NodeAffinity
from simulator.plugins.node_name import NodeName
from simulator.plugins.node_ports import NodePorts
from simulator.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from simulator.plugins.node_resources_fit import NodeResourcesFit
from simulator.plugins.node_unschedulable import NodeUnschedulable
from simulator.plugins.node_volume_limits import NodeVolumeLimits
from simulator.plugins.pod_topology_spread import PodTopologySpread
from simulator.plugins.priority_sort import PrioritySort
from simulator.plugins.scheduling_gates import SchedulingGates
from simulator.plugins.taint_toleration import TaintToleration
from simulator.plugins.volume_binding import VolumeBinding
from simulator.plugins.volume_restrictions import VolumeRestrictions
from simulator.plugins.volume_zone import VolumeZone

PLUGINS: tuple[type[Plugin], ...] = (
    SchedulingGates,
    PrioritySort,
    NodeUnschedulable,
    NodeName,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    VolumeRestrictions,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeZone,
    PodTopologySpread,
    InterPodAffinity,
    DynamicResources,
    DefaultPreemption,
    NodeResourcesBalancedAllocation,
    ImageLocality,
    DefaultBinder,
)

IN_TREE: Mapping[str, type[Plugin]] = {plugin.name: plugin for plugin in PLUGINS}


def profiles(
    configuration: Configuration, registry: Mapping[str, type[Plugin]] = IN_TREE
) -> dict[str, Framework]:
    """The frameworks of a configuration by schedulerName (pkg/scheduler/profile/profile.go). Raises
    ConfigError."""
    return {p.scheduler_name: Framework(p, registry) for p in configuration.profiles}
