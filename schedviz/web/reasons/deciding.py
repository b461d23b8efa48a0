"""Which reason decides that a pod is pending: the one whose fix would open most nodes.

It is read from the scheduler's message, "0/60 nodes are available: 1 node(s) had untolerated taint {a: b}, 59
Insufficient cpu. preemption: ...", in which kube-scheduler sorts the reasons as text, the counts first
(FitError.Error in pkg/scheduler/framework/types.go). So the first one there says nothing about its
weight.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

import msgspec

AVAILABLE: Final = re.compile(r"^0/(\d+) nodes are available: ")
COUNTED: Final = re.compile(r"(\d{1,9}) (.+?)(?=, \d{1,9} |$)")
BEHIND: Final = re.compile(r"\.(?: |$)")
"""The end of the reasons. No reason contains a full stop before a space."""
INSUFFICIENT: Final = "Insufficient "
TOO_MANY_PODS: Final = "Too many pods"


class Reason(msgspec.Struct, frozen=True):
    """A reason of a message. ``nodes``: the number of nodes that gave it. ``opens``: the number of nodes that
    no other reason but it rejects, as far as the message says; of the reasons about resources, that of the
    nodes that only these reject, as one smaller request may need another one."""

    text: str
    nodes: int
    opens: int


class Rejection(msgspec.Struct, frozen=True):
    """The reasons of a message, the deciding one first. ``whole``: the reason that rejects all nodes together
    (PreFilter), which has no number; then there are no others."""

    nodes: int
    reasons: tuple[Reason, ...] = ()
    whole: str = ""

    @property
    def deciding(self) -> str:
        """The text of the reason that decides; "" = the message has none."""
        return self.reasons[0].text if self.reasons else self.whole

    @property
    def opens(self) -> int:
        """The number of nodes that the fix of the deciding reason would open."""
        return self.reasons[0].opens if self.reasons else self.nodes


@lru_cache(maxsize=4_000)
def find_rejection(message: str) -> Rejection | None:
    """Return the reasons of a pod's message, PodScheduled's or a QueuePlace's; None for another message."""
    found = AVAILABLE.match(message)
    if found is None:
        return None
    nodes, text = int(found[1]), BEHIND.split(message[found.end() :], maxsplit=1)[0]
    counted = [(each[2], int(each[1])) for each in COUNTED.finditer(text)]
    if not counted:
        return Rejection(nodes, whole=text)
    # A node has one reason, but several of NodeResourcesFit, which names each resource that is short.
    others = sum(count for reason, count in counted if not is_about_resources(reason))
    short = max(nodes - others, 0)
    reasons = [
        Reason(reason, count, min(short, nodes) if is_about_resources(reason) else count)
        for reason, count in counted
    ]
    reasons.sort(key=lambda each: (-each.opens, -each.nodes))
    return Rejection(nodes, tuple(reasons))


def is_about_resources(reason: str) -> bool:
    """Whether it is a reason of NodeResourcesFit, of which a node may give several."""
    return reason.startswith(INSUFFICIENT) or reason == TOO_MANY_PODS


def find_shared(messages: Collection[str]) -> frozenset[Reason]:
    """Return the reasons that all of these messages share, with the same numbers of nodes, and that decide
    for none of them. Messages of other forms share nothing."""
    found = [find_rejection(message) for message in messages]
    if len(found) < 2 or None in found:
        return frozenset()
    known = [each for each in found if each is not None]
    shared = frozenset.intersection(*(frozenset(each.reasons) for each in known))
    return shared - {each.reasons[0] for each in known if each.reasons}
