"""Reads the Azure trace for packing of 2020: an SQLite file with the tables ``vm`` and ``vmType``.

The sizes of a VM are shares of a machine, and differ by the kind of machine. One kind is taken; VMs that do
not run on it are left out."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from simulator.api import SECOND
from simulator.arrivals.arrival import Arrival, ArrivalError

SQLITE: Final = b"SQLite format 3\0"
DAY: Final = 24 * 3600
MACHINE_CPU: Final = 100
MACHINE_MEMORY: Final = 100
"""What a machine has, in cores, GiB of memory and GiB of disk: 100 of each, as the trace has shares only."""
_MACHINE: Final = "SELECT machineId FROM vmType GROUP BY machineId ORDER BY count(*) DESC, machineId LIMIT 1"
_VMS: Final = """
    SELECT vm.vmId, vm.tenantId, vm.priority, vm.starttime, vm.endtime,
           vmType.core, vmType.memory, vmType.ssd
    FROM vm JOIN vmType ON vmType.vmTypeId = vm.vmTypeId
    WHERE vmType.machineId = ? AND (vm.endtime IS NULL OR vm.endtime > 0)
    ORDER BY vm.starttime, vm.vmId LIMIT ?
"""


def read_azure(path: Path, machine: int | None, at_most: int) -> list[Arrival]:
    """Return the first arrivals of a trace. VMs that were there before it begins arrive at its beginning. A
    VM of low priority (1) gets the priority -1, one of high priority (0) the priority 0.
    ``machine``: the kind of machine; None = the one for which most types of VMs are known. Raises
    ArrivalError."""
    try:
        with closing(sqlite3.connect(f"file:{path.resolve()}?mode=ro", uri=True)) as trace:
            if machine is None:
                machine = trace.execute(_MACHINE).fetchone()[0]
            return [*_arrivals(trace.execute(_VMS, (machine, at_most)))]
    except (sqlite3.Error, TypeError, ValueError) as wrong:
        raise ArrivalError(f"no Azure trace for packing: {wrong}") from None


def _arrivals(rows: Any) -> Iterator[Arrival]:
    for vm, tenant, priority, start, end, core, memory, ssd in rows:
        begin = max(0.0, start)
        disk = {"ephemeral-storage": f"{round(ssd * MACHINE_MEMORY * 1024)}Mi"} if ssd else {}
        yield Arrival(
            time=round(begin * DAY * SECOND),
            name=f"vm-{vm}",
            requests={
                "cpu": f"{round(core * MACHINE_CPU * 1000)}m",
                "memory": f"{round(memory * MACHINE_MEMORY * 1024)}Mi",
                **disk,
            },
            priority=-int(priority or 0),
            duration=None if end is None else round((end - begin) * DAY * SECOND),
            labels={"tenant": str(tenant)},
        )
