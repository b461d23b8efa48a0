"""The conditions that a node's kubelet reports, and the annotations that simulate a failed or short node."""

from simulator.api import Manifest, Micros
from simulator.objects.conditions import (
    NodeCondition,
    condition,
    condition_status,
    replace_condition,
    transition_time,
)
from simulator.objects.metadata import annotations_of
from simulator.objects.timestamps import timestamp

FAILED = "schedviz/failed"
"""The annotation that makes a node fail ("true") and work again (any other value, or none)."""
FAILED_SINCE = "schedviz/failed-since"
"""The annotation that the kubelet sets beside it: the time from which it posts no status."""
PRESSURE = "schedviz/pressure"
"""The annotation that names what a node is short of: ``memory``, ``disk``, ``pid``, or several with
commas."""


def is_broken(node: Manifest) -> bool:
    return annotations_of(node).get(FAILED) == "true"


def pressures(node: Manifest) -> set[str]:
    """Return the resources that its annotation names as short."""
    return {word.strip() for word in annotations_of(node).get(PRESSURE, "").split(",")}


def is_unreachable(node: Manifest) -> bool:
    """Whether the node's kubelet does nothing: its pods neither start nor end."""
    return is_broken(node) or condition_status(node, "Ready") == "Unknown"


def with_node_condition(
    node: Manifest, now: Micros, kind: str, status: str, *, reason: str, message: str
) -> Manifest:
    """Return the node with this condition; the node itself if it has one of this status and reason
    already."""
    old = condition(node, kind)
    if old is not None and (old["status"], old.get("reason")) == (status, reason):
        return node
    new = NodeCondition(
        type=kind,
        status=status,
        reason=reason,
        message=message,
        last_heartbeat_time=timestamp(now),
        last_transition_time=transition_time(old, status, now),
    )
    return replace_condition(node, new)
