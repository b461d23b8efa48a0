"""Watched sandboxes in which nothing happens."""

import asyncio
from typing import Final

from tests.programs.load.meter import Meter
from tests.programs.load.options import Options
from tests.programs.load.report import Table, one
from tests.programs.load.site import create_sandboxes, opened
from tests.programs.load.viewer import Viewer
from tests.programs.load.watched import FEWEST_NODES, close_all, open_all
from tests.stack import Stack

SETTLE_SECONDS: Final = 3.0
BEFORE_SECONDS: Final = 5.0
"""The time for which Redis is measured before any page is open."""


async def idle(stack: Stack, count: int, options: Options) -> Table:
    async with opened(stack.port, stack.store) as site:
        names = [f"idle-{number}" for number in range(count)]
        await asyncio.to_thread(create_sandboxes, stack.store, names, FEWEST_NODES)
        await asyncio.sleep(SETTLE_SECONDS)
        async with Meter(stack) as before:
            await asyncio.sleep(BEFORE_SECONDS)
        viewers = [Viewer(site, name) for name in names]
        await open_all(viewers)
        await asyncio.sleep(SETTLE_SECONDS)
        frames = sum(viewer.frames for viewer in viewers)
        async with Meter(stack) as meter:
            await asyncio.sleep(options.seconds)
        frames = sum(viewer.frames for viewer in viewers) - frames
        reads = (meter.reads_per_second - before.reads_per_second) / count
        table = Table(
            f"idle: {count} sandboxes, each watched by one page, {options.seconds:g} s",
            "inside: all that the processes do; time passes in the sandboxes, nothing else happens",
            [
                one("Redis reads per sandbox, above those unwatched", "1/s", reads),
                one("frames per page", "1/s", frames / count / meter.seconds),
            ],
            [*site.errors],
        )
        meter.add_to(table)
        table.figures += meter.commands()
        await close_all(viewers)
    return table
