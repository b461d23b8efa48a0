"""How many cores this process may use."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

QUOTA: Final = Path("/sys/fs/cgroup/cpu.max")
"""The microseconds of CPU time that a container has in a period, and the period; the first is ``max`` where
it has no limit."""


def count_cores(quota: Path = QUOTA) -> int:
    """Return the number of cores to which the process is bound, or of the CPU time that its container has, if
    that is less."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        micros, period = map(int, quota.read_text().split())
        return max(1, min(cores, micros // period))
    return cores
