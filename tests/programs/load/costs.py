"""What single things cost the web process: Redis round trips and CPU."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

import aiohttp

from schedviz.api import write
from schedviz.loop import clock
from schedviz.store import Sandbox
from tests.programs.load import frames
from tests.programs.load.counting_proxy import CountingProxy
from tests.programs.load.frames import Place
from tests.programs.load.meter import cpu_seconds, processes
from tests.programs.load.options import Options
from tests.programs.load.report import Figure, Table, one, spread
from tests.programs.load.site import PATIENCE, Site, create_sandbox, create_sandboxes, opened, pod
from tests.programs.load.viewer import Viewer
from tests.programs.load.watched import FEWEST_NODES, close_all, open_all
from tests.stack import Stack

PANEL: Final = {"HX-Request": "true"}
REQUESTS: Final = 20
"""In a round: the system counts CPU in units of 10 ms."""
WARM_UP: Final = 5
"""Requests before the first round: templates are read, caches are filled."""
PODS: Final = 8
"""In a round of bound pods."""
IDLE_SECONDS: Final = 3.0
"""A round of watching."""
IDLE_SANDBOXES: Final = 10
EVENTFUL_NODES: Final = 12
FAST: Final = 100.0
AT_ONCE: Final = 40
"""Pods created in one request for the eventful sandbox."""
LOOK_SECONDS: Final = 0.2
BRISK: Final = 10.0
"""The speed at which pods are bound one by one."""
FRAMES_SECONDS: Final = 0.6
"""After a pod is bound, until its last frame has come."""
CLOCK: Final = (
    "inside: the web process alone, by its CPU time and by the round trips to Redis that a proxy counts;\n"
    "  what watching costs meanwhile is subtracted. Each value is the mean of a round. Pods of frames are\n"
    "  written to the store directly: no request is in them"
)


class Spent(NamedTuple):
    seconds: float
    cpu: float
    """Milliseconds."""
    trips: float

    def less(self, rate: "Spent") -> "Spent":
        """Without what is spent at such a rate anyway."""
        return Spent(
            self.seconds,
            self.cpu - rate.cpu * self.seconds / rate.seconds,
            self.trips - rate.trips * self.seconds / rate.seconds,
        )


class Costs:
    def __init__(self, stack: Stack, proxy: CountingProxy, site: Site, options: Options) -> None:
        self.stack = stack
        self.proxy = proxy
        self.site = site
        self.options = options
        self.web = processes(stack)["server"]
        self.figures: list[Figure] = []

    async def spent(self, work: Callable[[], Awaitable[object]]) -> Spent:
        began, cpu, trips = time.monotonic(), cpu_seconds(self.web), self.proxy.round_trips
        await work()
        seconds = time.monotonic() - began
        return Spent(seconds, 1000 * (cpu_seconds(self.web) - cpu), self.proxy.round_trips - trips)

    async def rounds(self, work: Callable[[], Awaitable[object]]) -> list[Spent]:
        return [await self.spent(work) for _ in range(self.options.rounds)]

    def add(self, name: str, rounds: Sequence[Spent], of: float) -> None:
        """``of``: how many such things a round has."""
        self.figures.append(spread(f"{name}: CPU", "ms", [each.cpu / of for each in rounds]))
        self.figures.append(spread(f"{name}: Redis round trips", "", [each.trips / of for each in rounds]))

    async def watching(self) -> Spent:
        """What the web process spends while nothing is asked of it."""
        rounds = await self.rounds(lambda: asyncio.sleep(IDLE_SECONDS))
        return Spent(*(sum(each) for each in zip(*rounds, strict=True)))

    async def of_request(self, name: str, path: str, headers: dict[str, str], rate: Spent) -> None:
        async def requests(count: int = REQUESTS) -> None:
            for _ in range(count):
                await self.site.get(path, headers)

        await requests(WARM_UP)
        self.add(name, [each.less(rate) for each in await self.rounds(requests)], REQUESTS)

    async def of_frames(self, sandbox: Sandbox, viewer: Viewer, rate: Spent) -> None:
        sizes: list[float] = []
        shown: list[bytes] = []
        viewer.on_frame = lambda frame, _: shown.append(frame)
        numbers = iter(range(1_000_000))

        async def pods() -> None:
            for _ in range(PODS):
                name = f"framed-{next(numbers)}"
                viewer.expect(name)
                await asyncio.to_thread(write.create, sandbox, [pod(name)])
                await viewer.settled(time.monotonic() + PATIENCE)
                await asyncio.sleep(FRAMES_SECONDS)
                link = frames.link(name)
                sizes.extend(len(each) for each in shown if frames.place(each, link) == Place.NODE)
                counts.append(len(shown))
                shown.clear()

        counts: list[float] = []
        await pods()
        sizes.clear()
        counts.clear()
        rounds = [each.less(rate) for each in await self.rounds(pods)]
        self.add("one bound pod, all its frames", rounds, PODS)
        per_pod = sum(counts) / len(counts)
        self.figures.append(spread("one bound pod: frames", "", counts))
        self.add("one frame of a bound pod", rounds, PODS * per_pod)
        self.figures.append(spread("one frame with the pod in its card: size", "bytes", sizes))

    def megabytes(self) -> float:
        return float(self.web.memory_info().rss / 1e6)


async def costs(stack: Stack, proxy: CountingProxy, options: Options) -> Table:
    store = stack.store
    async with opened(stack.port, store) as site:
        all_of_it = Costs(stack, proxy, site, options)
        started = all_of_it.megabytes()
        names = [f"idle-{number}" for number in range(IDLE_SANDBOXES)]
        await asyncio.to_thread(create_sandboxes, store, names, FEWEST_NODES)
        eventful = await asyncio.to_thread(eventful_sandbox, stack, options.events)
        unwatched = await all_of_it.watching()
        pages = [Viewer(site, name) for name in names]
        await open_all(pages)
        idle = [each.less(unwatched) for each in await all_of_it.rounds(lambda: asyncio.sleep(IDLE_SECONDS))]
        all_of_it.add("an idle watched sandbox, per second", idle, IDLE_SANDBOXES * IDLE_SECONDS)
        await close_all(pages)

        path = f"/s/{eventful.name}/"
        await all_of_it.of_request("page view, not watched", path, {}, unwatched)
        viewer = Viewer(site, eventful.name)
        await viewer.open()
        one_page = await all_of_it.watching()
        panels = f", {options.events:,} trace events"
        await all_of_it.of_request("page view, watched", path, {}, one_page)
        await all_of_it.of_request(f"pod panel{panels}", f"{path}pods/default/pod-0/", PANEL, one_page)
        await all_of_it.of_request(f"node panel{panels}", f"{path}nodes/node-0/", PANEL, one_page)
        await viewer.close()

        small = await asyncio.to_thread(create_sandbox, store, "small", FEWEST_NODES)
        clock.set_speed(small, BRISK)
        viewer = Viewer(site, small.name)
        await viewer.open()
        await all_of_it.of_frames(small, viewer, await all_of_it.watching())
        await viewer.close()

        all_of_it.figures += await memory(all_of_it, started)
        return Table("costs of the web process", CLOCK, all_of_it.figures, [*site.errors])


def eventful_sandbox(stack: Stack, events: int) -> Sandbox:
    """A sandbox whose trace has so many events, with time at its usual speed again."""
    sandbox = create_sandbox(stack.store, "eventful", EVENTFUL_NODES)
    clock.set_speed(sandbox, FAST)
    number = 0
    while sandbox.trace_head() < events:
        names = [f"pod-{each}" for each in range(number, number + AT_ONCE)]
        write.create(sandbox, [pod(name) for name in names])
        number += AT_ONCE
        deadline = time.monotonic() + PATIENCE
        while not node_of(sandbox, names[-1]):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{names[-1]} is not bound")
            time.sleep(LOOK_SECONDS)
    clock.set_speed(sandbox, 1.0)
    return sandbox


def node_of(sandbox: Sandbox, name: str) -> str:
    manifest = sandbox.get("pods", f"default/{name}")
    return str(manifest["spec"].get("nodeName", "")) if manifest else ""


async def memory(measured: Costs, started: float) -> list[Figure]:
    """The memory of the web process with many pages and watches open at the same time."""
    count, site, store = measured.options.sandboxes[-1], measured.site, measured.stack.store
    names = [f"held-{number}" for number in range(count)]
    await asyncio.to_thread(create_sandboxes, store, names, FEWEST_NODES)
    pages = [Viewer(site, name) for name in names]
    await open_all(pages)
    watched = measured.megabytes()
    connections = measured.proxy.connections
    # A watch that nothing happens in is silent for longer than the patience of other requests.
    patience = aiohttp.ClientTimeout(total=None)
    watches = []
    for number in range(measured.options.watches):
        url = f"{site.origin}/s/{names[number % count]}/api/v1/pods?watch=1"
        watches.append(await site.session.get(url, timeout=patience))
    site.errors += [f"watch: {each.status}" for each in watches if each.status != 200]
    await asyncio.sleep(IDLE_SECONDS)
    figures = [
        one("memory after the start", "MB", started),
        one(f"memory with {count} pages of as many sandboxes", "MB", watched),
        one(f"memory with {len(watches)} API watches beside", "MB", measured.megabytes()),
        one(f"connections to Redis with {count} pages", "", connections),
        one(f"connections to Redis with {len(watches)} watches beside", "", measured.proxy.connections),
    ]
    for watch in watches:
        watch.close()
    await close_all(pages)
    return figures
