"""Pods created in watched sandboxes: how soon each page shows them. The parts "watched" and "crowd"."""

import asyncio
import math
import time
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from schedviz.loop import clock
from tests.programs.load.meter import Meter
from tests.programs.load.options import Options
from tests.programs.load.report import Figure, Table, one, spread
from tests.programs.load.site import PATIENCE, Site, create_sandboxes, opened
from tests.programs.load.viewer import Awaited, Viewer
from tests.stack import Stack

PODS_A_NODE: Final = 30
"""At most: a card shows 48 pods by name."""
FEWEST_NODES: Final = 4
OPENED_AT_ONCE: Final = 10
QUARTERS: Final = 4

LONG_SECONDS: Final = 1800.0
FLAT: Final = 1.05
"""In a run of LONG_SECONDS the memory at the end is at most so many times that at its half."""
MEGABYTES: Final = {
    "server": (160.0, 4.0),
    "worker": (140.0, 2.0),
    "job-runner": (120.0, 0.0),
    "Redis": (10.0, 9.0),
}
"""The bound of the memory of each process, and of each sandbox in it (docs/OPERATIONS.md, Memory)."""

Curve = list[dict[str, float]]
"""The megabytes of each process and of Redis, at the beginning and after each quarter of the time."""
CLOCK: Final = (
    "inside: from the request being sent (HTTP, kept alive) to the first frame with the pod (shown), and\n"
    "  with the pod in a node's card (bound); a pod that is not shown within {patience:g} s counts as that.\n"
    "  A cycle takes {pace:g} s of simulated time, which passes at {speed:g}x. Outside: opening the pages"
)


class Load(NamedTuple):
    """``every``: seconds between two pods of a sandbox; ``pages``: of each sandbox."""

    sandboxes: int
    pages: int
    every: float


async def watched(stack: Stack, count: int, options: Options) -> Table:
    """``count`` sandboxes, each watched by one page, in each of which a pod is created every few seconds."""
    title = f"watched: {count} sandboxes, a pod every {options.every:g} s in each, {options.seconds:g} s"
    return await create_and_watch(stack, title, Load(count, 1, options.every), options)


async def crowd(stack: Stack, options: Options) -> Table:
    """One sandbox, watched by many pages."""
    title = (
        f"crowd: one sandbox watched by {options.viewers} pages, a pod every second, {options.seconds:g} s"
    )
    return await create_and_watch(stack, title, Load(1, options.viewers, 1.0), options)


