"""Reads the lines of arrivals and of nodes: CSV with a header, and JSON Lines. The columns of the openb trace
(alibaba/clusterdata, cluster-trace-gpu-v2023) are known, too."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from simulator.api import Manifest
from simulator.arrivals.arrival import MAX_COUNT, WORKLOADS, Arrival, ArrivalError
from simulator.arrivals.fields import (
    Row,
    read_amount,
    read_count,
    read_duration,
    read_labels,
    read_name,
    read_namespace,
    read_node_labels,
    read_pairs,
    read_priority,
    read_time,
    read_whole,
    shown,
)
from simulator.objects.durations import MAX_DURATION
from simulator.objects.timestamps import is_timestamp

GPU_MILLI: Final = "alibabacloud.com/gpu-milli"
GPU_MODEL: Final = "alibabacloud.com/gpu-card-model"
"""The resource and the label that the authors of openb gave to GPUs."""
ZONE: Final = "topology.kubernetes.io/zone"
MAX_LINE: Final = 3 << 19
"""Maximum number of characters of a line: those of one object, as etcd's limit."""
MAX_NODES_OF_A_LINE: Final = 10_000
MAX_GPUS: Final = 1_000
"""Maximum number of GPUs of a pod or a node."""

AMOUNTS: Final = {
    "cpu": ("cpu", read_amount()),
    "cpu_milli": ("cpu", read_amount("m")),
    "memory": ("memory", read_amount()),
    "memory_mib": ("memory", read_amount("Mi")),
    "ephemeral-storage": ("ephemeral-storage", read_amount()),
}
"""The columns of amounts, each with its resource. Other resources have their names, which contain a slash."""
TIMES: Final = ("time", "creation_time")
ENDS: Final = ("deletion_time",)
STARTS: Final = ("scheduled_time",)
_OF_BOTH: Final = {"name", "labels", "count", *AMOUNTS}
COLUMNS: Final = {
    *_OF_BOTH,
    *(*TIMES, *ENDS, *STARTS, "namespace", "requests", "priority", "duration", "owner", "node_labels"),
    *("num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase", "object", "delete", "change"),
}
NODE_COLUMNS: Final = {*_OF_BOTH, "pods", "zone", "taints", "sn", "gpu", "model"}


def csv_rows(text: str, columns: set[str]) -> Iterator[Row]:
    """Yield the lines of a CSV. Raises ArrivalError."""
    csv.field_size_limit(MAX_LINE)
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(lines, [])]
        if header and not header[0]:
            header[0] = "index"  # as pandas writes it
        _check_header(header, columns)
        for values in lines:
            if not any(values):
                continue
            if len(values) != len(header):
                raise ArrivalError(
                    f"{len(values)} columns, but the header has {len(header)}",
                    lines.line_num,
                    header[len(values)] if len(values) < len(header) else str(len(header) + 1),
                )
            yield Row(dict(zip(header, values, strict=True)), lines.line_num)
    except csv.Error as wrong:
        raise ArrivalError(str(wrong), lines.line_num) from None


def _check_header(header: list[str], columns: set[str]) -> None:
    if not {"name", "sn", "cpu", *TIMES} & {*header}:
        between = next((each for each in (";", "\t") if len(header) == 1 and each in header[0]), None)
        if between is not None:
            raise ArrivalError(f"the columns are separated by {between!r}; a CSV has commas", 1)
        raise ArrivalError("it is no header of an arrivals file or of nodes", 1)
    for number, name in enumerate(header):
        if name in header[:number]:
            raise ArrivalError("the column is there twice", 1, name)
        if name not in columns and "/" not in name and name != "index":
            raise ArrivalError(f"unknown; the columns are {', '.join(sorted(columns))}", 1, shown(name))


def json_rows(data: bytes) -> Iterator[Row]:
    """Yield the lines of JSON Lines. Raises ArrivalError."""
    if data.lstrip().startswith(b"["):
        raise ArrivalError("a list; JSON Lines have one object a line, without brackets and commas", 1)
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        if len(line) > MAX_LINE:
            raise ArrivalError(f"longer than {MAX_LINE:,} bytes", number)
        try:
            fields = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError) as wrong:
            raise ArrivalError(f"no JSON: {wrong}", number) from None
        if not isinstance(fields, dict):
            raise ArrivalError("no object of JSON", number)
        if "apiVersion" in fields and "kind" in fields:
            raise ArrivalError('a manifest; an arrival has it as its "object"', number)
        unknown = next((name for name in fields if name not in COLUMNS and "/" not in name), None)
        if unknown is not None:
            raise ArrivalError("unknown field", number, shown(unknown))
        yield Row(fields, number)


def read_arrivals(rows: Iterable[Row]) -> list[Arrival]:
    """Return the arrivals of lines. Times of traces (``creation_time``, timestamps) begin at the first one.
    Lines of a file without such a column come at the beginning. Raises ArrivalError."""
    found, begins, is_shifted = [], [], False
    for row in rows:
        column, value = row.find(*TIMES)
        arrival = _arrival(row)
        is_shifted |= column != "time" or (isinstance(value, str) and is_timestamp(value))
        begins.append(arrival.time)
        found.append(arrival)
    first = min(begins, default=0)
    if is_shifted:
        found = [msgspec.structs.replace(each, time=each.time - first) for each in found]
    for each in found:
        if each.time < 0:
            raise ArrivalError("before the beginning", each.line, "time")
        try:
            read_duration(each.time / 1_000_000)
        except ValueError:
            raise ArrivalError("more than a year after the beginning", each.line, "time") from None
    return sorted(found, key=lambda each: each.time)


