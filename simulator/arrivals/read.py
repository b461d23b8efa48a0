"""Reads a file of arrivals, of whichever of the known formats, and a file of nodes."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.manifest import to_utf8
from simulator.arrivals.arrival import Arrival, ArrivalError
from simulator.arrivals.azure import SQLITE, read_azure
from simulator.arrivals.recorded_objects import checked, faults_at, recorded
from simulator.arrivals.recordings import (
    EXPORTED,
    EXPORTED_CONFIG,
    read_export,
    read_kwok,
    read_records,
    read_simkube,
)
from simulator.arrivals.rows import (
    COLUMNS,
    GPU_MILLI,
    NODE_COLUMNS,
    csv_rows,
    json_rows,
    read_arrivals,
    read_nodes,
)
from simulator.dumps.documents import parse_documents
from simulator.dumps.dump_files import MAX_DUMP_BYTES, DumpError, open_gzip

MAX_ARRIVALS: Final = 1_000_000
ZIP: Final = b"PK\x03\x04"
_MANIFESTS: Final = re.compile(rb"\s*[\[{]|[^\n,]*:(\s|$)|---|#", re.MULTILINE)
"""The beginning of nodes that are manifests, JSON or YAML: no header of a CSV."""
_EXPORT: Final = re.compile(
    rb'\s*(?:\{\s*"(?:%(name)s)"|(?:%(name)s))\s*:'
    % {b"name": "|".join([*EXPORTED, EXPORTED_CONFIG]).encode()}
)
_RECORD: Final = re.compile(rb'\s*\{\s*"(time|event|resource)"\s*:.*"event"\s*:\s*"(Add|Update|Delete)"')


class ReadArrivals(NamedTuple):
    arrivals: Sequence[Arrival]
    """In the order of their times."""
    notes: Sequence[str] = ()
    """What of the file is not played, or not as it says, each as a line."""
    config: Manifest | None = None
    """The KubeSchedulerConfiguration that the file has; None = it has none."""


def read_file(path: Path, machine: int | None = None) -> ReadArrivals:
    """Read a file of arrivals. ``machine``: see :func:`simulator.arrivals.azure.read_azure`. Raises
    ArrivalError, ManifestError, OSError."""
    with path.open("rb") as file:
        if file.read(len(SQLITE)) == SQLITE:
            vms = read_azure(path, machine, MAX_ARRIVALS + 1)
            more = f"the VMs after the first {MAX_ARRIVALS:,} are left out"
            return ReadArrivals(vms[:MAX_ARRIVALS], [more] if len(vms) > MAX_ARRIVALS else [])
    found = read_bytes(path.read_bytes())
    if len(found.arrivals) > MAX_ARRIVALS:
        raise ArrivalError(f"more than {MAX_ARRIVALS:,} arrivals")
    return found


def read_bytes(data: bytes) -> ReadArrivals:
    """Read the contents of a file of arrivals. Raises ArrivalError, ManifestError."""
    found = _read(unpacked(data))
    if not found.arrivals:
        raise ArrivalError("the file has no arrivals")
    return found


def _read(data: bytes) -> ReadArrivals:
    if data and (0x80 <= data[0] <= 0x8F or data[0] in (0xDE, 0xDF)):  # a map of MessagePack
        return ReadArrivals(*read_simkube(data))
    data = to_utf8(data)
    if not data.strip():
        raise ArrivalError("the file is empty")
    if _EXPORT.match(data):
        found, config = read_export(data)
        return ReadArrivals(*found, config=config)
    if _RECORD.match(data):
        return ReadArrivals(*read_records(data))
    if data.lstrip().startswith((b"{", b"[")):
        arrivals = read_arrivals(json_rows(data))
    elif _MANIFESTS.match(data.lstrip()):
        return ReadArrivals(*read_kwok(data))
    else:
        arrivals = read_arrivals(csv_rows(_text(data), COLUMNS))
    return ReadArrivals(arrivals, notes=[*_notes(arrivals)])


def _notes(arrivals: Sequence[Arrival]) -> Iterator[str]:
    shares = sum(each.count for each in arrivals if int(each.requests.get(GPU_MILLI, "0")) % 1000)
    if shares:
        yield (
            f"{shares:,} pods request a share of a GPU: Kubernetes has no such resource, so GPUs are "
            f"counted as {GPU_MILLI} of their node, and a share may be spread over several GPUs"
        )


def read_nodes_file(data: bytes) -> list[Manifest]:
    """Read the contents of a file of nodes: CSV, or manifests of nodes and of whatever else is there at the
    beginning. Raises ArrivalError, ManifestError."""
    data = to_utf8(unpacked(data))
    if _MANIFESTS.match(data.lstrip()):
        return [*_manifests(data)]
    return read_nodes(csv_rows(_text(data), NODE_COLUMNS))


def _manifests(data: bytes) -> Iterator[Manifest]:
    for number, each in enumerate(parse_documents(data), 1):
        place = f"document {number}"
        with faults_at(place):
            yield recorded(checked(each, place))


def unpacked(data: bytes) -> bytes:
    """Return the contents of a file that may be gzipped. Raises ArrivalError."""
    if data.startswith(ZIP):
        raise ArrivalError("a zip archive; unpack it before")
    try:
        found = open_gzip(data)
    except DumpError as wrong:
        raise ArrivalError(f"cannot be unpacked: {wrong}") from None
    if len(found) > MAX_DUMP_BYTES:
        raise ArrivalError(f"the file has more than {MAX_DUMP_BYTES >> 20} MiB")
    return found


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        raise ArrivalError("the text is no UTF-8", line) from None
