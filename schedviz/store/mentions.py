"""Finds the pods and nodes that a trace event names, by which panels find the event."""

from typing import NamedTuple

from simulator import trace
from simulator.trace import Event

PODS = "pods"
NODES = "nodes"


class Mentions(NamedTuple):
    pods: set[str]
    """The keys of the pods: ``namespace/name``."""
    nodes: set[str]


def mentions(event: Event) -> Mentions:
    """Return all pods and nodes that an event names, in any of its fields."""
    pods = {getattr(event, "pod", ""), getattr(event, "preemptor", "")}
    nodes = {getattr(event, "node", "")}
    match event:
        case trace.Nominated(victims=victims) | trace.PodGroupPreempted(victims=victims):
            pods.update(victims)
        case trace.VictimReplaced(by=pod, to=node):
            pods.add(pod)
            nodes.add(node)
        case trace.PodGroupCycleStarted(pods=members):
            pods.update(members)
        case trace.PodGroupTried(members=tried):
            pods.update(each.pod for each in tried)
        case trace.PodGroupCycleEnded(bound=bound, taken_back=back):
            pods.update(bound, back)
        case (
            trace.ObjectsCreated(resource=resource, keys=keys)
            | trace.ObjectsDeleted(resource=resource, keys=keys)
        ):
            named(resource, pods, nodes).update(keys)
        case trace.ObjectUnreadable(resource=resource, key=key):
            named(resource, pods, nodes).add(key)
    return Mentions(pods - {""}, nodes - {""})


def named(resource: str, pods: set[str], nodes: set[str]) -> set[str]:
    """Return the set for the names of a resource's objects; a new one, which is dropped, for other
    resources."""
    return pods if resource == PODS else nodes if resource == NODES else set()
