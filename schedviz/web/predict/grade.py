"""Whether a guess was right, and what kind of slip a wrong one was, as far as it can be told."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from schedviz.web.view.picture import NodeRecord, PodRecord
from simulator.decision import Decision, PluginScores
from simulator.trace import LaneEntry

from .question import Kind, answer, as_good, victims

Slip = Literal[
    "",
    "not-active",  # next: it waits in another lane than activeQ
    "gated",  # next: a scheduling gate holds it
    "size-or-age",  # next: it is bigger or older, but of lower priority
    "queued-later",  # next: of equal priority, but queued later
    "taint",  # nodes, as all up to "lower-priority"
    "cordoned",
    "plugin",  # another filter plugin says no; ``detail`` names it
    "sum-of-nodes",
    "lower-priority",  # its room is taken by pods that preemption might evict, but filters count them
    "limits",  # nodes: left out, though only the limits are too large
    "missed",  # nodes: left out a node that passes
    "room-only",  # winner: it has the most free room, but other scores decided
    "scores",  # winner: ``detail`` names the score plugin that made most of the difference
    "not-lower",  # victims: a pod whose priority is not lower than the preemptor's
    "several-nodes",
    "pdb-wall",
    "too-many",
    "too-few",
    "other-node",
    "nobody",  # victims: preemption evicts, and the guess was nobody
    "no-help",  # victims: nobody is evicted
]


class World(msgspec.Struct, frozen=True):
    """What slips are told from. Pods by key, nodes by name."""

    lanes: Mapping[str, LaneEntry]
    pods: Mapping[str, PodRecord]
    nodes: Mapping[str, NodeRecord]
    by_node: Mapping[str, Mapping[str, PodRecord]]


class Grade(msgspec.Struct, frozen=True):
    right: bool
    slip: Slip = ""
    subject: str = ""
    """The pod or node that shows the slip."""
    detail: str = ""


def grade(kind: Kind, picks: frozenset[str], decision: Decision, world: World) -> Grade:
    """``decision`` is far enough for an answer."""
    truth = answer(kind, decision)
    if truth is None:
        truth = frozenset(decision.nodes[at] for at in decision.feasible) if kind == "nodes" else frozenset()
    if kind == "next":
        return Grade(True) if picks == truth else next_slip(min(picks), decision, world)
    if kind == "nodes":
        unseen = {node for node, code in zip(decision.nodes, decision.verdicts, strict=True) if code < 0}
        wrong = (picks - unseen) ^ truth
        return nodes_slip(wrong - truth, wrong & truth, decision, world) if wrong else Grade(True)
    if kind == "winner":
        return Grade(True) if picks <= truth else winner_slip(min(picks), decision)
    return Grade(True) if picks in as_good(decision) else victims_slip(picks, truth, decision, world)


def next_slip(pick: str, decision: Decision, world: World) -> Grade:
    entry = world.lanes.get(pick)
    if entry is None:
        return Grade(False)
    if entry.lane == "gated":
        return Grade(False, "gated", pick, entry.gate)
    if entry.lane != "activeQ":
        return Grade(False, "not-active", pick, entry.lane)
    if entry.place:
        return Grade(False, "queued-later", pick)
    if entry.priority < decision.priority:
        return Grade(False, "size-or-age", pick, str(entry.priority))
    return Grade(False, "queued-later", pick)


def nodes_slip(kept: frozenset[str], missed: frozenset[str], decision: Decision, world: World) -> Grade:
    """``kept``: guessed, but they do not pass; ``missed``: they pass, but were not guessed."""
    for node in sorted(kept):
        failure = decision.failures[decision.verdicts[decision.nodes.index(node)] - 1]  # it was looked at
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


def room(node: str, world: World) -> dict[str, int]:
    return dict(world.nodes[node].allocatable) if node in world.nodes else {}


def taken(node: str, world: World, resource: str, from_priority: int | None = None) -> int:
    """What is requested of a resource, by pods of at least that priority."""
    pods = world.by_node.get(node, {}).values()
    return sum(
        pod.requests.get(resource, 0)
        for pod in pods
        if from_priority is None or pod.priority >= from_priority
    )


def fits_beside_higher(node: str, decision: Decision, world: World) -> bool:
    """Whether it would fit if the pods of lower priority were gone."""
    there = room(node, world)
    lower = any(pod.priority < decision.priority for pod in world.by_node.get(node, {}).values())
    return lower and all(
        amount + taken(node, world, resource, decision.priority) <= there.get(resource, 0)
        for resource, amount in decision.requests.items()
    )


def fits_in_sum(decision: Decision, world: World) -> bool:
    """Whether the free room of all nodes together would be enough."""
    return all(
        amount
        <= sum(max(0, room(node, world).get(what, 0) - taken(node, world, what)) for node in decision.nodes)
        for what, amount in decision.requests.items()
    )


def limits_too_large(node: str, decision: Decision, world: World) -> bool:
    """Whether the node would not pass if limits counted."""
    there, own = room(node, world), world.pods.get(decision.pod)
    pods = world.by_node.get(node, {}).values()
    resources = {what for pod in pods for what in pod.limits} | {*(own.limits if own else ())}
    return any(
        sum(pod.limits.get(what, 0) for pod in pods if pod.key != decision.pod)
        + (own.limits.get(what, 0) if own else 0)
        > there.get(what, 0)
        for what in resources
    )


def winner_slip(pick: str, decision: Decision) -> Grade:
    names = [decision.nodes[at] for at in decision.feasible]
    if pick not in names or decision.selected not in names or not decision.scores:
        return Grade(False)
    mine, best = names.index(pick), names.index(decision.selected)

    def lead(row: PluginScores) -> int:
        return row.weighted[best] - row.weighted[mine]

    most = max(decision.scores, key=lead)
    fit = next((row for row in decision.scores if row.plugin == "NodeResourcesFit"), None)
    if fit and lead(fit) < 0 and fit.weighted[mine] == max(fit.weighted):
        return Grade(False, "room-only", pick, most.plugin)
    return Grade(False, "scores", pick, most.plugin)


def victims_slip(picks: frozenset[str], truth: frozenset[str], decision: Decision, world: World) -> Grade:
    if not truth:
        return Grade(False, "no-help")
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
    protected = sorted(victim.pod for victim in victims(decision) if victim.violates_pdb)
    if protected and not picks & {*protected}:
        return Grade(False, "pdb-wall", protected[0])
    if picks > truth:
        return Grade(False, "too-many", min(picks - truth))
    if picks < truth:
        return Grade(False, "too-few", min(truth - picks))
    if nodes and found.chosen not in nodes:
        return Grade(False, "other-node", min(nodes))
    return Grade(False)
