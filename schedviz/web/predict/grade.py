"""Grades a guess, and finds the mistake behind a wrong one, if it can be recognized."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from schedviz.web.picture.records import NodeRecord, PodRecord
from simulator.decision import Decision, PluginScores
from simulator.trace import QueuePlace

from .question import GuessKind, Popped, answer, equal_victims

Mistake = Literal[
    "",
    "not-active",  # next: the pod is in another lane than activeQ, from which the right one was popped
    "not-popped",  # next: the pod is in a lane from which no pod is popped; the right one was in backoffQ
    "behind",  # next: the pod is behind the right one, by another rule than the priority
    "gated",  # next: a PreEnqueue plugin holds it; ``detail`` names it
    "size-or-age",  # next: the pod has a lower priority
    "queued-later",  # next: the pod has the same priority, but was queued later
    "taint",  # nodes, as all up to "lower-priority"
    "cordoned",
    "plugin",  # another filter plugin rejects the node; ``detail`` names it
    "sum-of-nodes",  # the pod fits only into the free resources of all nodes together
    "lower-priority",  # the pod would fit without the pods of lower priority, but filters count them
    "limits",  # nodes: the node passes; it would not if limits counted
    "missed",  # nodes: the node passes
    "room-only",  # winner: the node has the best NodeResourcesFit score, but other scores decided
    "scores",  # winner: ``detail`` names the score plugin that made most of the difference
    "not-lower",  # victims: a pod whose priority is not lower than the preemptor's
    "several-nodes",  # victims: the chosen pods are on several nodes
    "pdb-wall",  # victims: the guess omits pods with a disruption budget that are evicted
    "too-many",  # victims: more pods than necessary
    "too-few",  # victims: not all that are necessary
    "other-node",  # victims: pods of a node that preemption does not choose
    "nobody",  # victims: preemption evicts, and the guess was nobody
    "no-help",  # victims: preemption found no candidate
    "not-tried",  # victims: the pod may not preempt, or preemption did not run
]


class ClusterState(msgspec.Struct, frozen=True):
    """The state of the sandbox from which mistakes are recognized. Pods by key, nodes by name."""

    queue_places: Mapping[str, QueuePlace]
    pods: Mapping[str, PodRecord]
    nodes: Mapping[str, NodeRecord]
    by_node: Mapping[str, Mapping[str, PodRecord]]
    popped: Popped = Popped("activeQ", "priority")


class Grade(msgspec.Struct, frozen=True):
    right: bool
    mistake: Mistake = ""
    subject: str = ""
    """The pod or node of the mistake."""
    detail: str = ""


def grade(kind: GuessKind, picks: frozenset[str], decision: Decision, world: ClusterState) -> Grade:
    """Grade a guess. ``decision`` must be complete enough for an answer."""
    truth = answer(kind, decision)
    if truth is None:
        truth = frozenset(decision.nodes[at] for at in decision.feasible) if kind == "nodes" else frozenset()
    if kind == "next":
        return Grade(True) if picks == truth else next_mistake(min(picks), decision, world)
    if kind == "nodes":
        unseen = {node for node, code in zip(decision.nodes, decision.verdicts, strict=True) if code < 0}
        wrong = (picks - unseen) ^ truth
        return nodes_mistake(wrong - truth, wrong & truth, decision, world) if wrong else Grade(True)
    if kind == "winner":
        return Grade(True) if picks <= truth else winner_mistake(min(picks), decision)
    return Grade(True) if picks in equal_victims(decision) else victims_mistake(picks, truth, decision, world)


def next_mistake(pick: str, decision: Decision, world: ClusterState) -> Grade:
    entry = world.queue_places.get(pick)
    if entry is None:
        return Grade(False)
    if entry.lane == "gated":
        return Grade(False, "gated", pick, entry.gate)
    from_backoff = world.popped.lane == "backoffQ"
    if entry.lane != "activeQ" and not (from_backoff and entry.lane == "backoffQ"):
        return Grade(False, "not-popped" if from_backoff else "not-active", pick, entry.lane)
    if from_backoff or world.popped.order != "priority" or entry.priority > decision.priority:
        return Grade(False, "behind", pick, entry.lane)
    if entry.priority < decision.priority:
        return Grade(False, "size-or-age", pick, str(entry.priority))
    return Grade(False, "queued-later", pick)


def nodes_mistake(
    kept: frozenset[str], missed: frozenset[str], decision: Decision, world: ClusterState
) -> Grade:
    """Return the mistake in a guess of nodes. kept: nodes in the guess that do not pass. missed: nodes that
    pass and are not in the guess."""
    for node in sorted(kept):
        # Nodes that were not examined are excluded by the caller, so the node has a failure.
        failure = decision.failures[decision.verdicts[decision.nodes.index(node)] - 1]
        why = ", ".join(failure.reasons)
        match failure.plugin:
            case "TaintToleration":
                return Grade(False, "taint", node, why)
            case "NodeUnschedulable":
                return Grade(False, "cordoned", node)
            case "NodeResourcesFit" if fits_beside_higher(node, decision, world):
                return Grade(False, "lower-priority", node, why)
            case "NodeResourcesFit" if not decision.feasible and fits_in_sum(decision, world):
                return Grade(False, "sum-of-nodes", node, why)
        return Grade(False, "plugin", node, f"{failure.plugin}: {why}")
    node = min(missed)
    return Grade(False, "limits" if limits_too_large(node, decision, world) else "missed", node)


def room(node: str, world: ClusterState) -> dict[str, int]:
    return dict(world.nodes[node].allocatable) if node in world.nodes else {}


def taken(node: str, world: ClusterState, resource: str, from_priority: int | None = None) -> int:
    """Return the requests for a resource on a node. from_priority: only pods of at least this priority
    count."""
    pods = world.by_node.get(node, {}).values()
    return sum(
        pod.requests.get(resource, 0)
        for pod in pods
        if from_priority is None or pod.priority >= from_priority
    )


def fits_beside_higher(node: str, decision: Decision, world: ClusterState) -> bool:
    """Whether the pod would fit on the node without the pods of lower priority."""
    there = room(node, world)
    lower = any(pod.priority < decision.priority for pod in world.by_node.get(node, {}).values())
    return lower and all(
        amount + taken(node, world, resource, decision.priority) <= there.get(resource, 0)
        for resource, amount in decision.requests.items()
    )


def fits_in_sum(decision: Decision, world: ClusterState) -> bool:
    """Whether the free resources of all nodes together would be enough for the pod."""
    return all(
        amount
        <= sum(max(0, room(node, world).get(what, 0) - taken(node, world, what)) for node in decision.nodes)
        for what, amount in decision.requests.items()
    )


def limits_too_large(node: str, decision: Decision, world: ClusterState) -> bool:
    """Whether the sum of the limits on the node, with the pod's, exceeds what is allocatable."""
    there, own = room(node, world), world.pods.get(decision.pod)
    pods = world.by_node.get(node, {}).values()
    resources = {what for pod in pods for what in pod.limits} | {*(own.limits if own else ())}
    return any(
        sum(pod.limits.get(what, 0) for pod in pods if pod.key != decision.pod)
        + (own.limits.get(what, 0) if own else 0)
        > there.get(what, 0)
        for what in resources
    )


