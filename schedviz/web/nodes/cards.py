"""The cards of nodes: pods are blocks, resources are meters."""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext, ngettext
from msgspec.structs import replace

from schedviz.web.picture.picture import Picture
from schedviz.web.picture.priority import Ranks
from schedviz.web.picture.records import NO_LOAD, POD_COUNT, Load, NodeRecord, PodRecord
from schedviz.web.text import format as fmt
from simulator.api import Micros

BLOCKS_AT_MOST: Final = 48
"""Maximum number of blocks of one card; with more they would be too narrow. The number of other pods is
shown."""
GROUP_LOOKS: Final = 6
"""Number of looks of pod groups (static/css/pod_groups.css)."""
SHARED: Final = ("cpu", "memory")
"""The resources in headings and summaries."""
NEARLY_FULL: Final = 90
"""The percentage of the pods that a node may have, from which its card shows their number."""
BASE_RESOURCES: Final = (*SHARED, "pods")

PodState = Literal["running", "starting", "victim", "terminating", "nominated"]


class Block(msgspec.Struct, frozen=True):
    """A pod on a node. ``share``: its largest request, in per mille of the node's allocatable. ``at``: where
    on this scale the block of a nominated pod begins."""

    key: str
    uid: str
    label: str
    stem: str
    tail: str
    """The second line of the label. ``stem`` is the first; the label is divided after its last hyphen."""
    priority: str
    rank: int
    share: int
    state: PodState
    words: str
    """The state in words."""
    gone_at: Micros
    title: str
    at: int = 0
    group: str = ""
    """The key of its PodGroup; "" = it is in none."""
    look: int = 0
    """Which of the looks of groups it has: equal for the members of a group."""


class Meter(msgspec.Struct, frozen=True):
    """The requests and limits of one resource. ``percent``, ``limit_percent``: of allocatable, up to 100."""

    resource: str
    requested: str
    allocatable: str
    percent: int
    free: str
    limits: str
    """The sum of the limits; "" if no pod has a limit."""
    limit_percent: int
    overcommitted: bool
    """The limits exceed allocatable."""


class More(msgspec.Struct, frozen=True):
    """The number of pods of a card that have no block."""

    more: int


class Card(msgspec.Struct, frozen=True):
    id: str
    name: str
    cordoned: bool
    conditions: tuple[str, ...]
    taints: tuple[str, ...]
    blocks: list[Block]
    more: int
    nominated: list[Block]
    meters: list[Meter]


