"""Nodes as cards, or as cells of a dense grid where there are many, with their pods as blocks."""

from hashlib import blake2b
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext, ngettext
from msgspec.structs import replace

from simulator.api import Micros

from . import format as fmt
from .picture import NodeRecord, Picture, PodRecord
from .priority import Ranks
from .verdicts import Verdict

CARDS_AT_MOST: Final = 60
"""Above this many nodes, cards give way to the grid: sixty fill a screen three times over."""
BLOCKS_AT_MOST: Final = 48
"""Blocks of one card; narrower ones would be slivers. The rest is counted."""
ROOMY_AT_MOST: Final = 12
"""Up to this many nodes, cards are drawn larger: a projector has the room."""
CELLS_PER_CHUNK: Final = 50
"""Cells that are drawn and sent together."""
BASE_RESOURCES: Final = ("cpu", "memory", "pods")

PodState = Literal["running", "starting", "victim", "terminating", "ghost"]


class Block(msgspec.Struct, frozen=True):
    """A pod on a node. ``share`` is its dominant request as per mille of the node's allocatable; ``at``, of a
    nominated pod, is where on that scale its room begins."""

    key: str
    uid: str
    label: str
    stem: str
    tail: str
    """The label in two lines: pods of one maker differ behind the last hyphen."""
    priority: str
    rank: int
    share: int
    state: PodState
    words: str
    """The state, said."""
    gone_at: Micros
    title: str
    at: int = 0


class Meter(msgspec.Struct, frozen=True):
    """One resource: requested of allocatable, ``percent`` at most 100."""

    resource: str
    requested: str
    allocatable: str
    percent: int


class Card(msgspec.Struct, frozen=True):
    id: str
    name: str
    cordoned: bool
    conditions: tuple[str, ...]
    taints: tuple[str, ...]
    blocks: list[Block]
    more: int
    ghosts: list[Block]
    meters: list[Meter]


class Cell(msgspec.Struct, frozen=True):
    """A node in the grid: how full it is (percent of the fullest resource), and the codes that a card
    would show."""

    name: str
    percent: int
    rank: int
    marks: str
    verdict: str
    title: str


class Zone(msgspec.Struct, frozen=True):
    name: str
    nodes: list[str]


class Overview(msgspec.Struct, frozen=True):
    """The panel's frame: which groups there are, and whether they hold cards or cells."""

    dense: bool
    zones: list[Zone]


def node_id(name: str) -> str:
    """An element id for a node: names hold dots, ids in selectors had better not."""
    return "n" + blake2b(name.encode(), digest_size=6).hexdigest()


def overview(picture: Picture) -> Overview:
    zones: dict[str, list[str]] = {}
    for node in sorted(picture.nodes.values(), key=natural):
        zones.setdefault(node.zone, []).append(node.name)
    return Overview(
        dense=len(picture.nodes) > CARDS_AT_MOST,
        zones=[
            Zone(zone, names)
            for zone, names in sorted(zones.items(), key=lambda item: (not item[0], item[0]))
        ],
    )


def size(overview: Overview) -> Literal["roomy", "cards", "dense"]:
    if overview.dense:
        return "dense"
    return "roomy" if sum(len(zone.nodes) for zone in overview.zones) <= ROOMY_AT_MOST else "cards"


def chunks(overview: Overview, prefix: str) -> dict[str, list[str]]:
    """The grid's chunks by part name, in order: "<prefix>/g<zone>-<number>"."""
    return {
        f"{prefix}/g{place}-{start // CELLS_PER_CHUNK}": zone.nodes[start : start + CELLS_PER_CHUNK]
        for place, zone in enumerate(overview.zones)
        for start in range(0, len(zone.nodes), CELLS_PER_CHUNK)
    }


def natural(node: NodeRecord) -> tuple[int, str]:
    """Orders node-2 before node-10 where names differ in their number only, as they mostly do."""
    return len(node.name), node.name


def summary(picture: Picture) -> str:
    """How many nodes, and how much of all their room is requested."""
    count = len(picture.nodes)
    if not count:
        return ""
    requested = totals(list(picture.pods_on_nodes()))
    parts = [ngettext("%(n)s node", "%(n)s nodes", count) % {"n": fmt.number(count)}]
    for resource in ("cpu", "memory"):
        allocatable = sum(node.allocatable.get(resource, 0) for node in picture.nodes.values())
        if allocatable:
            percent = requested.get(resource, 0) * 100 // allocatable
            parts.append(f"{resource} {percent}\u00a0%")
    return gettext("%(list)s requested") % {"list": " · ".join(parts)} if len(parts) > 1 else parts[0]


