"""The explanation of a pod: where it is and why, from its object, its place in the queue, the trace and the
decision of its last scheduling cycle."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal, Protocol

import msgspec

from simulator import words
from simulator.api import Manifest, Micros
from simulator.apiserver.resources import PODS
from simulator.decision import Decision, Shortage
from simulator.pod_reason import PodReason, find_pod_reason
from simulator.trace import CycleStarted, Event, QueuePlace, VictimDeleted

REASONS_NAMED: Final = 10
"""Maximum number of lines of :meth:`Explanation.__str__` for nodes that fit, and for those that do not."""


class NodeVerdict(msgspec.Struct, frozen=True):
    """The result of one node in the last cycle of the pod."""

    node: str
    verdict: Literal["chosen", "fits", "rejected", "not evaluated"]
    plugin: str = ""
    """The first plugin that rejected the node."""
    reasons: list[str] = []
    shortages: list[Shortage] = []
    """What a node that NodeResourcesFit rejected lacks; of nodes in large clusters it is not recorded."""
    unseen: str = ""
    """Why a node that was not evaluated was not, in a sentence."""
    score: int | None = None
    """The sum of ``scores``; None for a node that was not scored."""
    scores: dict[str, int] = {}
    """Score plugin -> its weighted score."""


class Explanation(msgspec.Struct, frozen=True):
    pod: str
    """The key of the pod: ``namespace/name``."""
    state: Literal["bound", "pending", "deleted"]
    reason: PodReason
    """Why it is where it is."""
    sentence: str
    """The ``reason`` in a sentence, as of the time of the explanation."""
    node: str = ""
    """The node of the pod; for a deleted pod, the node from which it was evicted."""
    lane: str = ""
    """The pod's part of the scheduling queue, for a pending pod: activeQ, backoffQ, unschedulable, gated,
    inFlight, waiting or outside."""
    message: str = ""
    """The scheduler's message, for a pending pod."""
    plugins: list[str] = []
    """The plugins whose events a pending pod waits for."""
    nominated_node: str = ""
    attempts: int = 0
    cycle: int = 0
    """The number of its last scheduling cycle of which the decision is stored; 0 = none. All that follows is
    of this cycle."""
    outcome: str = ""
    """The outcome of the cycle: scheduled, unschedulable, preempting or error."""
    victims: list[str] = []
    """The pods that were evicted for it."""
    preemptor: str = ""
    """The pod that preempted it."""
    evicted_in: int = 0
    """The cycle of that pod; 0 = it was not preempted."""
    nodes: list[NodeVerdict] = []

    def of_node(self, name: str) -> NodeVerdict:
        """Return the verdict of a node. Raises LookupError."""
        for each in self.nodes:
            if each.node == name:
                return each
        raise LookupError(f"cycle {self.cycle} of {self.pod} knows no node {name!r}")

    def __str__(self) -> str:
        return "\n".join(_lines(self))


class ExplainedSandbox(Protocol):
    """What an explanation reads of a sandbox."""

    def get(self, resource: str, key: str) -> Manifest | None: ...
    def queue_place(self, pod: str) -> QueuePlace | None: ...
    def decision(self, cycle: int) -> Decision | None: ...
    def now(self) -> Micros: ...


def explain_pod(pod: str, sandbox: ExplainedSandbox, about: Iterable[Event]) -> Explanation:
    """Explain a pod. about: trace events that name it, the oldest first. Raises LookupError for a pod that
    there never was."""
    manifest, place = sandbox.get(PODS.id, pod), sandbox.queue_place(pod)
    events = [*about]
    own = [event for event in events if getattr(event, "pod", "") == pod]
    if manifest is None and not own:
        raise LookupError(pod)
    evicted = next((each for each in reversed(own) if isinstance(each, VictimDeleted)), None)
    uid = manifest["metadata"]["uid"] if manifest else ""
    found = _last_decision(pod, uid, own, sandbox.decision)
    node = manifest["spec"].get("nodeName", "") if manifest else evicted.node if evicted else ""
    # The eviction of an earlier pod of this name is not one of this pod.
    preempted = (
        evicted if evicted and (manifest is None or manifest["metadata"].get("deletionTimestamp")) else None
    )
    status = (manifest or {}).get("status") or {}
    reason = find_pod_reason(manifest, place, own, sandbox.get, sandbox.now())
    return Explanation(
        pod=pod,
        state="deleted" if manifest is None else "bound" if node else "pending",
        reason=reason,
        sentence=reason.sentence(sandbox.now()),
        node=node,
        lane=place.lane if place and not node else "",
        message=""
        if node or manifest is None
        else (place and place.message) or (found.message if found else ""),
        plugins=[*place.plugins] if place and not node else [],
        nominated_node=status.get("nominatedNodeName", ""),
        attempts=found.attempt if found else 0,
        cycle=found.cycle if found else 0,
        outcome=found.outcome if found else "",
        victims=[victim.pod for victim in found.victims] if found and found.outcome == "preempting" else [],
        preemptor=preempted.preemptor if preempted else "",
        evicted_in=preempted.cycle if preempted else 0,
        nodes=[*_verdicts(found)] if found else [],
    )


