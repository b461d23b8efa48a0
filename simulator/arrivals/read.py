"""Reads a file of arrivals, of whichever of the known formats, and a file of nodes."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from simulator.api import Manifest
from simulator.arrivals.arrival import Arrival, ArrivalError
from simulator.arrivals.azure import SQLITE, read_azure
from simulator.arrivals.recordings import (
    EXPORTED,
    KWOK,
    read_export,
    read_kwok,
    read_records,
    read_simkube,
    recorded,
)
from simulator.arrivals.rows import COLUMNS, NODE_COLUMNS, csv_rows, json_rows, read_arrivals, read_nodes
from simulator.dumps.documents import parse_documents
from simulator.dumps.dump_files import MAX_DUMP_BYTES, DumpError, open_gzip

MAX_ARRIVALS: Final = 1_000_000
_MANIFESTS: Final = re.compile(rb"\s*[\[{]|[^\n,]*:(\s|$)|---|#", re.MULTILINE)
"""The beginning of nodes that are manifests, JSON or YAML: no header of a CSV."""
_EXPORT: Final = re.compile(rb'\s*\{\s*"(%s|schedulerConfig)"\s*:' % "|".join(EXPORTED).encode())
_RECORD: Final = re.compile(rb'\s*\{\s*"(time|event|resource)"\s*:.*"event"\s*:\s*"(Add|Update|Delete)"')


class ReadArrivals(NamedTuple):
    arrivals: Sequence[Arrival]
    """In the order of their times."""
    config: Manifest | None = None
    """The KubeSchedulerConfiguration that the file has; None = it has none."""


def read_file(path: Path, machine: int | None = None) -> ReadArrivals:
    """Read a file of arrivals. ``machine``: see :func:`simulator.arrivals.azure.read_azure`. Raises
    ArrivalError, ManifestError, OSError."""
    with path.open("rb") as file:
        if file.read(len(SQLITE)) == SQLITE:
            return ReadArrivals(read_azure(path, machine, MAX_ARRIVALS))
    found = read_bytes(path.read_bytes())
    if len(found.arrivals) > MAX_ARRIVALS:
        raise ArrivalError(f"more than {MAX_ARRIVALS:,} arrivals")
    return found


def read_bytes(data: bytes) -> ReadArrivals:
    """Read the contents of a file of arrivals. Raises ArrivalError, ManifestError."""
    data = unpacked(data)
    if not data.strip():
        raise ArrivalError("the file is empty")
    if KWOK.encode() in data and not data.lstrip().startswith(b"{"):
        return ReadArrivals(read_kwok(data))
    if 0x80 <= data[0] <= 0x8F or data[0] in (0xDE, 0xDF):  # a map of MessagePack
        return ReadArrivals(read_simkube(data))
    if _EXPORT.match(data):
        try:
            return ReadArrivals(*read_export(msgspec.json.decode(data)))
        except (msgspec.DecodeError, TypeError, AttributeError, KeyError) as wrong:
            raise ArrivalError(f"no export of kube-scheduler-simulator: {wrong}") from None
    if _RECORD.match(data):
        return ReadArrivals(read_records(data))
    if data.lstrip().startswith(b"{"):
        return ReadArrivals(read_arrivals(json_rows(data)))
    return ReadArrivals(read_arrivals(csv_rows(_text(data), COLUMNS)))


def read_nodes_file(data: bytes) -> list[Manifest]:
    """Read the contents of a file of nodes: CSV, or manifests of nodes and of whatever else is there at the
    beginning. Raises ArrivalError, ManifestError."""
    data = unpacked(data)
    if _MANIFESTS.match(data):
        return [recorded(each) for each in parse_documents(data)]
    return read_nodes(csv_rows(_text(data), NODE_COLUMNS))


def unpacked(data: bytes) -> bytes:
    """Return the contents of a file that may be gzipped. Raises ArrivalError."""
    try:
        found = open_gzip(data)
    except DumpError as wrong:
        raise ArrivalError(f"cannot be unpacked: {wrong}") from None
    if len(found) > MAX_DUMP_BYTES:
        raise ArrivalError(f"the file has more than {MAX_DUMP_BYTES >> 20} MiB")
    return found


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        raise ArrivalError("the text is no UTF-8", line) from None
