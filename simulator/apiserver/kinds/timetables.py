"""Timetables, a kind of schedviz: objects that come, change and go at given times."""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.printers.column import SHORT_PRINTER
from simulator.apiserver.resource import built_in
from simulator.apiserver.shapes import each
from simulator.apiserver.status import Cause, forbidden, invalid, required
from simulator.apiserver.strategy import Strategy
from simulator.objects import durations


def _entry(entry: Manifest, path: str) -> Iterator[Cause]:
    for name in ("at", "every", "until"):
        try:
            durations.parse_duration(entry.get(name, "0"))
        except ValueError as error:
            yield invalid(f"{path}.{name}", entry[name], str(error))
    if entry.get("delete") and entry.get("change"):
        yield forbidden(f"{path}.change", "may not be set together with delete")
    if entry.get("delete") or entry.get("change"):
        what = "delete" if entry.get("delete") else "change"
        named = entry["object"]
        if not all(isinstance(named.get(field), str) for field in ("apiVersion", "kind")):
            yield required(f"{path}.object", f"apiVersion and kind of the object to {what}")
        metadata = named.get("metadata")
        if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
            yield required(f"{path}.object.metadata.name", f"the name of the object to {what}")


TIMETABLE_STRATEGY: Final = Strategy(
    resource=built_in("schedviz/v1", "Timetable", in_cluster=True),
    validate=each("spec.entries", _entry),
    printer=SHORT_PRINTER,
)
