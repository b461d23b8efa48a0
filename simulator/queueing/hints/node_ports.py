"""NodePorts (pkg/scheduler/framework/plugins/nodeports/node_ports.go, v1.34)."""

from typing import Any

from simulator.pod import HostPort, Pod
from simulator.queueing.cluster_event import NODE, POD, ActionType
from simulator.queueing.hint import Registered, left_room, register

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - the API's own word for it


def events_to_register(args: Any) -> list[Registered]:
    return [register(POD, ActionType.DELETE, pod_deleted), register(NODE, ActionType.ADD)]


def pod_deleted(pod: Pod, old: Pod, new: None) -> bool:
    """Queue when the pod that is gone held a port that this one wants."""
    return left_room(old) and any(
        conflicting(wanted, held) for wanted in pod.host_ports for held in old.host_ports
    )


def conflicting(a: HostPort, b: HostPort) -> bool:
    same = (a.protocol, a.port) == (b.protocol, b.port)
    return same and (a.ip == b.ip or ANY_ADDRESS in (a.ip, b.ip))
