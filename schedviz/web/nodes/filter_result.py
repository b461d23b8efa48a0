"""The result of a viewer's filter: the number of objects, links to the first, and what stays bright."""

from collections.abc import Iterable
from itertools import chain, islice
from typing import Final

import msgspec
from django.utils.translation import gettext, ngettext

from schedviz.web.nodes import cards as nodes
from schedviz.web.nodes import filter_query, grid
from schedviz.web.nodes.groups import NodeOverview
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.records import NodeRecord, PodRecord
from schedviz.web.queue.lanes import LaneView
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator import trace
from simulator.objects.status import FINISHED_PHASES

LISTED: Final = 40
"""Number of objects that are listed as links. For others, a longer query is needed."""
BRIGHT_AT_MOST: Final = 5_000
"""Maximum number of pods on cards that stay bright: more than sixty full cards show."""

EVENTS_READ: Final = 400
"""Number of trace events that are searched for lines of the log. The forty lines are nearly always among
them."""


class Item(msgspec.Struct, frozen=True):
    path: str
    """The path of its panel, below that of the sandbox."""
    name: str
    words: str


class Found(msgspec.Struct, frozen=True):
    """The result of a filter. ``bright``: JSON for static/js/look.js, of what stays bright: ``pods`` (uids),
    ``nodes`` (names), ``lines`` (numbers of log lines). For a grid, ``cells`` instead of ``nodes``: a code
    for each cell in the order of the page, run-length encoded."""

    text: str
    items: list[Item] = []
    more: int = 0
    bright: str = ""
    elsewhere: str = ""
    """The query if it can be a part of a name: the link to search all kinds of objects for it."""
    wrong: bool = False
    """Whether the query cannot be parsed; ``text`` is then the reason."""


NOTHING: Final = Found("")


def present_found(picture: Picture, query: str, overview: NodeOverview, lanes: list[LaneView]) -> Found:
    if not query.strip():
        return NOTHING
    try:
        holds = filter_query.parse_query(query)
    except filter_query.BadQuery as error:
        return Found(str(error), wrong=True)
    pods = {pod.key: pod for pod in picture.pods.values() if holds(picture, pod)}
    found_nodes = [node for node in picture.nodes.values() if holds(picture, node)]
    listed = chain(map(node_item, found_nodes), (pod_item(picture, pod) for pod in pods.values()))
    return Found(
        text=gettext("%(pods)s, %(nodes)s")
        % {
            "pods": ngettext("%(n)s pod", "%(n)s pods", len(pods)) % {"n": fmt.number(len(pods))},
            "nodes": ngettext("%(n)s node", "%(n)s nodes", len(found_nodes))
            % {"n": fmt.number(len(found_nodes))},
        },
        items=list(islice(listed, LISTED)),
        more=max(0, len(pods) + len(found_nodes) - LISTED),
        bright=grid.json(bright(picture, pods, {node.name for node in found_nodes}, overview, lanes)),
        elsewhere=query.strip() if filter_query.NAME.fullmatch(query.strip()) else "",
    )


def bright(
    picture: Picture,
    pods: dict[str, PodRecord],
    names: set[str],
    overview: NodeOverview,
    lanes: list[LaneView],
) -> dict[str, object]:
    holders = names | {pod.node or pod.nominated for pod in pods.values() if pod.phase not in FINISHED_PHASES}
    drawn = [pods[chip.key] for lane in lanes for chip in lane.chips if chip.key in pods]
    shown: dict[str, object] = {"lines": found_lines(picture, pods, names)}
    if overview.dense:
        order = (name for group in overview.groups for name in group.nodes)
        shown["cells"] = grid.run_lengths(BRIGHT if name in holders else FADED for name in order)
    else:
        on_cards = (pod for pod in pods.values() if pod.node or pod.nominated)
        drawn.extend(islice(on_cards, BRIGHT_AT_MOST))
        shown["nodes"] = sorted(holders & picture.nodes.keys())
    return {**shown, "pods": sorted({pod.uid for pod in drawn})}


BRIGHT, FADED = "+", "."


def found_lines(picture: Picture, pods: dict[str, PodRecord], names: set[str]) -> list[int]:
    """Return the numbers of the newest trace events that name a found pod or node."""
    return [
        seq
        for seq, event in islice(reversed(picture.trace), EVENTS_READ)
        if not pods.keys().isdisjoint(names_in_event(event, "pod"))
        or not names.isdisjoint(names_in_event(event, "node"))
    ]


def names_in_event(event: trace.Event, kind: str) -> Iterable[str]:
    if name := getattr(event, kind, ""):
        yield name
    if kind == "pod":
        yield from getattr(event, "victims", ())


def pod_item(picture: Picture, pod: PodRecord) -> Item:
    if pod.phase in FINISHED_PHASES:
        words = pod.phase
    elif pod.node:
        words = gettext("%(state)s on %(node)s") % {
            "state": nodes.state_words(picture, pod, nodes.pod_state(picture, pod)),
            "node": node_name(pod.node),
        }
    else:
        entry = picture.queue_places.get(pod.key)
        words = entry.lane if entry else gettext("pending")
    return Item(f"pods/{pod.key}/", fmt.pod_name(pod.key), words)


def node_item(node: NodeRecord) -> Item:
    return Item(f"nodes/{node.name}/", node_name(node.name), gettext("node"))
