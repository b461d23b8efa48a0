"""Plugins by name: those in-tree (pkg/scheduler/framework/plugins/registry.go, v1.34), and those that other
packages bring."""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import entry_points

from simulator.config import ConfigError, Configuration
from simulator.framework.interface import Plugin
from simulator.framework.runtime import Framework
from simulator.plugins.default_binder import DefaultBinder
from simulator.plugins.default_preemption import DefaultPreemption
from simulator.plugins.dynamic_resources import DynamicResources
from simulator.plugins.gang import Gang
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
from simulator.scheduler.extender import Extender, Transport

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

OWN: Mapping[str, type[Plugin]] = {Gang.name: Gang}
"""Not in-tree, and in no profile unless it enables them."""

ENTRY_POINT_GROUP = "schedviz.plugins"


@cache
def registered() -> Mapping[str, type[Plugin]]:
    """The in-tree plugins, our own, and those of installed packages, which name their classes as entry points
    of the group ``schedviz.plugins``. They do nothing until a profile enables them.

    Raises TypeError for an entry point that is no plugin, and ValueError for a name that is taken: both are
    faults of the installation that should not go unnoticed.
    """
    found = {**IN_TREE, **OWN}
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: point.name):
        plugin = point.load()
        if not (isinstance(plugin, type) and issubclass(plugin, Plugin)):
            raise TypeError(f"entry point {point.name!r} ({point.value}) is no plugin class")
        if plugin.name in found:
            raise ValueError(f"entry point {point.name!r}: a plugin named {plugin.name!r} already exists")
        found[plugin.name] = plugin
    return found


def profiles(
    configuration: Configuration,
    registry: Mapping[str, type[Plugin]] | None = None,
    transport: Transport | None = None,
) -> dict[str, Framework]:
    """The frameworks of a configuration by schedulerName (pkg/scheduler/profile/profile.go), with all
    registered plugins to choose from unless told otherwise.

    Extenders are called through ``transport``: without one, or on hosts that it does not allow, they are an
    error of the configuration. Raises ConfigError.
    """
    causes = [
        ("extenders", f"{extender.url_prefix} is not on a host that may be called")
        for extender in configuration.extenders
        if transport is None or not transport.allows(extender.url_prefix)
    ]
    if causes:
        raise ConfigError(causes)
    extenders = [Extender(extender, transport) for extender in configuration.extenders if transport]
    plugins = registered() if registry is None else registry
    first = configuration.profiles[0].scheduler_name
    made: dict[str, Framework] = {}
    for i, profile in enumerate(configuration.profiles):
        try:
            framework = Framework(profile, plugins, extenders)
        except ConfigError as failure:
            raise ConfigError([(f"profiles[{i}].{path}", said) for path, said in failure.causes]) from None
        if i and names(framework.queue_sort_plugins) != names(made[first].queue_sort_plugins):
            path = f"profiles[{i}].plugins.queueSort"
            raise ConfigError([(path, "must be the same for all profiles: they share one queue")])
        made[profile.scheduler_name] = framework
    return made


def names(plugins: Iterable[Plugin]) -> list[str]:
    return [plugin.name for plugin in plugins]
