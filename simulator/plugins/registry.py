"""The registry: plugin classes by name. It has the in-tree plugins of a version
(pkg/scheduler/framework/plugins/registry.go), Gang, and the plugins of installed packages."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.metadata import entry_points

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.config import ConfigError, Configuration
from simulator.config.configuration import ALL_NODES_PERCENT, PluginRef, PluginSet, load_configuration
from simulator.framework.extender import Extender, Transport
from simulator.framework.interface import Plugin
from simulator.framework.runtime import Framework
from simulator.plugins.default_binder import DefaultBinder
from simulator.plugins.default_preemption import DefaultPreemption
from simulator.plugins.dynamic_resources.dynamic_resources import DynamicResources
from simulator.plugins.dynamic_resources.scoring import ScoringDynamicResources
from simulator.plugins.gang import Gang
from simulator.plugins.gang_scheduling import GangScheduling
from simulator.plugins.image_locality import ImageLocality
from simulator.plugins.inter_pod_affinity import InterPodAffinity
from simulator.plugins.node_affinity import NodeAffinity
from simulator.plugins.node_declared_features import NodeDeclaredFeatures
from simulator.plugins.node_name import NodeName
from simulator.plugins.node_ports import NodePorts
from simulator.plugins.node_resources import NodeResourcesBalancedAllocation, NodeResourcesFit
from simulator.plugins.node_resources.fit import PlacementScoringNodeResourcesFit
from simulator.plugins.node_unschedulable import NodeUnschedulable
from simulator.plugins.node_volume_limits import NodeVolumeLimits
from simulator.plugins.pod_group_pods_count import PodGroupPodsCount
from simulator.plugins.pod_topology_spread import PodTopologySpread
from simulator.plugins.priority_sort import PrioritySort
from simulator.plugins.scheduling_gates import SchedulingGates
from simulator.plugins.taint_toleration import TaintToleration
from simulator.plugins.topology_placement_generator import TopologyPlacementGenerator
from simulator.plugins.volume_binding import VolumeBinding
from simulator.plugins.volume_restrictions import VolumeRestrictions
from simulator.plugins.volume_zone import VolumeZone
from simulator.versions.feature_gates import GANG_SCHEDULING, TOPOLOGY_AWARE_SCHEDULING
from simulator.versions.features import DEFAULT_FEATURES, FEATURES_CACHED, Features

_DEFAULT_PLUGINS: tuple[tuple[type[Plugin], int], ...] = (
    (SchedulingGates, 0),
    (PrioritySort, 0),
    (NodeUnschedulable, 0),
    (NodeName, 0),
    (TaintToleration, 3),
    (NodeAffinity, 2),
    (NodePorts, 0),
    (NodeResourcesFit, 1),
    (VolumeRestrictions, 0),
    (NodeVolumeLimits, 0),
    (VolumeBinding, 0),
    (VolumeZone, 0),
    (PodTopologySpread, 2),
    (InterPodAffinity, 2),
    (ScoringDynamicResources, 2),
    (DefaultPreemption, 0),
    (NodeResourcesBalancedAllocation, 1),
    (ImageLocality, 1),
    (DefaultBinder, 0),
    (NodeDeclaredFeatures, 0),
)


@lru_cache(maxsize=FEATURES_CACHED)
def default_plugins(features: Features) -> tuple[tuple[type[Plugin], int], ...]:
    """Return the plugins of the default profile, in order, with their score weights (getDefaultPlugins and
    applyFeatureGates in default_plugins.go). A weight of 0 means the default, 1."""
    found = dict(_DEFAULT_PLUGINS)
    if not features.enabled(NodeDeclaredFeatures.name):
        del found[NodeDeclaredFeatures]
    if features.enabled(GANG_SCHEDULING):
        found[GangScheduling] = 0
    replaced: dict[type[Plugin], tuple[type[Plugin], int]] = {}
    if features.enabled(TOPOLOGY_AWARE_SCHEDULING):
        found |= {TopologyPlacementGenerator: 0, PodGroupPodsCount: 1}
        replaced[NodeResourcesFit] = PlacementScoringNodeResourcesFit, found[NodeResourcesFit]
    if not features.version.dynamic_resources_scores:
        replaced[ScoringDynamicResources] = DynamicResources, 0
    return tuple(replaced.get(plugin, (plugin, weight)) for plugin, weight in found.items())


OWN: Mapping[str, type[Plugin]] = {Gang.name: Gang}
"""Plugins of this project that kube-scheduler does not have. No profile enables them by default."""

ENTRY_POINT_GROUP = "schedviz.plugins"


@lru_cache(maxsize=FEATURES_CACHED)
def in_tree(features: Features = DEFAULT_FEATURES) -> Mapping[str, type[Plugin]]:
    return {plugin.name: plugin for plugin, _ in default_plugins(features)}


@lru_cache(maxsize=FEATURES_CACHED)
def registered(features: Features = DEFAULT_FEATURES) -> Mapping[str, type[Plugin]]:
    """Return all plugins by name: those of the version, OWN, and the entry points of the group
    ``schedviz.plugins`` of installed packages. A plugin has no effect until a profile enables it.

    Raises TypeError if an entry point is not a plugin class, and ValueError if two plugins have the same
    name."""
    found = {**in_tree(features), **OWN}
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: point.name):
        plugin = point.load()
        if not (isinstance(plugin, type) and issubclass(plugin, Plugin)):
            raise TypeError(f"entry point {point.name!r} ({point.value}) is not a plugin class")
        if plugin.name in found:
            raise ValueError(f"entry point {point.name!r}: a plugin named {plugin.name!r} already exists")
        found[plugin.name] = plugin
    return found


def load(
    manifest: Manifest | None,
    registry: Mapping[str, type[Plugin]] | None = None,
    default_percentage: int = ALL_NODES_PERCENT,
    features: Features = DEFAULT_FEATURES,
) -> Configuration:
    """Parse a KubeSchedulerConfiguration; None = the default configuration. The arguments of plugins are
    decoded with the ``args_type`` of the plugins in ``registry`` (None = :func:`registered`).
    ``default_percentage`` is that of nodes to score. Raises ConfigError."""
    plugins = registered(features) if registry is None else registry
    default = PluginSet(
        enabled=[PluginRef(plugin.name, weight) for plugin, weight in default_plugins(features)]
    )
    return load_configuration(manifest, plugins, default, default_percentage, features)


def profiles(
    config: Configuration,
    registry: Mapping[str, type[Plugin]] | None = None,
    transport: Transport | None = None,
    cluster: Cluster | None = None,
) -> dict[str, Framework]:
    """Return a Framework for each profile of a configuration, by schedulerName (NewMap in
    pkg/scheduler/profile/profile.go). Their plugins come from ``registry`` (None = :func:`registered`) and
    read ``cluster`` (None = an empty one).

    Extenders are called with ``transport``. Raises ConfigError, also if the configuration has extenders whose
    URL ``transport`` does not allow, or has extenders and ``transport`` is None.
    """
    causes = [
        ("extenders", f"{extender.url_prefix} is not on a host that may be called")
        for extender in config.extenders
        if transport is None or not transport.allows(extender.url_prefix)
    ]
    if causes:
        raise ConfigError(causes)
    extenders = [Extender(extender, transport) for extender in config.extenders if transport]
    plugins = registered(config.features) if registry is None else registry
    first = config.profiles[0].scheduler_name
    frameworks: dict[str, Framework] = {}
    for i, profile in enumerate(config.profiles):
        try:
            framework = Framework(profile, plugins, extenders, cluster)
        except ConfigError as failure:
            causes = [(f"profiles[{i}].{path}", message) for path, message in failure.causes]
            raise ConfigError(causes) from None
        if i and names(framework.queue_sort_plugins) != names(frameworks[first].queue_sort_plugins):
            path = f"profiles[{i}].plugins.queueSort"
            raise ConfigError([(path, "must be the same for all profiles: they share one queue")])
        frameworks[profile.scheduler_name] = framework
    return frameworks


def names(plugins: Iterable[Plugin]) -> list[str]:
    return [plugin.name for plugin in plugins]
