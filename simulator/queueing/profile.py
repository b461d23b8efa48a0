"""What one profile's plugins tell the queue: events with hints, and who keeps which pods out."""

from collections.abc import Container

from simulator.cluster.cluster import Cluster
from simulator.framework.interface import (
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
)
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod
from simulator.queueing.cluster_event import ALL_RESOURCES, ActionType
from simulator.queueing.hint import EnqueueExtensions, Registered, register, with_node_taint_updates
from simulator.queueing.hint_map import PreEnqueue, QueueProfile
from simulator.queueing.hints import EVENTS_TO_REGISTER, dynamic_resources
from simulator.scheduler import extender


def queue_profile(framework: Framework, cluster: Cluster, preempting: Container[str]) -> QueueProfile:
    """``preempting`` are the uids of pods whose victims are still being told to go."""
    gates = {plugin.name: _admits(plugin) for plugin in framework.pre_enqueue_plugins}
    if "DynamicResources" in framework.plugins:
        claims = "resourceclaims.resource.k8s.io"
        gates["DynamicResources"] = lambda pod: dynamic_resources.claims_exist(
            pod, cluster.objects(claims).__contains__
        )
    if "DefaultPreemption" in framework.plugins:
        gates["DefaultPreemption"] = lambda pod: pod.uid not in preempting
    registered = {name: registered_by(plugin, cluster) for name, plugin in framework.plugins.items()}
    if framework.extenders:
        registered[extender.NAME] = everything()
    return QueueProfile(registered, gates)


def registered_by(plugin: Plugin, cluster: Cluster) -> list[Registered]:
    """What a plugin wants to hear of. One that can turn pods away and does not say what would undo that,
    hears of everything (fillEnqueueExtensions, pkg/scheduler/framework/runtime/framework.go, v1.34)."""
    in_tree = EVENTS_TO_REGISTER.get(plugin.name)
    if in_tree is not None:
        return with_node_taint_updates(in_tree(plugin.args, cluster))
    if not isinstance(
        plugin, PreEnqueuePlugin | PreFilterPlugin | FilterPlugin | ReservePlugin | PermitPlugin
    ):
        return []
    if isinstance(plugin, EnqueueExtensions):
        return with_node_taint_updates(plugin.events_to_register())
    return everything()


def everything() -> list[Registered]:
    return [register(resource, ActionType.ALL) for resource in ALL_RESOURCES]


def _admits(plugin: PreEnqueuePlugin) -> PreEnqueue:
    def admits(pod: Pod) -> bool:
        """A plugin that fails admits nothing, as upstream: an Error is no Success."""
        try:
            return plugin.pre_enqueue(pod) is None
        except Exception:  # whatever it is: see above
            return False

    return admits
