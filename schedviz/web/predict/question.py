"""What can be asked where a sandbox stands: who is next, which nodes pass, which wins, who is evicted."""

from collections.abc import Mapping
from heapq import nsmallest
from typing import Final, Literal

import msgspec

from schedviz.web.view.picture import Picture
from schedviz.web.view.queue import sort_key
from simulator.decision import Decision, UnderWay, Victim
from simulator.trace import LaneEntry

Kind = Literal["next", "nodes", "winner", "victims"]

CHOICES_AT_MOST: Final = 100
"""Things to choose from: more is no question but a search."""
LANES: Final = ("activeQ", "backoffQ", "unschedulable", "gated")
"""What a pod may be thought to come from next."""


class Question(msgspec.Struct, frozen=True):
    kind: Kind
    cycle: int
    """The scheduling cycle whose Decision answers it."""
    pod: str
    """``namespace/name``; empty where that is the question."""
    choices: tuple[str, ...]
    """Names of nodes, or pods as ``namespace/name``; sorted by name, which tells nothing."""

    @property
    def id(self) -> str:
        return f"{self.cycle}-{self.kind}"

    @property
    def many(self) -> bool:
        """Whether any number of choices, or none, may be the answer."""
        return self.kind in ("nodes", "victims")


def asked(picture: Picture, last_cycle: int) -> Question | None:
    """None where there is nothing to choose between, or too much: the step is then taken without."""
    under_way = picture.under_way
    if under_way is None:
        question = who_is_next(picture.lanes, last_cycle + 1)
    elif under_way.decision is None:
        return None
    else:
        question = of_a_cycle(picture, under_way, under_way.decision)
    if question is None or len(question.choices) > CHOICES_AT_MOST:
        return None
    return question


def who_is_next(lanes: Mapping[str, LaneEntry], cycle: int) -> Question | None:
    """None where fewer than two pods may be thought of, or none can come."""
    waiting = [entry for entry in lanes.values() if entry.lane in LANES]
    if len(waiting) < 2 or not any(entry.lane in ("activeQ", "backoffQ") for entry in waiting):
        return None
    # Of a long queue the head is among them, and what stands near it.
    nearest = nsmallest(
        CHOICES_AT_MOST, waiting, key=lambda entry: (LANES.index(entry.lane), sort_key(entry))
    )
    return Question("next", cycle, "", tuple(sorted(entry.pod for entry in nearest)))


def of_a_cycle(picture: Picture, under_way: UnderWay, so_far: Decision) -> Question | None:
    cycle, pod = under_way.cycle, under_way.pod
    match under_way.point:
        case "PreFilter":
            return Question("nodes", cycle, pod, tuple(sorted(so_far.nodes))) if so_far.nodes else None
        case "PreScore":
            return Question("winner", cycle, pod, tuple(sorted(so_far.nodes[at] for at in so_far.feasible)))
        case "PostFilter":
            bound = sorted(key for pods in picture.by_node.values() for key in pods)
            return Question("victims", cycle, pod, tuple(bound)) if bound else None
    return None


def answer(kind: Kind, decision: Decision, point: str = "") -> frozenset[str] | None:
    """What a guess is held against; None while it is open. ``point``: where the cycle stands, if it is under
    way. Of nodes with the same best total any is right: the seed draws."""
    if kind == "next":
        return frozenset({decision.pod})
    if kind == "nodes":
        known = decision.pre_filter is not None and point not in ("PreFilter", "Filter")
        return frozenset(decision.nodes[at] for at in decision.feasible) if known else None
    if kind == "winner":
        over = bool(decision.outcome)
        return frozenset(decision.tied or [decision.selected]) if decision.selected or over else None
    return frozenset(victim.pod for victim in victims(decision)) if decision.outcome else None


def victims(decision: Decision) -> list[Victim]:
    """Of the candidate that preemption chose; none where it chose none."""
    found = decision.preemption
    chosen = [each for each in found.candidates if each.node == found.chosen] if found else []
    return chosen[0].victims if chosen else []


def as_good(decision: Decision) -> list[frozenset[str]]:
    """The victims of every candidate that the rules leave standing: among them the seed draws."""
    found = decision.preemption
    if found is None or not found.chosen:
        return [frozenset()]
    nodes = {found.chosen, *found.tied}
    return [
        frozenset(victim.pod for victim in each.victims) for each in found.candidates if each.node in nodes
    ]
