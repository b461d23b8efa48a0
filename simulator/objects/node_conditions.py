"""What a node says of itself, and whether anybody is there to say it."""

from simulator.api import Manifest, Micros
from simulator.apiserver.timestamps import timestamp

FAILED = "schedviz/failed"
"""The annotation by which a node is broken ("true") and mended (anything else, or none)."""
FAILED_SINCE = "schedviz/failed-since"
"""Written beside it: when its kubelet was heard for the last time."""
PRESSURE = "schedviz/pressure"
"""The annotation that says what a node is short of: ``memory``, ``disk``, ``pid``, or several with commas."""


def node_condition(node: Manifest, kind: str) -> Manifest | None:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return next((c for c in conditions if c["type"] == kind), None)


def condition_status(node: Manifest, kind: str) -> str:
    """True, False or Unknown; "" where nothing is said of it."""
    found = node_condition(node, kind)
    return str(found["status"]) if found else ""


def is_broken(node: Manifest) -> bool:
    return bool((node["metadata"].get("annotations") or {}).get(FAILED) == "true")


def short_of(node: Manifest) -> set[str]:
    """What its annotation says that it is short of."""
    text = (node["metadata"].get("annotations") or {}).get(PRESSURE, "")
    return {word.strip() for word in text.split(",")}


def is_silent(node: Manifest) -> bool:
    """Its kubelet is not heard: nothing starts, ends or goes there."""
    return is_broken(node) or condition_status(node, "Ready") == "Unknown"


def heard(node: Manifest) -> tuple[bool, str]:
    """What decides whether its pods go on, and count as ready."""
    return is_silent(node), condition_status(node, "Ready")


def with_node_condition(
    node: Manifest, now: Micros, kind: str, status: str, *, reason: str, message: str
) -> Manifest:
    """The node itself where it says so already."""
    old = node_condition(node, kind)
    if old is not None and (old["status"], old.get("reason")) == (status, reason):
        return node
    stamp = timestamp(now)
    since = old.get("lastTransitionTime", stamp) if old and old["status"] == status else stamp
    new = {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": stamp,
        "lastTransitionTime": since,
    }
    old_status = node.get("status") or {}
    conditions = [c for c in old_status.get("conditions") or () if c["type"] != kind]
    return {**node, "status": {**old_status, "conditions": [*conditions, new]}}