class Blocks:
    """A cache of the blocks of one card: a block is made again only if its pod changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[PodRecord, NodeRecord, Ranks, str, Block]] = {}
        self._made: dict[str, tuple[PodRecord, NodeRecord, Ranks, str, Block]] = {}

    def turn(self) -> None:
        """Begin the next drawing of the card. Blocks that the last drawing did not use are removed."""
        self._known, self._made = self._made, {}

    def block(self, picture: Picture, ranks: Ranks, node: NodeRecord, pod: PodRecord) -> Block:
        preemptor = picture.victims.get(pod.key, "")
        known = self._known.get(pod.key)
        if known is None or known[:3] != (pod, node, ranks) or known[3] != preemptor:
            known = (pod, node, ranks, preemptor, pod_block(picture, ranks, node, pod))
        self._made[pod.key] = known
        return known[4]


@lru_cache(maxsize=10_000)
def node_id(name: str) -> str:
    """Return the element id of a node: a hash, because names contain dots, which selectors must escape."""
    return "n" + blake2b(name.encode(), digest_size=6).hexdigest()


@lru_cache(maxsize=20_000)
def block_id(holder: str, key: str) -> str:
    """Return the element id of a pod on a card or in a lane, or of a node in a table."""
    return "b" + blake2b(f"{holder} {key}".encode(), digest_size=6).hexdigest()


def summary(picture: Picture) -> str:
    """Return the number of nodes, and the requested percentages of their allocatable."""
    count = len(picture.nodes)
    if not count:
        return ""
    parts = [ngettext("%(n)s node", "%(n)s nodes", count) % {"n": fmt.number(count)}]
    shares = requested_shares(picture.load.requests, picture.room)
    if not shares:
        return parts[0]
    return gettext("%(list)s requested") % {"list": " · ".join([*parts, *shares])}


def requested_shares(requested: Mapping[str, int], room: Mapping[str, int]) -> list[str]:
    """Return the requested shares of a node: ["cpu 58 %", "memory 36 %"]; without resources that no node has.
    room: allocatable."""
    return [
        f"{resource}\u00a0{requested.get(resource, 0) * 100 // room[resource]}\u00a0%"
        for resource in SHARED
        if room.get(resource)
    ]


def card(picture: Picture, ranks: Ranks, name: str, blocks: Blocks | None = None) -> Card:
    """Return the card of a node. blocks: the cache from earlier drawings of it."""
    node = picture.nodes[name]
    pods = sorted(picture.by_node.get(name, {}).values(), key=place_on_card)
    kept = blocks or Blocks()
    kept.turn()
    return Card(
        id=node_id(name),
        name=name,
        cordoned=node.unschedulable,
        conditions=node.conditions,
        taints=node.taints,
        blocks=[kept.block(picture, ranks, node, pod) for pod in pods[:BLOCKS_AT_MOST]],
        more=max(0, len(pods) - BLOCKS_AT_MOST),
        nominated=nominated_blocks(picture, ranks, node, pods),
        meters=card_meters(picture, node),
    )


def nominated_blocks(picture: Picture, ranks: Ranks, node: NodeRecord, pods: list[PodRecord]) -> list[Block]:
    """Return the blocks of nominated pods, after those of the pods that stay: where they will be."""
    nominated = sorted(picture.nominated.get(node.name, {}).values(), key=importance)[:BLOCKS_AT_MOST]
    if not nominated:
        return []
    found = []
    staying = sum(dominant_share(node, pod) for pod in pods if not pod.terminating)
    for pod in nominated:
        block = pod_block(picture, ranks, node, pod)
        found.append(replace(block, at=max(0, min(staying, 1000 - block.share))))
        staying += block.share
    return found


def place_on_card(pod: PodRecord) -> tuple[bool, int, Micros, str]:
    """Return the sort key of the pods of a card: terminating pods are last."""
    return pod.terminating, *importance(pod)


def importance(pod: PodRecord) -> tuple[int, Micros, str]:
    """Return the sort key of pods, most important first: the order in which preemption tries to keep pods."""
    return -pod.priority, pod.created, pod.key


def pod_block(picture: Picture, ranks: Ranks, node: NodeRecord, pod: PodRecord) -> Block:
    state = pod_state(picture, pod)
    words = state_words(picture, pod, state)
    label = fmt.pod_name(pod.key)
    return Block(
        key=pod.key,
        uid=pod.uid,
        label=label,
        stem=fmt.stem(label),
        tail=fmt.tail(label),
        priority=fmt.compact(pod.priority),
        rank=ranks.rank(pod.priority),
        share=dominant_share(node, pod),
        state=state,
        words=words,
        gone_at=pod.gone_at,
        title=pod_title(pod, words),
        group=pod.group,
        look=group_look(pod.group) if pod.group else 0,
    )


@lru_cache(maxsize=1_000)
def group_look(group: str) -> int:
    """Return the look of a group, from its name."""
    return blake2b(group.encode(), digest_size=2).digest()[0] % GROUP_LOOKS


def pod_state(picture: Picture, pod: PodRecord) -> PodState:
    if not pod.node:
        return "nominated"
    if pod.terminating:
        return "victim" if pod.preempted or pod.key in picture.victims else "terminating"
    return "running" if pod.phase == "Running" else "starting"


def state_words(picture: Picture, pod: PodRecord, state: PodState) -> str:
    preemptor = picture.victims.get(pod.key, "")
    if state == "victim" and preemptor:
        return gettext("victim of %(pod)s, terminating") % {"pod": fmt.pod_name(preemptor)}
    match state:
        case "running":
            return gettext("running")
        case "starting":
            return gettext("bound, not started yet")
        case "victim":
            return gettext("victim, terminating")
        case "terminating":
            return gettext("terminating")
        case "nominated":
            return gettext("nominated, not bound")


def pod_title(pod: PodRecord, words: str) -> str:
    """Return the tooltip of a block. It has in words what colour and pattern show."""
    text = gettext("%(pod)s: %(state)s; priority %(priority)s; requests %(requests)s") % {
        "pod": fmt.pod_name(pod.key),
        "state": words,
        "priority": fmt.number(pod.priority),
        "requests": fmt.requests(pod.requests),
    }
    if not pod.group:
        return text
    return gettext("%(text)s; of the group %(group)s") % {"text": text, "group": fmt.pod_name(pod.group)}


def dominant_share(node: NodeRecord, pod: PodRecord) -> int:
    """Return the pod's largest request, in per mille of the node's allocatable."""
    shares = [
        value * 1000 // node.allocatable[resource]
        for resource, value in pod.requests.items()
        if node.allocatable.get(resource)
    ]
    return min(1000, max(shares, default=0))


def card_meters(picture: Picture, node: NodeRecord) -> list[Meter]:
    """Return the meters of a card: of the resources that some pod requests and the node has; of cpu and
    memory if no pod requests anything; of pods if the node may take few more."""
    load = picture.loads.get(node.name, NO_LOAD)
    wanted = picture.wanted.keys() or {*SHARED}
    return [
        each
        for each in meters(node, load)
        if (each.resource == POD_COUNT and each.percent >= NEARLY_FULL)
        or (each.resource in wanted and (node.allocatable.get(each.resource) or load.requests[each.resource]))
    ]


def meters(node: NodeRecord, load: Load) -> list[Meter]:
    """Return the meters of cpu, memory, pods, and of other resources that the node has or its pods
    request."""
    others = sorted(
        name
        for name in node.allocatable.keys() | load.requests.keys()
        if name not in BASE_RESOURCES and (node.allocatable.get(name) or load.requests.get(name))
    )
    return [
        meter(resource, load.requests[resource], load.limits[resource], node.allocatable.get(resource, 0))
        for resource in (*BASE_RESOURCES, *others)
    ]


def meter(resource: str, requested: int, limits: int, allocatable: int) -> Meter:
    return Meter(
        resource=resource,
        requested=fmt.amount(resource, requested),
        allocatable=fmt.amount(resource, allocatable),
        percent=percent(requested, allocatable),
        free=fmt.amount(resource, allocatable - requested),
        limits=fmt.amount(resource, limits) if limits else "",
        limit_percent=percent(limits, allocatable),
        overcommitted=limits > allocatable,
    )


def percent(part: int, whole: int) -> int:
    if not whole:
        return 100 if part else 0
    return min(100, part * 100 // whole)
