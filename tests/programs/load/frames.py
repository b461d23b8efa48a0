"""Reads frames of the live page by searching their bytes: parsing HTML would cost as much as drawing it."""

import re
from enum import IntEnum
from typing import Final, NamedTuple

import msgspec

from schedviz.web.nodes.grid import Cell

NUMBERS: Final = re.compile(rb'<div id="frame"[^>]* data-after="(\d+)" data-seq="(\d+)"')
"""As static/js/live.js reads them."""

BLOCK: Final = b' class="pod '
"""In the tag of a pod in a node's card (templates/nodes/block.html)."""
NOMINATED: Final = b' nominated"'
"""In the tag of a pod that is nominated to the node and not bound."""

CELLS: Final = re.compile(rb'<pre id="(g\d+-\d+)" class="cells"[^>]*>(.*?)</pre>', re.DOTALL)
"""A chunk of the grid that stands for cards where there are many nodes (schedviz/web/nodes/grid.py)."""
PODS_OF_CELL: Final = Cell.__struct_fields__.index("pods")
"""The index of the number of pods in a cell."""


class Numbers(NamedTuple):
    after: int
    """The number of the frame before; 0 for a frame that is the whole page."""
    seq: int


class Place(IntEnum):
    """Where a frame shows a pod."""

    NOWHERE = 0
    ANYWHERE = 1
    """In a lane or in the log."""
    NODE = 2
    """In a node's card: it is bound."""


def numbers(frame: bytes) -> Numbers | None:
    found = NUMBERS.match(frame)
    return Numbers(int(found[1]), int(found[2])) if found else None


def shown(frame: bytes) -> str:
    """What a page sends when it has shown the frame; "" = the message is no frame."""
    number = numbers(frame)
    return f'{{"shown": {number.seq}}}' if number else ""


def link(pod: str) -> bytes:
    """What links to a pod of the namespace default end with."""
    return f'/pods/default/{pod}/"'.encode()


def place(frame: bytes, link: bytes) -> Place:
    at = frame.find(link)
    if at < 0:
        return Place.NOWHERE
    while at >= 0:
        tag = frame[frame.rfind(b"<", 0, at) : at]
        if BLOCK in tag and NOMINATED not in tag:
            return Place.NODE
        at = frame.find(link, at + 1)
    return Place.ANYWHERE


def cells(frame: bytes) -> dict[bytes, int]:
    """The number of pods on the nodes of each chunk of the grid that the frame has."""
    return {
        found[1]: sum(cell[PODS_OF_CELL] for cell in msgspec.json.decode(found[2]))
        for found in CELLS.finditer(frame)
    }
