"""Tables: the response format that ``kubectl get`` prints."""

from collections.abc import Sequence

from simulator.api import Manifest, Micros
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.printers.column import Printer
from simulator.apiserver.resource import Resource
from simulator.kernel.work import check_waiting


def build_table(resource: Resource, items: Sequence[Manifest], metadata: Manifest, now: Micros) -> Manifest:
    """Build the ``Table`` (meta/v1) of objects. Each row contains the metadata of its object."""
    printer = strategy_of(resource).printer
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": [column.definition() for column in printer.columns],
        "rows": [_row(printer, item, now) for item in items],
    }


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