def winner_mistake(pick: str, decision: Decision) -> Grade:
    names = [decision.nodes[at] for at in decision.feasible]
    if pick not in names or decision.selected not in names or not decision.scores:
        return Grade(False)
    guessed, best = names.index(pick), names.index(decision.selected)

    def lead(row: PluginScores) -> int:
        return row.weighted[best] - row.weighted[guessed]

    most = max(decision.scores, key=lead)
    fit = next((row for row in decision.scores if row.plugin == "NodeResourcesFit"), None)
    if fit and lead(fit) < 0 and fit.weighted[guessed] == max(fit.weighted):
        return Grade(False, "room-only", pick, most.plugin)
    return Grade(False, "scores", pick, most.plugin)


def victims_mistake(
    picks: frozenset[str], truth: frozenset[str], decision: Decision, world: ClusterState
) -> Grade:
    if not truth:
        tried = decision.preemption is not None and decision.preemption.eligible
        return Grade(False, "no-help" if tried else "not-tried")
    if not picks:
        return Grade(False, "nobody")
    known = {pod: world.pods[pod] for pod in sorted(picks) if pod in world.pods}
    found = decision.preemption
    assert found is not None  # somebody is evicted
    for key, pod in known.items():
        if pod.priority >= decision.priority:
            return Grade(False, "not-lower", key, str(pod.priority))
    nodes = {pod.node for pod in known.values()} | ({found.chosen} if picks & truth else set())
    if len(nodes) > 1:
        return Grade(False, "several-nodes", "", ", ".join(sorted(nodes)))
    protected = sorted(victim.pod for victim in decision.victims if victim.violates_pdb)
    if protected and not picks & {*protected}:
        return Grade(False, "pdb-wall", protected[0])
    if picks > truth:
        return Grade(False, "too-many", min(picks - truth))
    if picks < truth:
        return Grade(False, "too-few", min(truth - picks))
    if nodes and found.chosen not in nodes:
        return Grade(False, "other-node", min(nodes))
    return Grade(False)
