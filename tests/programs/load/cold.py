"""Many browsers with an empty cache that open a page at about the same time, as a class does."""

import asyncio
import random
import re
import time
from typing import Final

from schedviz.store import Store
from tests.programs.load.meter import Meter
from tests.programs.load.report import Table, one, spread
from tests.programs.load.site import PATIENCE, Site, create_sandboxes, opened
from tests.programs.load.viewer import Viewer
from tests.programs.load.watched import FEWEST_NODES
from tests.stack import Stack

WITHIN_SECONDS: Final = 10.0
"""All browsers begin in this time."""
AIM_SECONDS: Final = 3.0
"""The 95th percentile of what each waits for."""
CONNECTIONS: Final = 6
"""Of one browser to one server."""
FILE: Final = re.compile(r'<(?:link|script)\b[^>]*\b(?:href|src)="(/static/[^"]+)"')


INSIDE: Final = 20
"""Pages that are open when the others arrive, and act once a second."""
ACT_AIM_SECONDS: Final = 0.5
"""The 95th percentile of the time until those see the effect of an act."""


class Opening:
    """What one browser waited for, in seconds; None = it is not there."""

    def __init__(self) -> None:
        self.page: float | None = None
        self.files = 0
        self.complete: float | None = None


async def cold(stack: Stack, count: int) -> Table:
    names = [f"cold-{number}" for number in range(count)]
    await asyncio.to_thread(create_sandboxes, stack.store, names, FEWEST_NODES)
    inside = [f"inside-{number}" for number in range(INSIDE)]
    await asyncio.to_thread(create_sandboxes, stack.store, inside, FEWEST_NODES)
    chance = random.Random(count)
    async with opened(stack.port, stack.store) as site:
        viewers = [Viewer(site, name) for name in inside]
        await asyncio.gather(*(viewer.open() for viewer in viewers))
        async with Meter(stack) as meter:
            acting = [asyncio.create_task(act_each_second(viewer, chance.random())) for viewer in viewers]
            found = await asyncio.gather(
                *(
                    open_cold(stack.port, stack.store, name, chance.uniform(0, WITHIN_SECONDS))
                    for name in names
                )
            )
            acts = [each for waits in await asyncio.gather(*acting) for each in waits]
        await asyncio.gather(*(viewer.close() for viewer in viewers))
    openings = [opening for opening, _ in found]
    waited = [opening.complete for opening in openings if opening.complete is not None]
    complete = spread("page, files, websocket and its first frame", "ms", [1000 * each for each in waited])
    acted = spread("an act of those inside, until their page shows it", "ms", [1000 * each for each in acts])
    faults = [*site.errors, *(error for _, errors in found for error in errors)]
    if acted.p95 > 1000 * ACT_AIM_SECONDS:
        faults.append(
            f"the 95th percentile of an act is {acted.p95:.0f} ms; the aim is {ACT_AIM_SECONDS:g} s"
        )
    if len(waited) < count:
        faults.append(f"{count - len(waited)} of {count} pages were not complete")
    if complete.p95 > 1000 * AIM_SECONDS:
        faults.append(f"the 95th percentile is {complete.p95:.0f} ms; the aim is {AIM_SECONDS:g} s")
    table = Table(
        f"cold: {count} browsers with an empty cache open a page each within {WITHIN_SECONDS:g} s",
        "inside: from the request of the page, by a new connection, until its files and first frame have\n"
        "  come. Outside: creating the sandboxes, one for each browser",
        [
            complete,
            spread("page", "ms", [1000 * opening.page for opening in openings if opening.page is not None]),
            acted,
            one("files of a page", "", max(opening.files for opening in openings)),
        ],
        faults,
    )
    meter.add_to(table)
    return table


async def act_each_second(viewer: Viewer, after: float) -> list[float]:
    """Create a pod each second while the others arrive. The seconds until the page showed each."""
    await asyncio.sleep(after)
    end, waits = time.monotonic() + WITHIN_SECONDS, []
    while (began := time.monotonic()) < end:
        awaited = viewer.expect(f"act-{len(waits)}")
        await viewer.site.create_pod(viewer.sandbox, awaited.name)
        await viewer.settled(began + PATIENCE)
        waits.append((awaited.shown or time.monotonic()) - began)
        await asyncio.sleep(max(0.0, began + 1 - time.monotonic()))
    return waits


async def load_files(site: Site, page: str) -> int:
    """Load the styles and scripts of a page, as a browser does that was never here. How many there are."""
    files = {*FILE.findall(page)}
    await asyncio.gather(*(site.get(file) for file in files))
    return len(files)


async def open_cold(port: int, store: Store, sandbox: str, after: float = 0.0) -> tuple[Opening, list[str]]:
    """Open a page as a browser does that was never here, so many seconds from now. With the errors."""
    await asyncio.sleep(after)
    opening = Opening()
    async with opened(port, store, CONNECTIONS) as site:
        start = time.monotonic()
        page = (await site.get(f"/s/{sandbox}/", {"Accept": "text/html"})).decode()
        opening.page = time.monotonic() - start
        viewer = Viewer(site, sandbox)
        opening.files, _ = await asyncio.gather(load_files(site, page), viewer.connect())
        if opening.files and not site.errors:
            opening.complete = time.monotonic() - start
        await viewer.close()
        return opening, site.errors
