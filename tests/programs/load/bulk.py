"""Thousands of pods as fast as they can be created, with one page open."""

import asyncio
import math
import time
from contextlib import suppress
from itertools import count
from typing import Any, Final

import msgspec

from schedviz.loop import clock
from simulator.apiserver.bounds import MAX_DOCUMENTS
from tests.programs.load import frames
from tests.programs.load.meter import Meter
from tests.programs.load.options import Options
from tests.programs.load.report import Table, one, spread
from tests.programs.load.site import Site, create_sandbox, opened, pod, workload
from tests.programs.load.viewer import Viewer
from tests.stack import Stack

GIVE_UP_SECONDS: Final = 300.0
SETTLE_SECONDS: Final = 3.0
BESIDE_SECONDS: Final = 0.5
"""The time between two writes of somebody else."""
CLOCK: Final = (
    "inside: from the first request being sent to the frame whose grid has all pods; outside: creating the\n"
    "  nodes, opening the page. The grid has no names: the wait of the n-th pod created ends with the first\n"
    "  frame that has n pods, as all are of one priority"
)


class Grid:
    """How many pods the page's grid shows, as frames come."""

    def __init__(self) -> None:
        self.pods = 0
        self.reached: list[float] = []
        """When it showed the n-th pod first, by time.monotonic()."""
        self._grown = asyncio.Event()
        self._chunks: dict[bytes, int] = {}

    def take(self, frame: bytes, now: float) -> None:
        changed = frames.cells(frame)
        if not changed:
            return
        self._chunks |= changed
        self.pods = sum(self._chunks.values())
        self.reached += [now] * (self.pods - len(self.reached))
        self._grown.set()

    async def reaches(self, pods: int) -> None:
        """Wait until it shows so many."""
        while self.pods < pods:
            self._grown.clear()
            await self._grown.wait()


async def bulk(stack: Stack, speed: float, options: Options) -> Table:
    named = clock.MAX if math.isinf(speed) else f"{speed:g}x"
    table = Table(
        f"bulk: {options.pods:,} pods on {options.nodes:,} nodes at {named}, "
        f"created {options.created} ({options.connections} connections), one page, others' writes",
        CLOCK,
    )
    sandbox = await asyncio.to_thread(create_sandbox, stack.store, "bulk", options.nodes)
    try:
        clock.set_speed(sandbox, clock.MAX if math.isinf(speed) else speed)
    except ValueError as error:
        table.faults.append(f"speed {speed:g}: {error}")
        return table
    grid = Grid()
    answered: list[float] = []
    async with (
        opened(stack.port, stack.store) as site,
        opened(stack.port, stack.store, options.connections) as sender,
    ):
        viewer = Viewer(site, "bulk", grid.take)
        await viewer.open()
        await asyncio.sleep(SETTLE_SECONDS)
        viewer.restart_count()
        async with Meter(stack) as meter:
            start = time.monotonic()
            clicks = asyncio.create_task(write_beside(site, "bulk", answered))
            match options.created:
                case "singly":
                    sent = await create(sender, "bulk", options.pods, options.connections)
                case "together":
                    sent = await create_together(sender, "bulk", options.pods)
                case "Deployment" | "Job" | "StatefulSet" | "DaemonSet" as kind:
                    sent = await create_workload(sender, "bulk", workload(kind, options.pods), options.pods)
            created = time.monotonic()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + GIVE_UP_SECONDS):
                    await grid.reaches(options.pods)
            clicks.cancel()
            with suppress(asyncio.CancelledError):
                await clicks
        bound = await bound_pods(site)
        end = grid.reached[-1] if grid.reached else time.monotonic()
        waits = [1000 * (shown - at) for at, shown in zip(sorted(sent), grid.reached, strict=False)]
        table.figures = [
            one("pods created, until the last answer", "1/s", options.pods / (created - start)),
            one("pods bound and shown, over the whole", "1/s", grid.pods / (end - start)),
            spread("create to shown bound", "ms", waits),
            spread("a write of somebody else, to its answer", "ms", answered),
            one("frames", "1/s", viewer.frames / (end - start)),
            one("bytes of a frame", "kB", viewer.bytes / max(1, viewer.frames) / 1000),
        ]
        meter.add_to(table)
        table.faults = [*site.errors, *sender.errors]
        if grid.pods < options.pods:
            table.faults.append(f"only {grid.pods} pods shown bound, {bound} are bound, of {options.pods}")
        if viewer.gaps > viewer.healed:
            table.faults.append(f"{viewer.gaps - viewer.healed} gaps in frame numbers not healed")
        await viewer.close()
    return table


async def create(site: Site, sandbox: str, pods: int, connections: int) -> list[float]:
    """The times at which requests were sent, by time.monotonic()."""
    numbers = iter(range(pods))
    sent: list[float] = []

    async def client() -> None:
        for number in numbers:
            sent.append(time.monotonic())
            await site.create_pod(sandbox, f"pod-{number}")

    await asyncio.gather(*(client() for _ in range(connections)))
    return sent


async def create_together(site: Site, sandbox: str, pods: int) -> list[float]:
    """Create the pods by requests of MAX_DOCUMENTS; see :func:`create`."""
    sent: list[float] = []
    for first in range(0, pods, MAX_DOCUMENTS):
        numbers = range(first, min(first + MAX_DOCUMENTS, pods))
        sent += [time.monotonic()] * len(numbers)
        manifests = [pod(f"pod-{number}") for number in numbers]
        await site.send("POST", f"/api/sandboxes/{sandbox}/objects", json={"manifests": manifests})
    return sent


async def create_workload(site: Site, sandbox: str, manifest: dict[str, Any], pods: int) -> list[float]:
    """Create a workload of so many pods; see :func:`create`."""
    sent = time.monotonic()
    await site.send("POST", f"/api/sandboxes/{sandbox}/objects", json={"manifests": [manifest]})
    return [sent] * pods


async def write_beside(site: Site, sandbox: str, answered: list[float]) -> None:
    """Create a ConfigMap twice a second, as somebody who clicks; note in ``answered`` how many milliseconds
    each took."""
    for number in count():
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"beside-{number}"}}
        began = time.monotonic()
        await site.send("POST", f"/s/{sandbox}/api/v1/namespaces/default/configmaps", json=manifest)
        answered.append(1000 * (time.monotonic() - began))
        await asyncio.sleep(BESIDE_SECONDS)


async def bound_pods(site: Site) -> int:
    listing = msgspec.json.decode(await site.get("/s/bulk/api/v1/pods") or b'{"items": []}')
    return sum(bool(each["spec"].get("nodeName")) for each in listing["items"])
