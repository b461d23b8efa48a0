"""Groups of nodes: by zone, or by another label."""

from collections import Counter
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext

from schedviz.web.nodes.cards import SHARED, requested_shares
from schedviz.web.picture.picture import PODS, Picture
from schedviz.web.picture.records import NO_LOAD, POD_COUNT, NodeRecord
from simulator.objects.node import ZONE

CARDS_AT_MOST: Final = 60
"""Maximum number of nodes that are shown as cards. With more nodes the page has a grid of cells:
sixty cards are three screens."""
ROOMY_AT_MOST: Final = 11
"""Nodes with which cards contain the names of their pods. With more nodes cards are compact: thirty are in
sight."""
GROUPS_AT_MOST: Final = 60
"""Maximum number of groups of one page. The nodes with other values are in one more group at the end."""
LABELS_OFFERED: Final = 50
UNGROUPED: Final = "-"
"""The choice of all nodes in one group. It is not a valid key of a label."""

Size = Literal["roomy", "compact", "dense"]


class Group(msgspec.Struct, frozen=True):
    name: str
    """The value of the label; empty for nodes without it."""
    nodes: list[str]


class GroupHeading(msgspec.Struct, frozen=True):
    """The heading of a group, with its totals. ``place``: the number of the group on the page, from 0."""

    place: int
    name: str
    nodes: int
    pods: int
    shares: str


class NodeOverview(msgspec.Struct, frozen=True):
    """The groups of the nodes panel, and whether they have cards or cells."""

    size: Size
    groups: list[Group]

    @property
    def dense(self) -> bool:
        return self.size == "dense"


EMPTY: Final = NodeOverview("roomy", [])


def overview(picture: Picture, by: str) -> NodeOverview:
    """Arrange the nodes. by: the key of a label; "" = the zone."""
    found: dict[str, list[str]] = {}
    for node in sorted(picture.nodes.values(), key=natural):
        found.setdefault(group_value(node, by), []).append(node.name)
    kept = sorted(found, key=lambda name: -len(found[name]))[:GROUPS_AT_MOST]
    ordered = [Group(name, found[name]) for name in sorted(kept, key=lambda name: (not name, name))]
    others = [node for name in sorted(found.keys() - set(kept)) for node in found[name]]
    if others:
        ordered.append(Group(gettext("other values"), others))
    return NodeOverview(size(len(picture.nodes)), ordered)


def size(nodes: int) -> Size:
    if nodes > CARDS_AT_MOST:
        return "dense"
    return "roomy" if nodes <= ROOMY_AT_MOST else "compact"


def group_value(node: NodeRecord, by: str) -> str:
    if by == UNGROUPED:
        return gettext("all nodes")
    return node.labels.get(by, "") if by else node.zone


def natural(node: NodeRecord) -> tuple[int, str]:
    """Return a sort key that puts node-2 before node-10."""
    return len(node.name), node.name


class Totals:
    """Sums over the nodes of one group. A change of a node is added without a look at the others."""

    def __init__(self) -> None:
        self._nodes: dict[str, Counter[str]] = {}
        self._sums: Counter[str] = Counter()

    def update(self, picture: Picture, name: str) -> None:
        """Replace what a node adds to the sums."""
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
        shares = " ·\u00a0".join(requested_shares(self._sums, room))
        return GroupHeading(place, group.name, len(group.nodes), self._sums[PODS], shares)


def choices(picture: Picture, by: str) -> list[tuple[str, str, bool]]:
    """Return the choices of the grouping, as (key, words, chosen): the zone, labels with several values, and
    no grouping."""
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
