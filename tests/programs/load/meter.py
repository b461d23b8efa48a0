"""What processes and Redis spend, sampled each second."""

import asyncio
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import psutil
from redis import Redis

from tests.programs.load.report import Figure, Table, spread
from tests.stack import Stack

EVERY_SECONDS: Final = 1.0
COMMANDS_SHOWN: Final = 8


class Reading:
    """Counters at one moment."""

    def __init__(self, processes: Mapping[str, psutil.Process], redis: Redis) -> None:
        self.ids = {name: process.pid for name, process in processes.items()}
        info = cast("dict[str, Any]", redis.info())
        self.at = time.monotonic()
        self.cpu = {name: cpu_seconds(process) for name, process in processes.items()}
        self.switches = {name: context_switches(process) for name, process in processes.items()}
        self.machine_switches = psutil.cpu_stats().ctx_switches
        self.commands = int(info["total_commands_processed"])
        self.reads = int(info["total_reads_processed"])


class Meter:
    """``async with Meter(stack) as meter``: samples of the block's time, then :meth:`table`."""

    def __init__(self, stack: Stack) -> None:
        self._redis = stack.store.redis
        self._stack = stack
        self._readings: list[Reading] = []
        self._calls: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Meter":
        self._calls = command_calls(self._redis)
        self._readings = [self._read()]
        self._task = asyncio.create_task(self._sample())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._readings.append(self._read())
        now = command_calls(self._redis)
        self._calls = {name: calls - self._calls.get(name, 0) for name, calls in now.items()}

    async def _sample(self) -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            with self._stack.unless_restarting() as is_whole:
                if is_whole:
                    self._readings.append(self._read())

    def _read(self) -> Reading:
        return Reading(self.processes, self._redis)

    @property
    def processes(self) -> dict[str, psutil.Process]:
        """The present ones: they may be started again meanwhile."""
        return processes(self._stack)

    @property
    def seconds(self) -> float:
        return self._readings[-1].at - self._readings[0].at

    @property
    def reads_per_second(self) -> float:
        return (self._readings[-1].reads - self._readings[0].reads) / self.seconds

    def figures(self) -> list[Figure]:
        """CPU shares, context switches and Redis' work, of each second; the last second only where it is the
        only one, as it is cut off."""
        readings = zip(self._readings, self._readings[1:], strict=False)
        pairs = [(before, after) for before, after in readings if before.ids == after.ids]
        pairs = pairs[:-1] or pairs

        def rates(counter: Any) -> list[float]:
            return [(counter(after) - counter(before)) / (after.at - before.at) for before, after in pairs]

        found = [
            spread(
                f"CPU of {name}", "% of a core", [100 * rate for rate in rates(lambda r, n=name: r.cpu[n])]
            )
            for name in self.processes
        ]
        found += [
            spread(
                f"context switches of {name}",
                "1/s",
                [
                    grown(before.switches[name], after.switches[name]) / (after.at - before.at)
                    for before, after in pairs
                ],
            )
            for name in self.processes
        ]
        return [
            *found,
            spread("context switches of the machine", "1/s", rates(lambda r: r.machine_switches)),
            spread("Redis commands (also those of scripts)", "1/s", rates(lambda r: r.commands)),
            spread("Redis reads of its sockets", "1/s", rates(lambda r: r.reads)),
        ]

    def commands(self) -> list[Figure]:
        """The most frequent commands over the whole time."""
        most = sorted(self._calls.items(), key=lambda each: -each[1])[:COMMANDS_SHOWN]
        return [spread(f"Redis {name}", "1/s", [calls / self.seconds]) for name, calls in most if calls]

    def add_to(self, table: Table) -> None:
        table.figures += self.figures()


def processes(stack: Stack) -> dict[str, psutil.Process]:
    assert stack.redis, "the stack has its own"
    found = {log.name: psutil.Process(log.process.popen.pid) for log in stack.logs}
    return {
        **found,
        "Redis": psutil.Process(stack.redis.process.pid),
        "load program": psutil.Process(os.getpid()),
    }


def cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return cast("float", times.user + times.system)


def context_switches(process: psutil.Process) -> dict[str, int]:
    """The context switches of each thread if the system has them (Linux), else of the process, by psutil."""
    threads = Path(f"/proc/{process.pid}/task")
    if not threads.exists():
        switches = process.num_ctx_switches()
        return {"": switches.voluntary + switches.involuntary}
    found = {}
    for thread in threads.iterdir():
        with suppress(OSError):  # it has ended
            lines = (thread / "status").read_text().splitlines()
            found[thread.name] = sum(
                int(line.rpartition("\t")[2]) for line in lines if "ctxt_switches" in line
            )
    return found


def grown(before: dict[str, int], after: dict[str, int]) -> int:
    """The increase of the counts, without those of threads that ended in between."""
    return sum(count - before.get(thread, 0) for thread, count in after.items())


def command_calls(redis: Redis) -> dict[str, int]:
    info = cast("dict[str, dict[str, int]]", redis.info("commandstats"))
    return {name.removeprefix("cmdstat_"): each["calls"] for name, each in info.items()}
