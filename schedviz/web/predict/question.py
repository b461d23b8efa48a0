"""The questions about the next decision: which pod is scheduled next, which nodes pass the filters, which
node is chosen, which pods are evicted."""

from collections.abc import Mapping
from hashlib import blake2b
from heapq import nsmallest
from typing import Final, Literal

import msgspec

from schedviz.web.picture.picture import Picture
from schedviz.web.queue.order import sort_key
from simulator import trace
from simulator.decision import Decision, UnderWay
from simulator.trace import QueuePlace

GuessKind = Literal["next", "nodes", "winner", "victims"]

CHOICES_AT_MOST: Final = 100
"""Maximum number of choices of a question; with more, nothing is asked."""
LANES: Final = ("activeQ", "backoffQ", "unschedulable", "gated")
"""The lanes whose pods are choices for the next pod."""


class GuessQuestion(msgspec.Struct, frozen=True):
    kind: GuessKind
    cycle: int
    """The scheduling cycle whose Decision answers it."""
    pod: str
    """The key of the pod; "" if the question is which pod is next."""
    state: str = ""
    """A digest of what the answer depends on; empty in a cycle, which works on its snapshot."""
    choices: tuple[str, ...] = ()
    """Names of nodes, or ``namespace/name`` of pods, sorted by name, so that the order does not show the
    answer."""

    @property
    def id(self) -> str:
        """A guess counts only for the question with the same id. A change of the queue makes another one."""
        return f"{self.cycle}-{self.kind}" + (f"-{self.state}" if self.state else "")

    @property
    def many(self) -> bool:
        """Whether the answer is a set of choices, which may be empty; otherwise it is one choice."""
        return self.kind in ("nodes", "victims")


def next_question(picture: Picture, last_cycle: int) -> GuessQuestion | None:
    """Return the question about the next decision; None if there are too few or too many choices. The next
    step is then taken without a question."""
    under_way = picture.under_way
    if under_way is None:
        question = next_pod_question(picture.queue_places, last_cycle + 1)
    elif under_way.decision is None:
        return None
    else:
        question = cycle_question(picture, under_way, under_way.decision)
    if question is None or len(question.choices) > CHOICES_AT_MOST:
        return None
    return question


def next_pod_question(queue_places: Mapping[str, QueuePlace], cycle: int) -> GuessQuestion | None:
    """Return the question which pod is next; None if fewer than two pods are in the queue, or none of them
    can be scheduled next."""
    waiting = [entry for entry in queue_places.values() if entry.lane in LANES]
    if len(waiting) < 2 or not any(entry.lane in ("activeQ", "backoffQ") for entry in waiting):
        return None
    # The head of a long queue, and the pods after it.
    nearest = nsmallest(
        CHOICES_AT_MOST, waiting, key=lambda entry: (LANES.index(entry.lane), sort_key(entry))
    )
    order = repr([(entry.lane, entry.uid, sort_key(entry)) for entry in sorted(waiting, key=sort_key)])
    digest = blake2b(order.encode(), digest_size=6).hexdigest()
    return GuessQuestion("next", cycle, "", digest, tuple(sorted(entry.pod for entry in nearest)))


def cycle_question(picture: Picture, under_way: UnderWay, so_far: Decision) -> GuessQuestion | None:
    cycle, pod = under_way.cycle, under_way.pod
    match under_way.point:
        case "PreFilter":
            return (
                GuessQuestion("nodes", cycle, pod, "", tuple(sorted(so_far.nodes))) if so_far.nodes else None
            )
        case "PreScore":
            return GuessQuestion(
                "winner", cycle, pod, "", tuple(sorted(so_far.nodes[at] for at in so_far.feasible))
            )
        case "PostFilter":
            bound = sorted(key for pods in picture.by_node.values() for key in pods)
            return GuessQuestion("victims", cycle, pod, "", tuple(bound)) if bound else None
    return None


def answer(kind: GuessKind, decision: Decision, point: str = "") -> frozenset[str] | None:
    """Return the right choices; None while it is undecided. point: the next extension point of a cycle under
    way. All nodes with the best total score are right, because one of them is drawn at random."""
    if kind == "next":
        return frozenset({decision.pod})
    if kind == "nodes":
        known = decision.pre_filter is not None and point not in ("PreFilter", "Filter")
        return frozenset(decision.nodes[at] for at in decision.feasible) if known else None
    if kind == "winner":
        over = bool(decision.outcome)
        return frozenset(decision.tied or [decision.selected]) if decision.selected or over else None
    return frozenset(victim.pod for victim in decision.victims) if decision.outcome else None


class Popped(msgspec.Struct, frozen=True):
    """How the pod of a cycle was taken off the queue."""

    lane: Literal["activeQ", "backoffQ", ""] = ""
    """The lane from which it was popped; "" = the trace does not have it any more."""
    order: Literal["priority", "arrival", "plugin", ""] = ""
    """What sorts activeQ; "" = not known, as no pod is in the queue."""


UNKNOWN: Final = Popped()


def find_popped(picture: Picture, decision: Decision) -> Popped:
    """Return how the pod of a decision was popped: from the trace, and from the entries of the queue."""
    lane: Literal["activeQ", "backoffQ", ""] = ""
    begun = False
    for _, event in reversed(picture.trace):
        if isinstance(event, trace.CycleStarted):
            begun = event.cycle == decision.cycle
        elif begun and isinstance(event, trace.QueueMoved) and event.pod == decision.pod:
            lane = event.source if event.source in ("activeQ", "backoffQ") else ""
            break
    order: Literal["priority", "arrival", "plugin", ""] = "priority" if picture.queue_places else ""
    if any(entry.place for entry in picture.queue_places.values()):
        order = "arrival"
    elif any(entry.sort_key for entry in picture.queue_places.values()):
        order = "plugin"
    return Popped(lane, order)


def equal_victims(decision: Decision) -> list[frozenset[str]]:
    """Return the victims of each candidate that the tie-break rules do not exclude; one of these is drawn at
    random."""
    found = decision.preemption
    if found is None or not found.chosen:
        return [frozenset()]
    nodes = {found.chosen, *found.tied}
    return [
        frozenset(victim.pod for victim in each.victims) for each in found.candidates if each.node in nodes
    ]
