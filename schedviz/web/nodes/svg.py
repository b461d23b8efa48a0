"""The picture of the nodes for download: an SVG without external resources, with its content as text.

It has cards, or cells if there are many nodes, filled as on the page, in the colours of the light theme. The
template is download/nodes.svg.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final
from unicodedata import east_asian_width

import msgspec
from django.conf import settings
from django.utils.translation import gettext
from msgspec.structs import replace

from schedviz.web.nodes.cards import Block, Card, card
from schedviz.web.nodes.grid import cell
from schedviz.web.nodes.groups import overview
from schedviz.web.nodes.svg_shapes import LegendItem, MeterBar, NodeBox, NodeCell, PodShape
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.priority import Ranks

Sheet = dict[str, str]

MARGIN: Final = 24
HEAD: Final = 60
"""Pixels above the nodes, for the title and the summary; those of the legend follow."""
LEGEND_ROW: Final = 20
GAP: Final = 12
CARD: Final = 236, 120
CELL: Final = 22, 26
WIDTH: Final = 1200
"""Pixels of a picture of cells."""
PER_ROW: Final = 5
"""Maximum number of cards in a row."""
POD: Final = 42
"""The height of a pod, in pixels."""
TICK: Final = 3
LETTER: Final = 6.1
"""The width of a letter of the monospace font at 10 px, in pixels."""
DARKEST: Final = 0.75
"""The opacity of the shade of a full node, as FULL a value of static/js/cells.js."""
FULL: Final = 95
"""The percentage from which a cell is marked as full."""


class NodesSvg(msgspec.Struct, frozen=True):
    width: int
    height: int
    boxes: list[NodeBox]
    dots: list[NodeCell]
    legend: list[LegendItem]
    colours: Sheet


@cache
def colours() -> Sheet:
    """Return the colours of the light theme, by the names of their custom properties."""
    text = (settings.FILES_DIR / "static" / "css" / "tokens.css").read_text()
    return dict(re.findall(r"--(\w+): (?:light-dark\()?(#[0-9a-f]{3,6})\b", text))


def draw_nodes_svg(picture: Picture) -> NodesSvg:
    ranks = Ranks([*picture.user_classes().values(), *picture.priorities])
    frame = overview(picture, "")
    names = [name for group in frame.groups for name in group.nodes]
    if frame.dense:
        columns, size, gap = (WIDTH - 2 * MARGIN) // (CELL[0] + 3), CELL, 3
    else:
        columns, size, gap = max(3, min(PER_ROW, len(names))), CARD, GAP
    width = 2 * MARGIN + columns * (size[0] + gap) - gap
    entries = cells_legend() if frame.dense else cards_legend(picture, ranks)
    legend = [*arrange_legend(entries, width - 2 * MARGIN)]
    top = HEAD + LEGEND_ROW + max((each.y for each in legend), default=0)
    boxes, dots = [], []
    for place, name in enumerate(names):
        row, column = divmod(place, columns)
        x, y = MARGIN + column * (size[0] + gap), top + row * (size[1] + gap)
        if frame.dense:
            dots.append(dot(picture, ranks, name, x, y))
        else:
            boxes.append(box(card(picture, ranks, name), x, y))
    rows = -(-len(names) // columns)
    return NodesSvg(
        width=width,
        height=top + max(1, rows) * (size[1] + gap) + MARGIN - gap,
        boxes=boxes,
        dots=dots,
        legend=legend,
        colours=colours(),
    )


def box(view: Card, x: int, y: int) -> NodeBox:
    cordoned = ["SchedulingDisabled"] if view.cordoned else []
    inner = CARD[0] - 16
    names = {"cpu": 80, "memory": 92, "pods": 104}
    return NodeBox(
        x=x,
        y=y,
        name=shorten_to_width(view.name, inner),
        title="; ".join((view.name, *(f"{m.resource} {m.requested}/{m.allocatable}" for m in view.meters))),
        note=shorten_to_width(", ".join((*view.conditions, *cordoned, *view.taints)), inner),
        more=f"+{view.more}" if view.more else "",
        shapes=[
            *pod_shapes(view.blocks, inner),
            *(pod_shape(each, each.at * inner / 1000, inner) for each in view.nominated),
        ],
        bars=[
            MeterBar(
                y=names[m.resource],
                width=m.percent * 0.9,
                limits=m.limit_percent * 0.9 if m.limits else 0,
                full=m.percent >= 100,
                overcommitted=m.overcommitted,
                label=m.resource,
                figure=f"{m.requested}/{m.allocatable}",
            )
            for m in view.meters
            if m.resource in names
        ],
    )


def pod_shapes(blocks: list[Block], inner: int) -> Iterator[PodShape]:
    """Yield the pods side by side, each as wide as its share. Together they are at most as wide as the
    card."""
    widths = [max(3.0, each.share * inner / 1000) for each in blocks]
    scale = min(1.0, inner / sum(widths)) if widths else 1.0
    x = 0.0
    for each, width in zip(blocks, widths, strict=True):
        yield pod_shape(each, x, inner, width * scale)
        x += width * scale


def pod_shape(block: Block, x: float, inner: int, width: float | None = None) -> PodShape:
    width = max(3.0, block.share * inner / 1000) if width is None else width
    sheet = colours()
    solid, ink = sheet[f"r{block.rank}"], sheet[f"i{block.rank}"]
    fill, stroke, dash = {
        "running": (solid, "none", ""),
        "starting": (f"url(#starting{block.rank})", "none", ""),
        "victim": ("url(#victim)", sheet["bad"], ""),
        "terminating": ("url(#terminating)", sheet["quiet"], ""),
        "nominated": ("none", sheet["accent"], "4 3"),
    }[block.state]
    if block.state not in ("running", "starting"):
        ink = sheet["ink"]
    ticks = [] if block.state == "nominated" else [POD - 4.0 - TICK * each for each in range(block.rank)]
    return PodShape(
        x=round(x, 1),
        width=round(max(1.0, width - 1.5), 1),
        within=round(max(1.0, width - 4.5), 1),
        fill=fill,
        ink=ink,
        stroke=stroke,
        dash=dash,
        ticks=ticks if width > 8 else [],
        lines=labelled(block, int(width) - 12) if width > 34 else [],
        below=block.state == "nominated",
        title=block.title,
    )


def labelled(block: Block, room: int) -> list[str]:
    """Return the pod's name, in two lines if one is too short. The second has the part after the last hyphen,
    in which pods of one controller differ."""
    if len(block.label) * LETTER <= room or not block.tail or block.state == "nominated":
        return [shorten_to_width(block.label, room)]
    return [shorten_to_width(block.stem, room), shorten_to_width(block.tail, room)]


def dot(picture: Picture, ranks: Ranks, name: str, x: int, y: int) -> NodeCell:
    view = cell(picture, ranks, name)
    words = f"; {view.words}" if view.words else ""
    return NodeCell(
        title=f"{name}: cpu {view.cpu} %, memory {view.memory} %, pods {view.pods}{words}",
        x=x,
        y=y,
        shade=shade(view.full),
        full=view.full >= FULL,
        nominated="g" in view.marks,
        cordoned="c" in view.marks,
        failing="n" in view.marks,
    )


def shade(percent: int) -> float:
    return round(DARKEST * min(100, percent) / 100, 2)


def cells_legend() -> list[LegendItem]:
    """Return the entries for cells, as in nodes/key.html."""
    label = gettext("shade: requested share of the fullest resource")
    half = shade(50)
    return [
        LegendItem(f"{label}, 0 %", cell=NodeCell()),
        LegendItem("50 %", cell=NodeCell(shade=half)),
        LegendItem("100 %", cell=NodeCell(shade=shade(100))),
        LegendItem(
            gettext("full: 95 %% or more requested") % (), cell=NodeCell(shade=shade(FULL), full=True)
        ),
        LegendItem(gettext("a pod is nominated"), cell=NodeCell(shade=half, nominated=True)),
        LegendItem(gettext("cordoned"), cell=NodeCell(shade=half, cordoned=True)),
        LegendItem(gettext("not ready, or under pressure"), cell=NodeCell(shade=half, failing=True)),
    ]


def cards_legend(picture: Picture, ranks: Ranks) -> list[LegendItem]:
    """Return the priorities, and the states of pods."""
    sheet = colours()
    found = [
        LegendItem(" ".join(part for part in (band.value, band.names) if part)[:40], sheet[f"r{band.rank}"])
        for band in ranks.legend(picture.classes)
    ]
    return [
        *found,
        LegendItem(gettext("bound, not started"), "url(#starting2)"),
        LegendItem(gettext("nominated"), "none", sheet["accent"], "4 3"),
        LegendItem(gettext("victim"), "url(#victim)", sheet["bad"]),
        LegendItem(gettext("terminating"), "url(#terminating)", sheet["quiet"]),
    ]


def arrange_legend(items: Iterable[LegendItem], room: int) -> Iterator[LegendItem]:
    """Yield the entries with their places, in as many rows as needed."""
    x = y = 0
    for each in items:
        width = 34 + round(sum(2 if east_asian_width(sign) in "WF" else 1 for sign in each.label) * LETTER)
        if x and x + width > room:
            x, y = 0, y + LEGEND_ROW
        yield replace(each, x=x, y=y)
        x += width


def shorten_to_width(text: str, room: int) -> str:
    """Return the text, shortened to a width in pixels."""
    most = max(0, int(room / LETTER))
    return text if len(text) <= most else text[: max(0, most - 1)] + "…"
