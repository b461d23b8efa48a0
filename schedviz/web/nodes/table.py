"""All nodes as a table that can be sorted by each column. Screen readers can read it too."""

from collections.abc import Callable
from typing import Final

import msgspec
from django.utils.translation import gettext

from schedviz.web.nodes import filter_query
from schedviz.web.nodes.cards import Meter, meters
from schedviz.web.nodes.groups import natural
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.records import NO_LOAD, POD_COUNT, NodeRecord
from schedviz.web.text import format as fmt

ROWS: Final = 100
"""Number of rows of one page: about 150 kB of HTML."""

Key = tuple[object, ...]


class ColumnHeading(msgspec.Struct, frozen=True):
    key: str
    words: str
    link: str
    """The value of ``sort`` for the link of this heading."""
    sorted: str
    """The value of aria-sort: ascending, descending, or empty."""
    number: bool


class NodeRow(msgspec.Struct, frozen=True):
    name: str
    zone: str
    state: str
    cpu: Meter
    memory: Meter
    pods: Meter
    others: list[Meter]


class Table(msgspec.Struct, frozen=True):
    headings: list[ColumnHeading]
    rows: list[NodeRow]
    count: int
    page: int
    pages: int
    sort: str
    query: str
    wrong: str
    """The reason for which the query cannot be parsed; "" if it can."""


def present_table(picture: Picture, sort: str, query: str, page: int) -> Table:
    """Return one page of the table. sort: the key of a column; with "-" before it, descending. page: its
    number, from 1; the nearest existing page is shown."""
    nodes, wrong = list(picture.nodes.values()), ""
    if query:
        try:
            nodes = filter_nodes(picture, filter_query.parse_query(query))
        except filter_query.BadQuery as error:
            wrong = str(error)
    keys = orders(picture)
    column = sort.removeprefix("-")
    if column not in keys:
        sort = column = "name"
    nodes.sort(key=natural)
    nodes.sort(key=keys[column], reverse=sort.startswith("-"))
    pages = max(1, -(-len(nodes) // ROWS))
    page = max(1, min(pages, page))
    return Table(
        headings=headings(sort),
        rows=[row(picture, node) for node in nodes[(page - 1) * ROWS : page * ROWS]],
        count=len(nodes),
        page=page,
        pages=pages,
        sort=sort,
        query=query,
        wrong=wrong,
    )


def filter_nodes(picture: Picture, holds: filter_query.Term) -> list[NodeRecord]:
    """Return the nodes that the query matches, or that have a pod which it matches."""
    return [
        node
        for node in picture.nodes.values()
        if holds(picture, node)
        or any(holds(picture, pod) for pod in picture.by_node.get(node.name, {}).values())
    ]


def orders(picture: Picture) -> dict[str, Callable[[NodeRecord], Key]]:
    def requested(resource: str) -> Callable[[NodeRecord], Key]:
        def share(node: NodeRecord) -> Key:
            amount = picture.loads.get(node.name, NO_LOAD).requests[resource]
            return (amount / (node.allocatable.get(resource) or 1), amount)

        return share

    def limits(resource: str) -> Callable[[NodeRecord], Key]:
        return lambda node: (picture.loads.get(node.name, NO_LOAD).limits[resource],)

    def allocatable(resource: str) -> Callable[[NodeRecord], Key]:
        return lambda node: (node.allocatable.get(resource, 0),)

    return {
        "name": natural,
        "zone": lambda node: (node.zone,),
        "state": lambda node: (not state(node), state(node)),
        "cpu": requested("cpu"),
        "cpu-limits": limits("cpu"),
        "cpu-of": allocatable("cpu"),
        "memory": requested("memory"),
        "memory-limits": limits("memory"),
        "memory-of": allocatable("memory"),
        "pods": requested(POD_COUNT),
        "pods-of": allocatable(POD_COUNT),
    }


def headings(sort: str) -> list[ColumnHeading]:
    def limits(resource: str) -> str:
        return gettext("%(resource)s limits") % {"resource": resource}

    def of(resource: str) -> str:
        return gettext("%(resource)s allocatable") % {"resource": resource}

    named = [
        ("name", gettext("node")),
        ("cpu", "cpu"),
        ("memory", "memory"),
        ("pods", "pods"),
        ("state", gettext("conditions, taints")),
        ("zone", gettext("zone")),
        ("cpu-limits", limits("cpu")),
        ("cpu-of", of("cpu")),
        ("memory-limits", limits("memory")),
        ("memory-of", of("memory")),
        ("pods-of", of("pods")),
    ]
    return [column_heading(key, words, sort) for key, words in named]


def column_heading(key: str, words: str, sort: str) -> ColumnHeading:
    """Return the heading of a column. The first click sorts numbers descending, and names ascending."""
    number = key not in ("name", "zone", "state")
    first, second = (f"-{key}", key) if number else (key, f"-{key}")
    direction = {key: "ascending", f"-{key}": "descending"}.get(sort, "")
    return ColumnHeading(key, words, second if sort == first else first, direction, number)


def row(picture: Picture, node: NodeRecord) -> NodeRow:
    cpu, memory, pods, *others = meters(node, picture.loads.get(node.name, NO_LOAD))
    return NodeRow(node.name, node.zone, state(node), cpu, memory, pods, others)


def state(node: NodeRecord) -> str:
    cordoned = ["SchedulingDisabled"] if node.unschedulable else []
    return fmt.listed([*node.conditions, *cordoned, *node.taints])
