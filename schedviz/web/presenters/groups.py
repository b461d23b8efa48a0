"""Nodes in groups: by zone, or by any of their labels."""

from collections import Counter
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext

from simulator.objects.node import ZONE

from .nodes import SHARED, requested_shares
from .picture import PODS, Picture
from .records import NO_LOAD, POD_COUNT, NodeRecord

CARDS_AT_MOST: Final = 60
"""Above this many nodes, cards give way to the grid: sixty fill a screen three times over."""
ROOMY_AT_MOST: Final = 12
"""Up to this many nodes, cards are drawn larger: a projector has the room."""
GROUPS_AT_MOST: Final = 60
"""Of one page; nodes of further values stand together at the end. A heading for each node says nothing."""
LABELS_OFFERED: Final = 50
UNGROUPED: Final = "-"
"""Chosen to see all nodes in one group. No label is called so."""

Size = Literal["roomy", "cards", "dense"]


class Group(msgspec.Struct, frozen=True):
    name: str
    """The label's value; empty for nodes that lack it."""
    nodes: list[str]


class GroupHeading(msgspec.Struct, frozen=True):
    """``place``: which of the page's groups, from 0."""

    place: int
    name: str
    nodes: int
    pods: int
    shares: str


class Overview(msgspec.Struct, frozen=True):
    """The panel's frame: which groups there are, and whether they hold cards or cells."""

    size: Size
    groups: list[Group]

    @property
    def dense(self) -> bool:
        return self.size == "dense"


EMPTY: Final = Overview("roomy", [])


def overview(picture: Picture, by: str) -> Overview:
    """``by``: a label's key, "" for the zone."""
    found: dict[str, list[str]] = {}
    for node in sorted(picture.nodes.values(), key=natural):
        found.setdefault(group_value(node, by), []).append(node.name)
    kept = sorted(found, key=lambda name: -len(found[name]))[:GROUPS_AT_MOST]
    ordered = [Group(name, found[name]) for name in sorted(kept, key=lambda name: (not name, name))]
    others = [node for name in sorted(found.keys() - set(kept)) for node in found[name]]
    if others:
        ordered.append(Group(gettext("other values"), others))
    return Overview(size(len(picture.nodes)), ordered)


def size(nodes: int) -> Size:
    if nodes > CARDS_AT_MOST:
        return "dense"
    return "roomy" if nodes <= ROOMY_AT_MOST else "cards"


def group_value(node: NodeRecord, by: str) -> str:
    if by == UNGROUPED:
        return gettext("all nodes")
    return node.labels.get(by, "") if by else node.zone


def natural(node: NodeRecord) -> tuple[int, str]:
    """Orders node-2 before node-10 where names differ in their number only, as they mostly do."""
    return len(node.name), node.name


class Totals:
    """Sums over the nodes of one group: what changes costs a node, not the group."""

    def __init__(self) -> None:
        self._nodes: dict[str, Counter[str]] = {}
        self._sums: Counter[str] = Counter()

    def take(self, picture: Picture, name: str) -> None:
        """The node as it is now."""
        allocatable, load = picture.nodes[name].allocatable, picture.loads.get(name, NO_LOAD)
        now = Counter({PODS: load.requests[POD_COUNT]})
        for resource in SHARED:
            now[f"{resource} of"] = allocatable.get(resource, 0)
            now[resource] = load.requests[resource]
        self._sums.subtract(self._nodes.get(name, {}))
        self._sums.update(now)
        self._nodes[name] = now

    def heading(self, place: int, group: Group) -> GroupHeading:
        room = {resource: self._sums[f"{resource} of"] for resource in SHARED}
        shares = " · ".join(requested_shares(self._sums, room))
        return GroupHeading(place, group.name, len(group.nodes), self._sums[PODS], shares)


def choices(picture: Picture, by: str) -> list[tuple[str, str, bool]]:
    """What nodes can be grouped by, as (key, words, chosen): the zone, the labels that tell some of them
    apart, and nothing."""
    values: dict[str, set[str]] = {}
    for node in picture.nodes.values():
        for key, text in node.labels.items():
            values.setdefault(key, set()).add(text)
    keys = sorted(key for key, texts in values.items() if key != ZONE and len(texts) <= GROUPS_AT_MOST)
    keys = keys[:LABELS_OFFERED]
    if by and by not in (*keys, UNGROUPED):
        keys.append(by)
    named = [("", gettext("zone")), *((key, key) for key in keys), (UNGROUPED, gettext("no group"))]
    return [(key, words, key == by) for key, words in named]
