"""Tables: the response format that ``kubectl get`` prints.

The columns are those of pkg/printers/internalversion/printers.go, v1.34, without those that a simulated
cluster has no data for."""

from collections.abc import Callable, Sequence
from typing import Any

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.resources import Resource
from simulator.objects.events import EVENTS, event_count, event_first_seen, event_last_seen
from simulator.objects.timestamps import micros

Row = Callable[[Manifest], list[Any]]

Column = tuple[str, str, int]
"""Name, type and priority of a column: priority 0 is always shown, 1 only with ``-o wide``."""

_NAME: Column = ("Name", "string", 0)
_AGE: Column = ("Age", "string", 0)


def build_table(resource: Resource, items: Sequence[Manifest], metadata: Manifest, now: Micros) -> Manifest:
    """Build the ``Table`` (meta/v1) of objects. Each row contains the metadata of its object."""
    columns, cells = _layout(resource, now)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": [
            {
                "name": name,
                "type": kind,
                "format": "name" if name == "Name" else "",
                "description": "",
                "priority": wide,
            }
            for name, kind, wide in columns
        ],
        "rows": [
            {
                "cells": cells(item),
                "object": {
                    "kind": "PartialObjectMetadata",
                    "apiVersion": "meta.k8s.io/v1",
                    "metadata": item["metadata"],
                },
            }
            for item in items
        ],
    }


def human_duration(seconds: int) -> str:
    """Format a duration as kubectl shows ages: apimachinery/pkg/util/duration/duration.go, HumanDuration."""
    if seconds < 0:
        return "0s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    return f"{days}d"


def _layout(resource: Resource, now: Micros) -> tuple[list[Column], Row]:
    """Return the columns, and a function that returns the cells of an object."""
    if resource.id == EVENTS:
        return _EVENT_COLUMNS, lambda item: _event(item, now)
    columns, row = _KINDS.get(resource.id, ([], lambda _: []))
    return _with_age(columns), lambda item: _cells(
        columns, item["metadata"]["name"], row(item), _age(item, now)
    )


def _with_age(columns: list[Column]) -> list[Column]:
    """Return all columns: Name, those of priority 0, Age, and those of priority 1."""
    always = [column for column in columns if not column[2]]
    return [_NAME, *always, _AGE, *(column for column in columns if column[2])]


def _cells(columns: list[Column], name: str, row: list[Any], age: str) -> list[Any]:
    always = [cell for column, cell in zip(columns, row, strict=True) if not column[2]]
    wide = [cell for column, cell in zip(columns, row, strict=True) if column[2]]
    return [name, *always, age, *wide]


def _age(item: Manifest, now: Micros) -> str:
    created = item["metadata"].get("creationTimestamp")
    return human_duration((now - micros(created)) // SECOND) if created else "<unknown>"


def _pod_cells(item: Manifest) -> list[Any]:
    spec, status = item["spec"], item.get("status", {})
    statuses = status.get("containerStatuses", ())
    ready = sum(bool(container.get("ready")) for container in statuses)
    restarts = sum(container.get("restartCount", 0) for container in statuses)
    shown = status.get("reason") or status.get("phase", "")
    conditions = {condition["type"]: condition for condition in status.get("conditions", ())}
    if conditions.get("PodScheduled", {}).get("reason") == "SchedulingGated":
        shown = "SchedulingGated"
    if shown == "Succeeded":
        shown = "Completed"
    if "deletionTimestamp" in item["metadata"]:
        shown = "Terminating"
    return [
        f"{ready}/{len(spec['containers'])}",
        shown,
        str(restarts),
        status.get("podIP") or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        spec.get("priorityClassName") or "<none>",
    ]


def _node_cells(item: Manifest) -> list[Any]:
    conditions = {c["type"]: c["status"] for c in item.get("status", {}).get("conditions", ())}
    ready = {"True": "Ready", "False": "NotReady"}.get(conditions.get("Ready", ""), "Unknown")
    cordoned = ",SchedulingDisabled" if item["spec"].get("unschedulable") else ""
    prefix = "node-role.kubernetes.io/"
    labels = item["metadata"].get("labels", {})
    roles = sorted(label.removeprefix(prefix) for label in labels if label.startswith(prefix))
    version = item["status"].get("nodeInfo", {}).get("kubeletVersion", "")
    return [ready + cordoned, ",".join(roles) or "<none>", version]


def _priority_class_cells(item: Manifest) -> list[Any]:
    return [item["value"], str(bool(item.get("globalDefault"))).lower(), item.get("preemptionPolicy", "")]


def _disruption_budget_cells(item: Manifest) -> list[Any]:
    spec = item.get("spec", {})
    allowed = item.get("status", {}).get("disruptionsAllowed", 0)
    return [str(spec.get("minAvailable", "N/A")), str(spec.get("maxUnavailable", "N/A")), allowed]


def _namespace_cells(item: Manifest) -> list[Any]:
    return ["Terminating" if "deletionTimestamp" in item["metadata"] else item["status"]["phase"]]


_EVENT_COLUMNS: list[Column] = [
    ("Last Seen", "string", 0),
    ("Type", "string", 0),
    ("Reason", "string", 0),
    ("Object", "string", 0),
    ("Subobject", "string", 1),
    ("Source", "string", 1),
    ("Message", "string", 0),
    ("First Seen", "string", 1),
    ("Count", "integer", 1),
    ("Name", "string", 1),
]


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
        "/".join(filter(None, (about.get("kind", "").lower(), about.get("name")))),
        about.get("fieldPath", ""),
        ", ".join(filter(None, reporter)),
        item.get("message", "").strip(),
        _since(event_first_seen(item), now),
        event_count(item),
        item["metadata"]["name"],
    ]


def _since(seen: Micros, now: Micros) -> str:
    return human_duration((now - seen) // SECOND) if seen else "<unknown>"


_KINDS: dict[str, tuple[list[Column], Row]] = {
    "pods": (
        [
            ("Ready", "string", 0),
            ("Status", "string", 0),
            ("Restarts", "string", 0),
            ("IP", "string", 1),
            ("Node", "string", 1),
            ("Nominated Node", "string", 1),
            ("Priority Class", "string", 1),
        ],
        _pod_cells,
    ),
    "nodes": ([("Status", "string", 0), ("Roles", "string", 0), ("Version", "string", 1)], _node_cells),
    "namespaces": ([("Status", "string", 0)], _namespace_cells),
    "priorityclasses.scheduling.k8s.io": (
        [("Value", "integer", 0), ("Global-Default", "boolean", 0), ("PreemptionPolicy", "string", 0)],
        _priority_class_cells,
    ),
    "poddisruptionbudgets.policy": (
        [
            ("Min Available", "string", 0),
            ("Max Unavailable", "string", 0),
            ("Allowed Disruptions", "integer", 0),
        ],
        _disruption_budget_cells,
    ),
}
