"""The printer of a custom resource, by the additionalPrinterColumns of its definition.

Upstream: apiextensions-apiserver/pkg/registry/customresource/tableconvertor/tableconvertor.go, v1.34.
"""

from datetime import datetime
from typing import Any, Final

import msgspec

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.printers.column import AGE, NAME, Column, Printer, human_duration
from simulator.apiserver.printers.simple_json_path import PathError, value_at_path
from simulator.apiserver.resources import Resource

_AGE_PATH: Final = ".metadata.creationTimestamp"
_MICROS: Final = 1_000_000


def custom_printer(resource: Resource) -> Printer:
    """Return the printer of a custom resource: its columns, or its age if it has none."""
    given: list[Manifest] = msgspec.json.decode(resource.columns_text) if resource.columns_text else []
    columns = tuple(
        Column(
            column["name"],
            column.get("description")
            or f"Custom resource definition column (in JSONPath format): {column['jsonPath']}",
            column["type"],
            column.get("priority", 0),
            column.get("format", ""),
        )
        for column in given
    ) or (AGE._replace(type="date"),)
    paths = [(column["jsonPath"], column["type"]) for column in given] or [(_AGE_PATH, "date")]

    def cells(item: Manifest, now: Micros) -> list[Any]:
        return [item["metadata"]["name"], *(_cell(item, path, kind, now) for path, kind in paths)]

    return Printer((NAME, *columns), cells)


def _cell(item: Manifest, path: str, kind: str, now: Micros) -> Any:
    try:
        value = value_at_path(item, path)
    except PathError:
        return None
    match kind:
        case "string":
            return value if isinstance(value, str) else msgspec.json.encode(value).decode()
        case "date" if isinstance(value, str):
            return _age(value, now)
        case "integer" if isinstance(value, float):
            return int(value)
    return value


def _age(text: str, now: Micros) -> str:
    try:
        since = int(datetime.fromisoformat(text).timestamp() * _MICROS)
    except (ValueError, OverflowError):
        return "<invalid>"
    return human_duration((now - since) // SECOND)