def _last_decision(
    pod: str, uid: str, own: list[Event], decision_of: Callable[[int], Decision | None]
) -> Decision | None:
    """Return the last stored decision of the pod. uid: "" = of any pod of this name."""
    for event in reversed(own):
        if isinstance(event, CycleStarted):
            found = decision_of(event.cycle)
            if found is not None and found.pod == pod:
                return found if uid in ("", found.uid) else None
    return None


def _verdicts(decision: Decision) -> Iterator[NodeVerdict]:
    places = {index: place for place, index in enumerate(decision.feasible)}
    unseen = words.UNSEEN[words.unseen_kind(decision)] % words.unseen_values(decision)
    for index, (node, verdict) in enumerate(zip(decision.nodes, decision.verdicts, strict=True)):
        if verdict > 0:
            failure = decision.failures[verdict - 1]
            shortages = decision.shortages_of(index)
            yield NodeVerdict(node, "rejected", failure.plugin, [*failure.reasons], shortages)
            continue
        place = places.get(index)
        if place is None:
            yield (
                NodeVerdict(node, "not evaluated", unseen=unseen)
                if verdict < 0
                else NodeVerdict(node, "fits")
            )
            continue
        scores = {each.plugin: int(each.weighted[place]) for each in decision.scores}
        score = int(decision.totals[place]) if decision.scores else None
        chosen = node == decision.selected
        yield NodeVerdict(node, "chosen" if chosen else "fits", score=score, scores=scores)


def _lines(found: Explanation) -> Iterator[str]:
    match found.state:
        case "bound":
            yield f"{found.pod} is bound to {found.node}."
        case "deleted":
            yield f"{found.pod} was deleted."
        case "pending":
            yield f"{found.pod} is pending" + (f" in {found.lane}." if found.lane else ".")
    if found.state != "deleted":
        yield found.sentence
    if found.preemptor:
        yield f"{found.preemptor} preempted it on {found.node} in cycle {found.evicted_in}."
    if found.message:
        yield found.message
    if found.victims:
        yield f"Preempted for it: {', '.join(found.victims)}; nominated node: {found.nominated_node}"
    if not found.cycle:
        yield "No scheduling cycle of it is stored."
        return
    yield f"Cycle {found.cycle}, attempt {found.attempts}: {found.outcome}"
    fits = [each for each in found.nodes if each.verdict in ("chosen", "fits")]
    for each in sorted(fits, key=lambda each: (each.verdict != "chosen", -(each.score or 0)))[:REASONS_NAMED]:
        parts = ", ".join(f"{plugin} {score}" for plugin, score in each.scores.items())
        yield f"  {each.node}: {each.verdict}" + (f", score {each.score} ({parts})" if parts else "")
    rejected = [each for each in found.nodes if each.verdict == "rejected"]
    lines = [*_lines_of_rejected(rejected)]
    yield from lines[:REASONS_NAMED]
    unseen = {each.unseen for each in found.nodes if each.verdict == "not evaluated"}
    if unseen and not fits and not rejected:
        yield f"  {len(found.nodes):,} nodes: {', '.join(sorted(unseen))}"
    if len(fits) > REASONS_NAMED:
        yield f"  and {len(fits) - REASONS_NAMED:,} more nodes that fit"
    if len(lines) > REASONS_NAMED:
        yield "  and more nodes, for other reasons"


def _lines_of_rejected(rejected: list[NodeVerdict]) -> Iterator[str]:
    """Yield a line for each rejected node; of more than REASONS_NAMED, those that are rejected for the same
    reasons share one with the node of which the amounts are recorded: it lacks least."""
    alike: dict[tuple[str, ...], list[NodeVerdict]] = {}
    for number, each in enumerate(rejected):
        key = (each.plugin, *each.reasons) if len(rejected) > REASONS_NAMED else (str(number),)
        alike.setdefault(key, []).append(each)
    for nodes in sorted(alike.values(), key=len, reverse=True):
        first = next((each for each in nodes if each.shortages), nodes[0])
        name = first.node if len(nodes) == 1 else f"{len(nodes):,} nodes like {first.node}"
        text = words.SHORTAGE if len(nodes) == 1 else words.LARGEST_SHORTAGE
        reasons = "; ".join(words.with_amounts(first.reasons, first.shortages, text))
        yield f"  {name}: {first.plugin}: {reasons}"
