"""The printer of a custom resource, by the additionalPrinterColumns of its definition.

Upstream: apiextensions-apiserver/pkg/registry/customresource/tableconvertor/tableconvertor.go, v1.34.
"""

import json
from datetime import datetime
from typing import Any, Final

import msgspec

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.printers.column import AGE, NAME, Column, Printer, human_duration
from simulator.apiserver.printers.simple_json_path import PathError, value_at_path
from simulator.apiserver.resource import Resource
from simulator.kernel.go_text import go_json
from simulator.kernel.work import spend_work

_AGE_PATH: Final = ".metadata.creationTimestamp"
_MICROS: Final = 1_000_000
_CHARACTERS_OF_A_UNIT: Final = 16
"""So the cells of a table have at most some 30 MB."""


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
    """Raises OutOfWork."""
    try:
        value = value_at_path(item, path)
    except PathError:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    match kind:
        case "string":
            text = _text(value)
            spend_work(len(text) // _CHARACTERS_OF_A_UNIT)
            return text
        case "date" if isinstance(value, str):
            return _age(value, now)
        case "integer" if is_number:
            return int(value)
        case "number" if is_number:
            return value
        case "boolean" if isinstance(value, bool):
            return value
    return None


def _text(value: Any) -> str:
    """Return a value as PrintResults in client-go/util/jsonpath writes it."""
    match value:
        case None:
            return "<no value>"
        case str():
            return value
        case dict() | list():
            return go_json(value)
    return json.dumps(value)


def _age(text: str, now: Micros) -> str:
    try:
        since = int(datetime.fromisoformat(text).timestamp() * _MICROS)
    except (ValueError, OverflowError):
        return "<invalid>"
    return human_duration((now - since) // SECOND)
