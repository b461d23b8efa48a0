"""The order of the pods in a lane, and the rules that order pods whose priority is the same."""

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

import msgspec
from django.utils.translation import gettext

from simulator.trace import QueuePlace


class Tie(msgspec.Struct, frozen=True):
    """Neighbours in activeQ that the first rule leaves equal. ``rule``: what orders them."""

    first: str
    """The key of the first of the pods."""
    pods: frozenset[str]
    value: str
    """The value that the pods of the tie share and those of no other tie have: their priority or sort key."""
    rule: str
    explanation: str


class TieView(msgspec.Struct, frozen=True):
    """The heading above the chips of a tie."""

    rule: str
    explanation: str


def sort_key(entry: QueuePlace) -> tuple[Any, ...]:
    """Return the order of a lane. activeQ: as pods are popped (``_order`` of the queues in
    simulator/queueing). backoffQ: by the end of the backoff, then as activeQ, which is how pods are popped
    from it."""
    until = (entry.backoff_until or 0) if entry.lane == "backoffQ" else 0
    return until, entry.place, *_first_rule(entry), *_second_rule(entry), entry.sequence, entry.pod


def _first_rule(entry: QueuePlace) -> tuple[Any, ...]:
    """Return the values that a QueueSort plugin compares first: PrioritySort the priority, another one its
    whole key."""
    return (1, *entry.sort_key) if entry.sort_key else (0, -entry.priority)


def _second_rule(entry: QueuePlace) -> tuple[int, ...]:
    return () if entry.sort_key else (entry.queued,)


def ties(ordered: Sequence[QueuePlace]) -> list[Tie]:
    """Return the ties among the pods of activeQ. A queue without priorities has none."""
    found = []
    for first_rule, group in groupby(ordered, lambda entry: (entry.place, _first_rule(entry))):
        entries = [*group]
        if len(entries) > 1:
            found.append(
                Tie(
                    entries[0].pod,
                    frozenset(entry.pod for entry in entries),
                    repr(first_rule),
                    *_rule_in_words(entries),
                )
            )
    return found


def _rule_in_words(entries: Sequence[QueuePlace]) -> tuple[str, str]:
    """Return the rule that orders pods of the same priority, and its explanation."""
    undefined = gettext(
        "If this is equal, too, Kubernetes does not define the order. This simulator uses the order in "
        "which the scheduler received the pods."
    )
    if entries[0].sort_key:
        return gettext("same sort key: as received"), undefined
    equal = [one.queued == other.queued for one, other in pairwise(entries)]
    if all(equal):
        return gettext("same priority and time added: as received"), undefined
    by_time = gettext(
        "Of pods with the same priority, the one that was added to the queue first is popped first. After a "
        "failed attempt, the time of that attempt counts."
    )
    if any(equal):
        return gettext("same priority: by time added, then as received"), f"{by_time} {undefined}"
    return gettext("same priority: by time added to the queue"), by_time
