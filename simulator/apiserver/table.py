"""Tables: the response format that ``kubectl get`` prints."""

from collections.abc import Iterable, Iterator, Sequence

from simulator.api import Manifest, Micros
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.printers.column import Printer
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.resource import Resource
from simulator.kernel.work import OutOfWork, check_waiting


def build_table(resource: Resource, items: Sequence[Manifest], metadata: Manifest, now: Micros) -> Manifest:
    """Build the ``Table`` (meta/v1) of objects. Raises TooLarge, see :func:`table_rows`."""
    columns = strategy_of(resource).table_printer().columns
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": [column.definition() for column in columns],
        "rows": [*table_rows(resource, items, now)],
    }


def table_rows(resource: Resource, items: Iterable[Manifest], now: Micros) -> Iterator[Manifest]:
    """Yield the row of each object, with its metadata. Raises TooLarge: the columns of a definition may be
    thousands, each with the same large text."""
    printer = strategy_of(resource).table_printer()
    for item in items:
        try:
            row = _row(printer, item, now)
        except OutOfWork as error:
            raise TooLarge(f"the table is too large: {error}") from None
        yield row


def _row(printer: Printer, item: Manifest, now: Micros) -> Manifest:
    check_waiting()
    row: Manifest = {
        "cells": printer.cells(item, now),
        "object": {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": item["metadata"],
        },
    }
    conditions = printer.row_conditions(item)
    return {**row, "conditions": conditions} if conditions else row
