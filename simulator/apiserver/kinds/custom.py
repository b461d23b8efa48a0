"""Custom resources: their rules are in the schema of their definition, and their columns in its
additionalPrinterColumns.

Upstream: strategy.go and tableconvertor/tableconvertor.go in
apiextensions-apiserver/pkg/registry/customresource.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache, partial
from typing import Any, Final

import msgspec

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.custom_resources.resource_schema import custom_faults, set_custom_defaults
from simulator.apiserver.kinds.definitions.strategy import refuse_while_terminating
from simulator.apiserver.printers.column import AGE, NAME, SHORT_PRINTER, Column, Printer, human_duration
from simulator.apiserver.printers.simple_json_path import PathError, value_at_path
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import Cause
from simulator.apiserver.strategy import WHOLE_METADATA, Strategy, status_strategy
from simulator.kernel.go_text import go_json
from simulator.kernel.work import spend_work

_KEPT: Final = 256
"""Number of versions of custom resources whose strategies are kept. Others are made again."""
_AGE_PATH: Final = ".metadata.creationTimestamp"
_MICROS: Final = 1_000_000
_CHARACTERS_OF_A_UNIT: Final = 16
"""So the cells of a table have at most some 30 MB."""


@lru_cache(_KEPT)
def custom_strategy(resource: Resource) -> Strategy:
    def validate(manifest: Manifest) -> Iterator[Cause]:
        return iter(custom_faults(resource, manifest))

    def validate_updated(new: Manifest, old: Manifest) -> Iterator[Cause]:
        return iter(custom_faults(resource, new, old))

    def desired_state(manifest: Manifest) -> Any:
        left_out = ("metadata", "status") if resource.has_status else ("metadata",)
        return {field: value for field, value in manifest.items() if field not in left_out}

    # The order of an update of the status is that of the object.
    status = status_strategy(keeps_metadata=WHOLE_METADATA, update_order="US")
    return Strategy(
        resource=resource,
        refuse_create=partial(refuse_while_terminating, resource),
        set_defaults=lambda manifest: set_custom_defaults(resource, manifest),
        any_finalizer=True,
        validate=validate,
        validate_updated=validate_updated,
        needs_version=True,
        update_order="US",
        desired_state=desired_state,
        subresources={"status": status} if resource.has_status else {},
        printer=custom_printer(resource) if resource.columns_text else SHORT_PRINTER,
        fields=resource.selectable_fields,
        storage_prefix=f"{resource.group}/{resource.plural}",
    )


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
