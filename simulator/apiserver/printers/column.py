"""Columns of a Table, with the descriptions of the fields that they show."""

from collections.abc import Callable
from typing import Any, NamedTuple

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.served_features import once_per_version, served_version
from simulator.apiserver.shapes import value_at
from simulator.apiserver.types.openapi_documents import openapi_schemas
from simulator.objects.timestamps import micros

NONE = "<none>"
UNKNOWN = "<unknown>"
UNSET = "<unset>"


class Column(NamedTuple):
    name: str
    field: str
    """The field that it shows, ``PodSpec.nodeName``, whose description it has; or the description."""
    type: str = "string"
    wide: int = 0
    """1: only shown with ``-o wide``."""
    format: str = ""
    cell: "str | Cell" = ""
    """What it shows of an object: the value at a path, ``spec.nodeName``, or what the function returns; "" =
    the field, of the spec or the status of an object if it is one of theirs."""
    absent: Any = ""
    """What it shows where there is no value at the path."""
    show: Callable[[Any], Any] | None = None
    """What it shows of the value at the path, which may be None."""
    older: str = ""
    """The description of a version whose ``tables_have_older_columns``, if it is another one."""

    def definition(self) -> Manifest:
        """Return a TableColumnDefinition."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self._older or field_descriptions().get(self.field, self.field),
            "priority": self.wide,
        }

    @property
    def _older(self) -> str:
        return self.older if served_version().tables_have_older_columns else ""


Cell = Callable[[Manifest, Micros], Any]
"""A cell of an object at a time."""
Cells = Callable[[Manifest, Micros], list[Any]]
"""The cells of an object at a time, in the order of the columns."""


def _no_conditions(_: Manifest) -> list[Manifest]:
    return []


class Printer(NamedTuple):
    columns: tuple[Column, ...]
    cells: Cells
    row_conditions: Callable[[Manifest], list[Manifest]] = _no_conditions


@once_per_version()
def field_descriptions() -> dict[str, str]:
    """Return the descriptions of the fields of Kubernetes' types: ``PodSpec.nodeName`` -> text. Of types of
    the same name that of the core group counts, and then a stable version."""
    types = openapi_schemas()
    found: dict[str, str] = {}
    for name in sorted(types, key=lambda name: (".core." in name, name.split(".")[-2] in ("v1", "v2"))):
        for field, schema in types[name].get("properties", {}).items():
            if isinstance(schema, dict) and isinstance(schema.get("description"), str):
                found[f"{name.rpartition('.')[2]}.{field}"] = schema["description"]
    return found


def age_of(item: Manifest, now: Micros) -> str:
    return since(item["metadata"].get("creationTimestamp"), now)


def since(time: str | None, now: Micros) -> str:
    """Return the time since a time, in short form (translateTimestampSince)."""
    return human_duration((now - micros(time)) // SECOND) if time else UNKNOWN


def human_duration(seconds: int) -> str:
    """Format a duration as kubectl shows ages: apimachinery/pkg/util/duration/duration.go, HumanDuration."""
    if seconds < 0:
        # A clock may be a second behind.
        return "0s" if seconds == -1 else "<invalid>"
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
    if days < 365 * 2:
        return f"{days}d"
    if days < 365 * 8:
        return f"{days // 365}y{days % 365}d" if days % 365 else f"{days // 365}y"
    return f"{days // 365}y"


def printer_of(*columns: Column) -> Printer:
    """Return the printer of columns that say what they show."""
    cells = [_cell(column) for column in columns]
    return Printer(columns, lambda item, now: [cell(item, now) for cell in cells])


def _cell(column: Column) -> Cell:
    if not isinstance(column.cell, str):
        return column.cell
    path, absent, show = column.cell or _path_of(column.field), column.absent, column.show

    def cell(item: Manifest, _: Micros) -> Any:
        found = value_at(item, path)
        if show is not None:
            return show(found)
        return absent if found is None else found

    return cell


def _path_of(field: str) -> str:
    """Return the path of a field in an object: ``PodSpec.nodeName`` -> ``spec.nodeName``."""
    kind, _, name = field.partition(".")
    above = "spec." if kind.endswith("Spec") else "status." if kind.endswith("Status") else ""
    return f"{above}{name}"


def count(values: Any) -> int:
    """Return the number of values; 0 if there are none."""
    return len(values or ())


def text_or_none(value: Any) -> Any:
    return value or NONE


NAME = Column("Name", "ObjectMeta.name", format="name", cell="metadata.name")
AGE = Column("Age", "ObjectMeta.creationTimestamp", cell=age_of)
SHORT_PRINTER = printer_of(NAME, AGE)
_CREATED = "metadata.creationTimestamp"
PLAIN_PRINTER = printer_of(
    NAME, Column("Created At", "ObjectMeta.creationTimestamp", "date", cell=_CREATED, absent=None)
)
"""The printer of the built-in kinds without a printer of their own (defaultTableConvertor in
apiserver/pkg/registry/rest/table.go)."""


def labels_text(labels: Manifest | None) -> str:
    """Format labels (FormatLabels)."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE
