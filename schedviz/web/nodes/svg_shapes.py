"""The shapes of the picture of the nodes for download: what its template reads."""

import msgspec


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
    """The bar of a meter. ``limits``: the width of the outline; 0 if no pod has a limit."""

    y: int
    width: float
    limits: float
    full: bool
    overcommitted: bool
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
    """A node as a cell. ``shade``: the opacity of its fill, by the requested share of its fullest resource.
    The other fields are the exceptions that are marked."""

    title: str = ""
    x: int = 0
    y: int = 0
    shade: float = 0.0
    full: bool = False
    nominated: bool = False
    cordoned: bool = False
    failing: bool = False


class LegendItem(msgspec.Struct, frozen=True):
    """An entry of the legend: a colour or pattern, or a cell, and what it means."""

    label: str
    fill: str = ""
    stroke: str = "none"
    dash: str = ""
    cell: NodeCell | None = None
    x: int = 0
    y: int = 0
