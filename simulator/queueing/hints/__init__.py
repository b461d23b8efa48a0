"""The queueing hints of the in-tree plugins, v1.34: one module per plugin, named as its plugin is.

Each has ``events_to_register(args, cluster)``, upstream's EventsToRegister; ``args`` are the plugin's decoded
arguments (simulator/config/args.py), None for one that takes none, or for the defaults.
"""

from collections.abc import Callable, Mapping
from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.queueing.hint import Registered
from simulator.queueing.hints import (
    default_preemption,
    dynamic_resources,
    inter_pod_affinity,
    node_affinity,
    node_name,
    node_ports,
    node_resources_fit,
    node_unschedulable,
    node_volume_limits,
    pod_topology_spread,
    scheduling_gates,
    taint_toleration,
    volume_binding,
    volume_restrictions,
    volume_zone,
)

EVENTS_TO_REGISTER: Mapping[str, Callable[[Any, Cluster], list[Registered]]] = {
    "SchedulingGates": scheduling_gates.events_to_register,
    "NodeUnschedulable": node_unschedulable.events_to_register,
    "NodeName": node_name.events_to_register,
    "TaintToleration": taint_toleration.events_to_register,
    "NodeAffinity": node_affinity.events_to_register,
    "NodePorts": node_ports.events_to_register,
    "NodeResourcesFit": node_resources_fit.events_to_register,
    "VolumeRestrictions": volume_restrictions.events_to_register,
    "NodeVolumeLimits": node_volume_limits.events_to_register,
    "VolumeBinding": volume_binding.events_to_register,
    "VolumeZone": volume_zone.events_to_register,
    "PodTopologySpread": pod_topology_spread.events_to_register,
    "InterPodAffinity": inter_pod_affinity.events_to_register,
    "DynamicResources": dynamic_resources.events_to_register,
    "DefaultPreemption": default_preemption.events_to_register,
}