def totals(pods: list[PodRecord]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for pod in pods:
        for resource, value in pod.requests.items():
            sums[resource] = sums.get(resource, 0) + value
    sums["pods"] = len(pods)
    return sums


def card(picture: Picture, ranks: Ranks, name: str) -> Card:
    node = picture.nodes[name]
    pods = sorted(picture.by_node.get(name, {}).values(), key=place_on_shelf)
    staying = sum(dominant_share(node, pod) for pod in pods if not pod.terminating)
    return Card(
        id=node_id(name),
        name=name,
        cordoned=node.unschedulable,
        conditions=node.conditions,
        taints=node.taints,
        blocks=[block(picture, ranks, node, pod) for pod in pods[:BLOCKS_AT_MOST]],
        more=max(0, len(pods) - BLOCKS_AT_MOST),
        ghosts=ghosts(picture, ranks, node, staying),
        meters=meters(node, totals(pods)),
    )


def ghosts(picture: Picture, ranks: Ranks, node: NodeRecord, staying: int) -> list[Block]:
    """Nominated pods side by side, behind the pods that stay: over the room that they will get."""
    found = []
    for pod in sorted(picture.nominated.get(node.name, {}).values(), key=importance)[:BLOCKS_AT_MOST]:
        ghost = block(picture, ranks, node, pod)
        found.append(replace(ghost, at=max(0, min(staying, 1000 - ghost.share))))
        staying += ghost.share
    return found


def place_on_shelf(pod: PodRecord) -> tuple[bool, int, Micros, str]:
    """Terminating pods stand last, beside the free room that theirs will join."""
    return pod.terminating, *importance(pod)


def importance(pod: PodRecord) -> tuple[int, Micros, str]:
    """Most important first: the order in which preemption would spare them."""
    return -pod.priority, pod.created, pod.key


def block(picture: Picture, ranks: Ranks, node: NodeRecord, pod: PodRecord) -> Block:
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
        title=title(pod, words),
    )


def pod_state(picture: Picture, pod: PodRecord) -> PodState:
    if not pod.node:
        return "ghost"
    if pod.terminating:
        return "victim" if pod.preempted or pod.key in picture.victims else "terminating"
    return "running" if pod.phase == "Running" else "starting"


def state_words(picture: Picture, pod: PodRecord, state: PodState) -> str:
    preemptor = picture.victims.get(pod.key, "")
    if state == "victim" and preemptor:
        return gettext("victim of %(pod)s, terminating") % {"pod": fmt.pod_name(preemptor)}
    return {
        "running": gettext("running"),
        "starting": gettext("bound, not started yet"),
        "victim": gettext("victim, terminating"),
        "terminating": gettext("terminating"),
        "ghost": gettext("nominated here, waits for room"),
    }[state]


def title(pod: PodRecord, words: str) -> str:
    """All that the block shows by colour and pattern."""
    return gettext("%(pod)s: %(state)s; priority %(priority)s; requests %(requests)s") % {
        "pod": fmt.pod_name(pod.key),
        "state": words,
        "priority": fmt.number(pod.priority),
        "requests": fmt.requests(pod.requests),
    }


def dominant_share(node: NodeRecord, pod: PodRecord) -> int:
    shares = [
        value * 1000 // node.allocatable[resource]
        for resource, value in pod.requests.items()
        if node.allocatable.get(resource)
    ]
    return min(1000, max(shares, default=0))


def meters(node: NodeRecord, requested: dict[str, int]) -> list[Meter]:
    """cpu, memory and pods always; other resources where the node has them or a pod on it asks for them."""
    others = sorted(
        name
        for name in node.allocatable.keys() | requested.keys()
        if name not in BASE_RESOURCES and (node.allocatable.get(name) or requested.get(name))
    )
    return [
        Meter(
            resource=resource,
            requested=fmt.amount(resource, requested.get(resource, 0)),
            allocatable=fmt.amount(resource, node.allocatable.get(resource, 0)),
            percent=percent(requested.get(resource, 0), node.allocatable.get(resource, 0)),
        )
        for resource in (*BASE_RESOURCES, *others)
    ]


def percent(part: int, whole: int) -> int:
    if not whole:
        return 100 if part else 0
    return min(100, part * 100 // whole)


def cell(picture: Picture, ranks: Ranks, name: str, verdict: Verdict) -> Cell:
    node = picture.nodes[name]
    pods = list(picture.by_node.get(name, {}).values())
    requested = totals(pods)
    full = max((percent(requested.get(res, 0), node.allocatable[res]) for res in node.allocatable), default=0)
    marks = "".join(
        mark
        for mark, holds in (
            ("x", any(pod.terminating for pod in pods)),
            ("g", name in picture.nominated),
            ("t", bool(node.taints)),
            ("c", node.unschedulable or bool(node.conditions)),
        )
        if holds
    )
    words = [
        gettext("%(node)s: %(percent)s %% of the scarcest resource requested")
        % {"node": name, "percent": full},
        ngettext("%(n)s pod", "%(n)s pods", len(pods)) % {"n": len(pods)},
        *node.taints,
        *node.conditions,
        verdict.text,
    ]
    return Cell(
        name=name,
        percent=full,
        rank=ranks.rank(max((pod.priority for pod in pods), default=0)),
        marks=marks,
        verdict=verdict.kind,
        title="; ".join(word for word in words if word),
    )
