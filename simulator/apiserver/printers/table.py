"""Tables: the response format that ``kubectl get`` prints."""

from collections.abc import Sequence
from typing import Any, Final

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.printers.access import ACCESS_PRINTERS
from simulator.apiserver.printers.autoscaler import AUTOSCALER_PRINTER
from simulator.apiserver.printers.cluster_objects import CLUSTER_PRINTERS
from simulator.apiserver.printers.column import AGE, NAME, Column, Printer, age_of, human_duration
from simulator.apiserver.printers.control_plane import CONTROL_PLANE_PRINTERS
from simulator.apiserver.printers.custom import custom_printer
from simulator.apiserver.printers.network import NETWORK_PRINTERS
from simulator.apiserver.printers.pods import POD_PRINTER, row_conditions
from simulator.apiserver.printers.storage import STORAGE_PRINTERS
from simulator.apiserver.printers.workloads import WORKLOAD_PRINTERS
from simulator.apiserver.resources import CRDS, Resource
from simulator.kernel.work import check_waiting
from simulator.objects.events import EVENTS, event_count, event_first_seen, event_last_seen


def build_table(resource: Resource, items: Sequence[Manifest], metadata: Manifest, now: Micros) -> Manifest:
    """Build the ``Table`` (meta/v1) of objects. Each row contains the metadata of its object."""
    printer = (
        custom_printer(resource) if resource.columns_text else PRINTERS.get(resource.id, DEFAULT_PRINTER)
    )
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": [column.definition() for column in printer.columns],
        "rows": [_row(resource, printer, item, now) for item in items],
    }


def _row(resource: Resource, printer: Printer, item: Manifest, now: Micros) -> Manifest:
    check_waiting()
    row: Manifest = {
        "cells": printer.cells(item, now),
        "object": {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": item["metadata"],
        },
    }
    conditions = row_conditions(item) if resource.id == "pods" else []
    return {**row, "conditions": conditions} if conditions else row


def _name_and_age(item: Manifest, now: Micros) -> list[Any]:
    return [item["metadata"]["name"], age_of(item, now)]


def _name_and_creation(item: Manifest, now: Micros) -> list[Any]:
    return [item["metadata"]["name"], item["metadata"].get("creationTimestamp")]


def _event(item: Manifest, now: Micros) -> list[Any]:
    """Return the cells of an Event. Its columns do not begin with Name and have no Age (printEvent)."""
    about, source = item.get("involvedObject") or {}, item.get("source") or {}
    reporter = (
        source.get("component") or item.get("reportingComponent", ""),
        source.get("host") or item.get("reportingInstance", ""),
    )
    return [
        _since(event_last_seen(item), now),
        item.get("type", ""),
        item.get("reason", ""),
        _target(about),
        about.get("fieldPath", ""),
        f"{reporter[0]}, {reporter[1]}" if reporter[1] else reporter[0],
        item.get("message", "").strip(),
        _since(event_first_seen(item), now),
        event_count(item),
        item["metadata"]["name"],
    ]


def _target(about: Manifest) -> str:
    kind: str = about.get("kind", "").lower()
    return f"{kind}/{about['name']}" if about.get("name") else kind


def _since(seen: Micros, now: Micros) -> str:
    return human_duration((now - seen) // SECOND) if seen else "<unknown>"


EVENT_PRINTER = Printer(
    (
        Column("Last Seen", "Event.lastTimestamp"),
        Column("Type", "Event.type"),
        Column("Reason", "Event.reason"),
        Column("Object", "Event.involvedObject"),
        Column("Subobject", "ObjectReference.fieldPath", wide=1),
        Column("Source", "Event.source", wide=1),
        Column("Message", "Event.message"),
        Column("First Seen", "Event.firstTimestamp", wide=1),
        Column("Count", "Event.count", wide=1),
        Column("Name", "ObjectMeta.name", wide=1, format="name"),
    ),
    _event,
)
DEFAULT_PRINTER = Printer((NAME, AGE), _name_and_age)
PLAIN_PRINTER = Printer(
    (NAME, Column("Created At", "ObjectMeta.creationTimestamp", "date")), _name_and_creation
)
"""The printer of the built-in kinds without a printer of their own (defaultTableConvertor in
apiserver/pkg/registry/rest/table.go)."""
PLAIN: Final = (
    CRDS,
    "limitranges",
    "clusterroles.rbac.authorization.k8s.io",
    "roles.rbac.authorization.k8s.io",
)
PRINTERS = {
    "pods": POD_PRINTER,
    "horizontalpodautoscalers.autoscaling": AUTOSCALER_PRINTER,
    **dict.fromkeys(PLAIN, PLAIN_PRINTER),
    **ACCESS_PRINTERS,
    **CONTROL_PLANE_PRINTERS,
    EVENTS: EVENT_PRINTER,
    **CLUSTER_PRINTERS,
    **WORKLOAD_PRINTERS,
    **STORAGE_PRINTERS,
    **NETWORK_PRINTERS,
}
"""Resource -> its printer."""
