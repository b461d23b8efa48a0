"""Which pods and nodes a trace event names: what their panels find it by."""

from typing import NamedTuple

from simulator import trace
from simulator.trace import Event

PODS = "pods"
NODES = "nodes"


class Mentions(NamedTuple):
    pods: set[str]
    """By ``namespace/name``."""
    nodes: set[str]


def mentions(event: Event) -> Mentions:
    """Every pod and node that the event names, in whatever part it plays."""
    pods = {getattr(event, "pod", ""), getattr(event, "preemptor", "")}
    nodes = {getattr(event, "node", "")}
    match event:
        case trace.Nominated(victims=victims):
            pods.update(victims)
        case (
            trace.ObjectsCreated(resource=resource, keys=keys)
            | trace.ObjectsDeleted(resource=resource, keys=keys)
        ):
            named(resource, pods, nodes).update(keys)
        case trace.ObjectUnreadable(resource=resource, key=key):
            named(resource, pods, nodes).add(key)
    return Mentions(pods - {""}, nodes - {""})


def named(resource: str, pods: set[str], nodes: set[str]) -> set[str]:
    """Where the names of a resource's objects are gathered; those of other resources are dropped."""
    return pods if resource == PODS else nodes if resource == NODES else set()
