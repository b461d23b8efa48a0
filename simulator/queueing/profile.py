"""What one profile's plugins tell the queue: events with hints, and who keeps which pods out."""

from collections.abc import Container, Mapping
from typing import Any

from simulator.cluster import Cluster
from simulator.queueing.hints import dynamic_resources, events_to_register
from simulator.queueing.scheduling_queue import PreEnqueue, QueueProfile


def queue_profile(
    args: Mapping[str, Any],
    pre_enqueue: Mapping[str, PreEnqueue],
    cluster: Cluster,
    preempting: Container[str],
) -> QueueProfile:
    """What a profile's plugins tell the queue.

    ``args`` holds the decoded arguments of every enabled plugin by its name; ``pre_enqueue`` is what the
    other plugins ask before a pod is queued; ``preempting`` are the uids of pods whose victims are still
    being told to go.
    """
    gates = dict(pre_enqueue)
    if "DynamicResources" in args:
        claims = "resourceclaims.resource.k8s.io"
        gates["DynamicResources"] = lambda pod: dynamic_resources.claims_exist(
            pod, cluster.objects(claims).__contains__
        )
    if "DefaultPreemption" in args:
        gates["DefaultPreemption"] = lambda pod: pod.uid not in preempting
    return QueueProfile({name: events_to_register(name, args[name], cluster) for name in args}, gates)