def _arrival(row: Row) -> Arrival:
    time = row.read(read_time, *TIMES)
    if time is None:
        if row.has(*TIMES):
            raise row.fault("missing", next(each for each in TIMES if row.has(each)))
        time = 0
    if row.get("object") is not None:
        deletes, changes = (row.read(_whether, column) or False for column in ("delete", "change"))
        if deletes and changes:
            raise row.fault("an object is changed or deleted, not both", "change")
        return Arrival(time, object=_object(row), delete=deletes, change=changes, line=row.line)
    owner = _owner(row)
    name = row.read(read_name, "name") or owner.partition("/")[2] or f"arrival-{row.line}"
    duration = row.read(read_duration, "duration")
    end = row.read(read_time, *ENDS)
    if duration is None and end is not None:
        duration = end - (row.read(read_time, *STARTS) or time)
        if duration < 0:
            raise row.fault("before the pod was created or started", ENDS[0])
        if duration > MAX_DURATION:
            raise row.fault("more than a year after the pod was created or started", ENDS[0])
    labels = row.read(read_labels, "labels") or {}
    qos = row.get("qos")
    if qos is not None:
        labels = labels | read_labels({"qos": qos})
    models = row.read(lambda value: read_node_labels({GPU_MODEL: value}), "gpu_spec") or {}
    return Arrival(
        time=time,
        name=name,
        namespace=row.read(read_namespace, "namespace") or "",
        requests=_amounts(row) | _requests(row) | _shares_of_gpus(row),
        priority=row.read(read_priority, "priority") or 0,
        duration=duration,
        count=row.read(lambda value: read_count(value, MAX_COUNT), "count") or 1,
        owner=owner.partition("/")[0],
        labels=labels,
        node_labels=models | (row.read(read_node_labels, "node_labels") or {}),
        line=row.line,
    )


def _whether(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{shown(value)} is neither true nor false")
    return value


def _object(row: Row) -> Manifest:
    manifest = row.get("object")
    if not isinstance(manifest, dict) or not isinstance(manifest.get("metadata"), dict):
        raise row.fault("no manifest", "object")
    return manifest


def _owner(row: Row) -> str:
    owner = str(row.get("owner") or "")
    if owner and owner.partition("/")[0] not in WORKLOADS:
        raise row.fault(f"{shown(owner)} is not one of {', '.join(WORKLOADS)}, or kind/name", "owner")
    return owner


def _amounts(row: Row) -> dict[str, str]:
    found = {}
    for column, (resource, read) in AMOUNTS.items():
        amount = row.read(read, column)
        if amount is not None:
            found[resource] = amount
    for column in row.resources():
        amount = row.read(read_amount(), column)
        if amount is not None:
            found[column] = amount
    return found


def _requests(row: Row) -> dict[str, str]:
    found = {}
    for resource, amount in (row.read(read_pairs, "requests") or {}).items():
        try:
            found[resource] = read_amount()(amount)
        except ValueError as wrong:
            raise row.fault(str(wrong), f"requests.{resource}") from None
    return found


def _shares_of_gpus(row: Row) -> dict[str, str]:
    """Return the thousandths of GPUs: a share of one, or several whole ones."""
    count = row.read(_read_gpus, "num_gpu") or 0
    share = row.read(lambda value: read_whole(value, 0, 1000), "gpu_milli")
    if count != 1 or share is None:
        share = 1000
    return {GPU_MILLI: str(count * share)} if count else {}


def _read_gpus(value: Any) -> int:
    return read_whole(value, 0, MAX_GPUS)


def read_nodes(rows: Iterable[Row]) -> list[Manifest]:
    """Return the manifests of the nodes of lines. Raises ArrivalError."""
    found: dict[str, Manifest] = {}
    for row in rows:
        name = row.read(read_name, "name", "sn") or f"node-{row.line - 1}"
        count = row.read(lambda value: read_count(value, MAX_NODES_OF_A_LINE), "count") or 1
        node = _node(row)
        for number in range(1, count + 1):
            each = name if count == 1 else f"{name}-{number}"
            if each in found:
                raise row.fault(f"there are two nodes {each}", "name")
            found[each] = {**node, "metadata": {**node["metadata"], "name": each}}
    return [*found.values()]


def _node(row: Row) -> Manifest:
    gpus = row.read(_read_gpus, "gpu") or 0
    amounts = {"pods": "110"} | _amounts(row) | ({GPU_MILLI: str(gpus * 1000)} if gpus else {})
    pods = row.read(read_amount(), "pods")
    if pods is not None:
        amounts["pods"] = pods
    labels: dict[str, str] = dict(row.read(read_labels, "labels") or {})
    for label, column in ((ZONE, "zone"), (GPU_MODEL, "model")):
        labels |= row.read(_label(label), column) or {}
    spec: dict[str, Any] = {}
    taints = row.read(_read_taints, "taints")
    if taints:
        spec = {"spec": {"taints": taints}}
    metadata = {"labels": labels} if labels else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        **spec,
        "status": {"allocatable": amounts},
    }


def _label(label: str) -> Any:
    return lambda value: read_labels({label: value})


def _read_taints(value: Any) -> list[Mapping[str, str]]:
    """Return taints: ``key=value:NoSchedule;...``."""
    found: list[Mapping[str, str]] = []
    for part in filter(None, str(value).split(";")):
        pair, colon, effect = part.strip().partition(":")
        if not colon:
            raise ValueError(f"{shown(part)} is not of the form key=value:effect")
        key, _, text = pair.partition("=")
        found.append({"key": key, "effect": effect, **({"value": text} if text else {})})
    return found
