"""The load program: how it reads frames, and its short form on the real server and worker."""

import asyncio
import time
from itertools import pairwise
from pathlib import Path
from typing import get_args

from schedviz.loop import clock
from schedviz.store import Sandbox, Store
from schedviz.web.parts.parts import PartRenderer
from simulator.api import SECOND
from simulator.memory_sandbox import MemorySandbox, SandboxOptions
from tests.programs.load import frames, report
from tests.programs.load.bulk import Grid, create
from tests.programs.load.cold import open_cold
from tests.programs.load.counting_proxy import CountingProxy
from tests.programs.load.frames import Place
from tests.programs.load.meter import grown
from tests.programs.load.options import parsed
from tests.programs.load.report import Report, Table, one, spread
from tests.programs.load.site import WorkloadKind, create_sandboxes, node, opened, workload
from tests.programs.load.viewer import Viewer
from tests.programs.load.watched import close_all, create_pods, faults, memory_faults, open_all
from tests.waiting import PATIENCE

SANDBOXES = 3
PODS = 4
SPEED = 20.0
GRID_NODES = 120
"""More than there are cards for."""
LINK = frames.link("web")


def head(after: int, seq: int) -> bytes:
    return f'<div id="frame" hidden data-after="{after}" data-seq="{seq}" data-wall=""></div>'.encode()


def block(state: str) -> bytes:
    pod = {"key": "default/web", "state": state, "stem": "web", "rank": 0, "uid": "u", "share": 250}
    return PartRenderer("/s/a/").render("nodes/block.html", pod, "n1-web").encode()


def test_a_pod_is_bound_where_a_card_has_it_and_not_as_nominated() -> None:
    chip = b'<li class="chip r0"><a data-panel href="/s/a/pods/default/web/">web</a></li>'
    assert frames.place(b"", LINK) == Place.NOWHERE
    assert frames.place(chip, LINK) == Place.ANYWHERE
    assert frames.place(chip + block("nominated"), LINK) == Place.ANYWHERE
    assert frames.place(chip + block("starting"), LINK) == Place.NODE
    assert frames.place(block("starting"), frames.link("we")) == Place.NOWHERE


def test_the_pods_of_each_workload_are_all_on_nodes_at_once_in_the_end() -> None:
    for kind in get_args(WorkloadKind):
        sandbox = MemorySandbox(SandboxOptions("bulk"))
        sandbox.create([*(node(f"node-{number}") for number in range(PODS)), workload(kind, PODS)])
        sandbox.run(f"before {sandbox.now() + 60 * SECOND}")
        phases = [pod["status"]["phase"] for pod in sandbox.list("pods").items]
        assert phases == ["Running"] * PODS, kind


async def test_only_a_whole_page_ends_a_gap(store: Store) -> None:
    async with opened(1, store) as site:
        viewer = Viewer(site, "a")
        assert viewer.take(head(0, 3))
        assert viewer.take(head(3, 4))
        assert not viewer.take(head(5, 6))
        assert (viewer.gaps, viewer.healed) == (1, 0)
        assert faults(site, [viewer]) == ["a: 1 gaps in frame numbers not healed"]
        assert viewer.take(head(0, 1))
        assert faults(site, [viewer]) == []


def test_memory_above_its_bound_or_that_grows_in_a_long_run_is_a_fault() -> None:
    def curve(server: float, worker: float, redis: float) -> list[dict[str, float]]:
        start = {"server": 100.0, "worker-1": 100.0, "job-runner": 100.0, "Redis": 18.5}
        return [start] * 4 + [{**start, "server": server, "worker-1": worker, "Redis": redis}]

    assert memory_faults(curve(104, 104, 19), 1, 1800) == []
    assert memory_faults(curve(100, 120, 60), 1, 60) == ["Redis has 60 MB, above its bound of 19 MB"]
    grown = "grew from {} to {} MB in the second half"
    expected = [f"server {grown.format(100, 150)}", f"Redis {grown.format(18, 25)}"]
    assert memory_faults(curve(150, 100, 25), 2, 1800) == expected


