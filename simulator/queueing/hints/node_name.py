"""NodeName (pkg/scheduler/framework/plugins/nodename/node_name.go, v1.34)."""

from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.queueing.cluster_event import NODE, ActionType
from simulator.queueing.hint import Registered, register


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    return [register(NODE, ActionType.ADD)]
