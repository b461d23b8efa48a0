"""Formats text in columns, as kubectl prints it."""

from collections.abc import Sequence

from django.utils.translation import gettext

from schedviz.store.past import Readable
from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.served_features import serving
from simulator.apiserver.table import build_table

GAP = 3
"""Spaces between two columns."""


def columns(rows: Sequence[Sequence[str]], indent: str = "", gap: int = GAP) -> list[str]:
    """Format rows as lines, each column as wide as its widest cell, without spaces at the end of a line."""
    widths = [max(len(cell) for cell in column) + gap for column in zip(*rows, strict=True)]
    return [
        indent + "".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def tabbed(lines: Sequence[str], gap: int = 2) -> list[str]:
    """Format tab-separated cells in columns, as Go's text/tabwriter does: a column's width is that of its
    widest cell in consecutive lines that have a tab after this cell."""
    rows = [line.split("\t") for line in lines]
    widths: list[list[int]] = [[] for _ in rows]
    for column in range(max(map(len, rows), default=0)):
        run: list[int] = []
        for at in range(len(rows) + 1):
            if at < len(rows) and column < len(rows[at]) - 1:
                run.append(at)
                continue
            width = max((len(rows[each][column]) for each in run), default=0) + gap
            for each in run:
                widths[each].append(width)
            run.clear()
    return [
        "".join(cell.ljust(width) for cell, width in zip(row, [*width, 0], strict=True))
        for row, width in zip(rows, widths, strict=True)
    ]


def get_table(
    sandbox: Readable,
    resource: Resource,
    *,
    keys: Sequence[str] | None = None,
    namespace: str = "default",
    wide: bool = False,
    at_most: int = 500,
) -> str:
    """Return the output of ``kubectl get``: of the objects with these keys, or of all objects in a namespace
    ("" = in all namespaces)."""
    if keys is not None:
        items = [item for key in keys if (item := sandbox.get(resource.id, key))]
    else:
        items = [
            item
            for item in sandbox.list(resource.id).items
            if not (resource.namespaced and namespace) or item["metadata"]["namespace"] == namespace
        ]
    if not items:
        where = f" in {namespace} namespace" if resource.namespaced and namespace else ""
        return f"No resources found{where}."
    everywhere = resource.namespaced and not namespace
    lines = columns(cells(sandbox, resource, items[:at_most], wide, everywhere))
    if len(items) > at_most:
        lines.append(gettext("and %(n)s more") % {"n": len(items) - at_most})
    return "\n".join(lines)


def table_of(sandbox: Readable, resource: Resource, items: Sequence[Manifest]) -> Manifest:
    """Return the Table of objects as the version of their sandbox prints it. Raises TooLarge."""
    with serving(sandbox.meta().features()):
        return build_table(resource, items, {}, sandbox.now())


def cells(
    sandbox: Readable, resource: Resource, items: Sequence[Manifest], wide: bool, everywhere: bool
) -> list[list[str]]:
    made = table_of(sandbox, resource, items)
    shown = [not column["priority"] or wide for column in made["columnDefinitions"]]
    heads = [column["name"].upper() for column in made["columnDefinitions"]]
    rows = [heads, *([str(cell) for cell in row["cells"]] for row in made["rows"])]
    first = ["NAMESPACE", *(item["metadata"]["namespace"] for item in items)] if everywhere else []
    return [
        [*(first[at : at + 1]), *(cell for cell, show in zip(row, shown, strict=True) if show)]
        for at, row in enumerate(rows)
    ]
