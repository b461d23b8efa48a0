"""The memory of the processes, sampled each second."""

import asyncio
from contextlib import suppress
from typing import Final

from tests.programs.load.meter import processes
from tests.programs.load.report import Figure, one
from tests.stack import Stack

EVERY_SECONDS: Final = 1.0
LEFT_OUT: Final = ("load program", "job-runner")


class Memory:
    """``async with Memory(stack) as memory``: samples of the block's time, then :meth:`figures`."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._samples: list[dict[str, float]] = []
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Memory":
        self._task = asyncio.create_task(self._sample())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._read()

    def figures(self) -> list[Figure]:
        moments = {
            "at the start": self._samples[0],
            "in the middle": self._samples[len(self._samples) // 2],
            "at the end": self._samples[-1],
        }
        return [
            one(f"memory of {name} {when}", "MB", sample[name])
            for name in self._samples[0]
            for when, sample in moments.items()
        ]

    async def _sample(self) -> None:
        while True:
            with self._stack.unless_restarting() as is_whole:
                if is_whole:
                    self._read()
            await asyncio.sleep(EVERY_SECONDS)

    def _read(self) -> None:
        self._samples.append(
            {
                name: each.memory_info().rss / 1e6
                for name, each in processes(self._stack).items()
                if name not in LEFT_OUT
            }
        )
