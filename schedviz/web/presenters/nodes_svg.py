"""The picture of the nodes for download: an SVG without external resources, with its content as text.

It has cards, or cells if there are many nodes, as the page has, in the colours of the light theme. The
template is downloads/nodes.svg.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

import msgspec
from django.conf import settings

from .grid import cell
from .groups import overview
from .nodes import Block, Card, card
from .picture import Picture
from .priority import Ranks

Sheet = dict[str, str]

MARGIN: Final = 24
HEAD: Final = 76
"""Pixels above the nodes, for the title, the summary and the legend of the priorities."""
GAP: Final = 12
CARD: Final = 236, 120
CELL: Final = 22, 26
WIDTH: Final = 1200
"""Pixels of a picture of cells."""
PER_ROW: Final = 5
"""Cards in a row at most."""
POD: Final = 42
"""Pixels: the height of a pod."""
TICK: Final = 3
LETTER: Final = 6.1
"""Pixels: the width of a letter of the monospace font at 10 px."""


class PodShape(msgspec.Struct, frozen=True):
    """A pod in a card. ``fill``: a colour or a pattern. ``lines``: its name, empty if there is no room for
    it."""

    x: float
    width: float
    within: float
    """The width without the stroke."""
    fill: str
    ink: str
    stroke: str
    dash: str
    ticks: list[float]
    lines: list[str]
    below: bool
    """Whether the label is at the bottom: that of a nominated pod, which overlaps the pods on the node."""
    title: str


class MeterBar(msgspec.Struct, frozen=True):
    y: int
    width: float
    label: str
    figure: str


class NodeBox(msgspec.Struct, frozen=True):
    """A node as a card. ``x``, ``y``: its upper left corner."""

    x: int
    y: int
    name: str
    title: str
    note: str
    more: str
    shapes: list[PodShape]
    bars: list[MeterBar]


class NodeCell(msgspec.Struct, frozen=True):
    """A node as a cell, filled from the bottom."""

    x: int
    y: int
    top: float
    height: float
    fill: str
    mark: str
    title: str


class LegendItem(msgspec.Struct, frozen=True):
    x: int
    fill: str
    label: str


class NodesSvg(msgspec.Struct, frozen=True):
    width: int
    height: int
    boxes: list[NodeBox]
    dots: list[NodeCell]
    bands: list[LegendItem]
    colours: Sheet


@cache
def colours() -> Sheet:
    """The colours of the light theme, by the names of their custom properties."""
    text = (settings.BASE_DIR / "static" / "css" / "tokens.css").read_text()
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{3,6});", text))


def draw_nodes_svg(picture: Picture) -> NodesSvg:
    ranks = Ranks([*picture.user_classes().values(), *picture.priorities])
    frame = overview(picture, "")
    names = [name for group in frame.groups for name in group.nodes]
    boxes, dots = [], []
    if frame.dense:
        per_row = (WIDTH - 2 * MARGIN) // (CELL[0] + 3)
        for place, name in enumerate(names):
            x, y = corner(place, per_row, CELL, 3)
            dots.append(dot(picture, ranks, name, x, y))
        columns, size, gap = per_row, CELL, 3
    else:
        columns, size, gap = max(3, min(PER_ROW, len(names))), CARD, GAP
        for place, name in enumerate(names):
            x, y = corner(place, columns, size, gap)
            boxes.append(box(card(picture, ranks, name), x, y))
    rows = -(-len(names) // columns)
    return NodesSvg(
        width=2 * MARGIN + columns * (size[0] + gap) - gap,
        height=HEAD + max(1, rows) * (size[1] + gap) + MARGIN - gap,
        boxes=boxes,
        dots=dots,
        bands=list(legend_items(picture, ranks)),
        colours=colours(),
    )


def corner(place: int, columns: int, size: tuple[int, int], gap: int) -> tuple[int, int]:
    row, column = divmod(place, columns)
    return MARGIN + column * (size[0] + gap), HEAD + row * (size[1] + gap)


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
            MeterBar(names[m.resource], m.percent * 0.9, m.resource, f"{m.requested}/{m.allocatable}")
            for m in view.meters
            if m.resource in names
        ],
    )


def pod_shapes(blocks: list[Block], inner: int) -> Iterator[PodShape]:
    """The pods side by side, each as wide as its share. Together they are at most as wide as the card."""
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
    """The pod's name, in two lines if one is too short. The second has the part after the last hyphen, in
    which pods of one controller differ."""
    if len(block.label) * LETTER <= room or not block.tail or block.state == "nominated":
        return [shorten_to_width(block.label, room)]
    return [shorten_to_width(block.stem, room), shorten_to_width(block.tail, room)]


def dot(picture: Picture, ranks: Ranks, name: str, x: int, y: int) -> NodeCell:
    view = cell(picture, ranks, name)
    words = f"; {view.words}" if view.words else ""
    title = f"{name}: cpu {view.cpu} %, memory {view.memory} %, pods {view.pods}{words}"
    mark = "!" if "n" in view.marks else "/" if "c" in view.marks else "t" if "t" in view.marks else ""
    height = round(CELL[1] * view.full / 100, 1)
    return NodeCell(x, y, CELL[1] - height, height, colours()[f"r{view.rank}"], mark, title)


def legend_items(picture: Picture, ranks: Ranks) -> Iterator[LegendItem]:
    x = 0
    for band in ranks.legend(picture.classes):
        label = " ".join(part for part in (band.value, band.names) if part)[:40]
        yield LegendItem(x, colours()[f"r{band.rank}"], label)
        x += 24 + int(len(label) * LETTER) + 10


def shorten_to_width(text: str, room: int) -> str:
    """The text, shortened to a width in pixels."""
    most = max(0, int(room / LETTER))
    return text if len(text) <= most else text[: max(0, most - 1)] + "…"