async def create_and_watch(stack: Stack, title: str, load: Load, options: Options) -> Table:
    async with opened(stack.port, stack.store) as site:
        pods = max(1, round(options.seconds / load.every))
        names = [f"watched-{number}" for number in range(load.sandboxes)]
        at_once = min(pods, math.ceil(options.lives / load.every) + 1) if options.lives else pods
        nodes = max(FEWEST_NODES, -(-at_once // PODS_A_NODE))
        sandboxes = await asyncio.to_thread(create_sandboxes, stack.store, names, nodes)
        if options.speed != 1.0:
            for sandbox in sandboxes:
                clock.set_speed(sandbox, options.speed)
        viewers = {name: [Viewer(site, name) for _ in range(load.pages)] for name in names}
        flat = [viewer for each in viewers.values() for viewer in each]
        await open_all(flat)
        for viewer in flat:
            viewer.restart_count()
        async with Meter(stack) as meter:
            memory = asyncio.create_task(memory_curve(stack, options.seconds))
            await create_pods(site, viewers, pods, load.every, options.lives)
        deadline = time.monotonic() + PATIENCE
        await asyncio.gather(*(viewer.settled(deadline) for viewer in flat))
        pace = sandboxes[0].meta().pace / 1e6
        inside = CLOCK.format(patience=PATIENCE, speed=options.speed, pace=pace)
        table = Table(title, inside, figures(flat), faults(site, flat))
        meter.add_to(table)
        curve = await memory
        table.figures += [
            one(f"memory of {name} after {quarter} quarters of the time", "MB", megabytes[name])
            for name in curve[0]
            for quarter, megabytes in enumerate(curve)
        ]
        table.faults += memory_faults(curve, load.sandboxes, options.seconds)
        await close_all(flat)
    return table


def memory_faults(curve: Curve, sandboxes: int, seconds: float) -> list[str]:
    """Where a process is above its bound; and, in a long run, where it was not flat in the second half."""
    found: list[str] = []
    for name, end in curve[-1].items():
        half = curve[QUARTERS // 2][name]
        alone, each = next(bound for kind, bound in MEGABYTES.items() if name.startswith(kind))
        if end > alone + each * sandboxes:
            found.append(f"{name} has {end:.0f} MB, above its bound of {alone + each * sandboxes:.0f} MB")
        if seconds >= LONG_SECONDS and end > FLAT * half:
            found.append(f"{name} grew from {half:.0f} to {end:.0f} MB in the second half")
    return found


async def memory_curve(stack: Stack, seconds: float) -> Curve:
    curve: Curve = []
    while True:
        of_redis = await asyncio.to_thread(lambda: int(stack.store.redis.info("memory")["used_memory"]))
        curve.append({log.name: log.megabytes() for log in stack.logs} | {"Redis": of_redis / 1e6})
        if len(curve) > QUARTERS:
            return curve
        await asyncio.sleep(seconds / QUARTERS)


async def open_all(viewers: Iterable[Viewer]) -> None:
    """A few at a time, as pages are opened by people."""
    turn = asyncio.Semaphore(OPENED_AT_ONCE)

    async def one_of(viewer: Viewer) -> None:
        async with turn:
            await viewer.open()

    await asyncio.gather(*(one_of(viewer) for viewer in viewers))


async def close_all(viewers: Iterable[Viewer]) -> None:
    await asyncio.gather(*(viewer.close() for viewer in viewers))


async def create_pods(
    site: Site, viewers: dict[str, list[Viewer]], pods: int, every: float, lives: float = 0.0
) -> None:
    """In each sandbox one every so many seconds, the sandboxes by turns. Nobody waits until the pods
    before are shown."""
    start = time.monotonic()

    async def create_in(place: int, sandbox: str) -> None:
        for number in range(pods):
            due = start + (number + place / len(viewers)) * every
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            name = f"pod-{number}"
            for viewer in viewers[sandbox]:
                viewer.expect(name)
            await site.create_pod(sandbox, name, lives)

    await asyncio.gather(*(create_in(place, sandbox) for place, sandbox in enumerate(viewers)))


def figures(viewers: Sequence[Viewer]) -> list[Figure]:
    pods = [pod for viewer in viewers for pod in viewer.pods]
    return [
        spread("create to shown", "ms", [1000 * waited(pod, pod.shown) for pod in pods]),
        spread("create to bound", "ms", [1000 * waited(pod, pod.bound) for pod in pods]),
        one("pods awaited, by all pages", "", len(pods)),
        one("never shown", "", sum(pod.shown is None for pod in pods)),
        one("never shown bound", "", sum(pod.bound is None for pod in pods)),
        one("gaps in frame numbers", "", sum(viewer.gaps for viewer in viewers)),
        one("gaps not healed", "", sum(viewer.gaps - viewer.healed for viewer in viewers)),
        one("frames per pod", "", sum(viewer.frames for viewer in viewers) / max(1, len(pods))),
        one("bytes per pod", "kB", sum(viewer.bytes for viewer in viewers) / max(1, len(pods)) / 1000),
    ]


def waited(pod: Awaited, until: float | None) -> float:
    """Seconds."""
    return PATIENCE if until is None else until - pod.sent


def faults(site: Site, viewers: Iterable[Viewer]) -> list[str]:
    found = [*site.errors]
    for viewer in viewers:
        if viewer.gaps > viewer.healed:
            found.append(f"{viewer.sandbox}: {viewer.gaps - viewer.healed} gaps in frame numbers not healed")
        missing = [pod.name for pod in viewer.pods if pod.bound is None]
        if missing:
            found.append(f"{viewer.sandbox}: not shown bound: {', '.join(missing)}")
    return found
