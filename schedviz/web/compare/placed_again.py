"""The pods that a comparison placed again: the node of each before, and on both sides."""

import msgspec
from django.utils.translation import gettext

from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator.compare.answer import PlacedPod, PlacedPods


class PlacedRow(msgspec.Struct, frozen=True):
    pod: str
    before: str
    a: str
    b: str
    differs: bool
    """Whether the sides placed it on different nodes."""


class PlacedView(msgspec.Struct, frozen=True):
    total: int
    same: int
    """Number of pods with the same node on both sides."""
    sides: list[tuple[str, int, int]]
    """For each side: its letter, the number of pods on another node than before, and that of pods that wait
    for one."""
    rows: list[PlacedRow]
    more: int
    """Number of pods that have moved and are not in the rows."""


def present_placed(found: PlacedPods) -> PlacedView:
    return PlacedView(
        total=found.total,
        same=found.total - found.different,
        sides=[("A", found.moved_a, found.without_node_a), ("B", found.moved_b, found.without_node_b)],
        rows=[_row(pod) for pod in found.moves],
        more=found.changed - len(found.moves),
    )


def placed_nodes(found: PlacedPods) -> set[str]:
    """Return the names of the nodes in the rows."""
    return {node for pod in found.moves for node in (pod.before, pod.a, pod.b) if node}


def _row(pod: PlacedPod) -> PlacedRow:
    return PlacedRow(
        fmt.pod_name(pod.pod), node_name(pod.before), _place(pod.a), _place(pod.b), pod.a != pod.b
    )


def _place(node: str | None) -> str:
    if node is None:
        return gettext("gone")
    return node_name(node) if node else gettext("no node")