async def test_pods_of_watched_sandboxes_are_all_shown_bound(
    stack: str, store: Store, sandbox_name: str
) -> None:
    port = int(stack.rpartition(":")[2])
    names = [f"{sandbox_name[-20:].strip('-')}-{number}" for number in range(SANDBOXES)]
    async with opened(port, store) as site:
        for sandbox in await asyncio.to_thread(create_sandboxes, store, names, 2):
            clock.set_speed(sandbox, SPEED)
        viewers = {name: [Viewer(site, name)] for name in names}
        flat = [viewer for each in viewers.values() for viewer in each]
        await open_all(flat)
        await create_pods(site, viewers, PODS, every=0.1)
        deadline = time.monotonic() + PATIENCE
        await asyncio.gather(*(viewer.settled(deadline) for viewer in flat))
        await close_all(flat)
        assert faults(site, flat) == []
        assert [len(viewer.pods) for viewer in flat] == [PODS] * SANDBOXES
        for each in [pod for viewer in flat for pod in viewer.pods]:
            assert each.shown
            assert each.bound
            assert each.sent < each.shown <= each.bound
    for name in names:
        store.delete(name)


async def test_a_browser_with_an_empty_cache_has_its_page_files_and_first_frame(
    stack: str, store: Store, sandbox_name: str
) -> None:
    port = int(stack.rpartition(":")[2])
    await asyncio.to_thread(create_sandboxes, store, [sandbox_name], 2)
    opening, errors = await open_cold(port, store, sandbox_name)
    assert errors == []
    assert opening.page
    assert opening.complete
    assert opening.page < opening.complete
    assert opening.files == len(["favicon.svg", "schedviz.css", "sandbox.js"])


async def test_the_pods_of_the_grid_are_counted(stack: str, store: Store, sandbox_name: str) -> None:
    port, name = int(stack.rpartition(":")[2]), sandbox_name[-30:].strip("-")
    (sandbox,) = await asyncio.to_thread(create_sandboxes, store, [name], GRID_NODES)
    clock.set_speed(sandbox, clock.MAX_SPEED)
    grid = Grid()
    async with opened(port, store, connections=2) as site:
        viewer = Viewer(site, name, grid.take)
        await viewer.open()
        sent = await create(site, name, PODS, connections=2)
        async with asyncio.timeout(PATIENCE):
            await grid.reaches(PODS)
        await viewer.close()
        assert site.errors == []
    assert len(sent) == len(grid.reached) == PODS
    assert all(before <= after for before, after in pairwise(grid.reached))
    store.delete(name)


def test_the_proxy_counts_a_pipeline_as_one_round_trip(store: Store, sandbox: Sandbox) -> None:
    connection = store.redis.connection_pool.connection_kwargs
    with CountingProxy(connection["port"]) as proxy:
        password = connection["password"]
        through = Store(f"redis://:{password}@127.0.0.1:{proxy.port}/0")
        through.wall()
        before = proxy.round_trips
        through.probe()
        assert proxy.round_trips == before + 1
        through.wall()
        assert proxy.round_trips == before + 2
        through.close()


def test_a_report_is_read_again_and_compared(tmp_path: Path) -> None:
    before = Table("a table", "inside: all", [spread("wait", "ms", [1.0, 2.0, 3.0]), one("lost", "", 0)])
    path = tmp_path / "report.json"
    Report("a machine", [before]).write(path)
    (known,) = report.read(path).tables
    assert known == before
    now = Table("a table", "inside: all", [spread("wait", "ms", [3.0]), one("lost", "", 1)], ["an error"])
    lines = report.text(now, known).splitlines()
    assert lines[-3].split() == ["wait", "ms", "3", "1.50"]
    assert lines[-2].split() == ["lost", "1", "-"]
    assert lines[-1].strip() == "FAULT: an error"


def test_context_switches_of_ended_threads_are_not_subtracted() -> None:
    assert grown({"1": 10, "2": 500}, {"1": 15, "3": 7}) == 12


def test_parts_and_sizes_are_chosen() -> None:
    options = parsed(["watched", "idle", "--sandboxes", "1,10", "--speeds", "100,inf"])
    assert options.parts == ("watched", "idle")
    assert options.sandboxes == (1, 10)
    assert options.speeds == (100.0, float("inf"))
