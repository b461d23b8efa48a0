"""How smooth the page of a large cluster is while pods are bound: ``make smooth``.

It scrolls and zooms the grid of 5,000 nodes and 50,000 pods in a headless Chromium, several times, and ends
with 1 where the aim is missed. The numbers are in docs/BENCHMARKS.md.
"""

import statistics
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.conftest import PASSWORD, PORT, answers  # first: it says where Redis is

# isort: split
from playwright.sync_api import Page, expect, sync_playwright

from schedviz.api import write
from schedviz.celery import WORKER_ARGUMENTS
from schedviz.store import Commit, Meta, Sandbox, Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from schedviz.up.programs import SERVER
from simulator.api import Change, Manifest
from simulator.objects.node_status import joined_node
from simulator.objects.timestamps import timestamp
from simulator.versions.features import UNSTATED_FEATURES
from tests import chromium
from tests.browser.conftest import node, pod
from tests.processes import CELERY, Process
from tests.waiting import eventually

NODES = 5_000
PODS = 50_000
RUNS = 7
MILLISECONDS = 3_000
ARRIVING = 60
"""Pods to bind in each run."""
AT_ONCE = 5_000
"""Objects in a commit."""
FRAME_MS = 1000 / 30
TASK_MS = 200
PATIENCE = 120.0
"""Seconds to read 50,000 pods in."""


class Run(NamedTuple):
    """One scroll and zoom, in ms: the median time between two frames, and the longest task of the main thread
    (0 = none of over 50 ms)."""

    frame: float
    task: float

    def __str__(self) -> str:
        return f"median frame {self.frame:.1f} ms, longest task {self.task:.0f} ms"


def main() -> int:
    path = chromium.find()
    if path is None:
        print(chromium.missing(), file=sys.stderr)
        return 1
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with (
        tempfile.TemporaryDirectory() as name,
        lock(folder := Path(name)) as held,
        sync_playwright() as playwright,
    ):
        redis = EmbeddedRedis.start(folder, held, PORT, PASSWORD)
        worker = Process([*CELERY, *WORKER_ARGUMENTS], folder / "worker")
        server = Process(["-m", SERVER, f"--port={port}"], folder / "server")
        store = Store(redis.url)
        try:
            eventually(lambda: server.alive() and answers(f"{url}/readyz"), "the start", PATIENCE)
            browser = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
            page = browser.new_page(base_url=url, viewport={"width": 1280, "height": 720})
            runs = measure(page, cluster(store, "large", NODES, PODS))
            browser.close()
        finally:
            store.close()
            server.stop()
            worker.stop()
            redis.stop()
    middle = Run(*(statistics.median(column) for column in zip(*runs, strict=True)))
    worst = Run(*(max(column) for column in zip(*runs, strict=True)))
    print(f"of {RUNS} runs: {middle}; at worst: {worst}")
    return int(middle.frame > FRAME_MS or middle.task > TASK_MS)


def measure(page: Page, sandbox: Sandbox) -> list[Run]:
    page.goto(f"/s/{sandbox.name}/")
    expect(page.locator("#grid")).to_be_visible(timeout=PATIENCE * 1000)
    eventually(lambda: sandbox.progress()[0] >= sandbox.version(), "the worker has read it all", PATIENCE)
    runs = []
    for run in range(RUNS):
        write.create(sandbox, [pod(f"new-{run}-{number}", "100m") for number in range(ARRIVING)])
        runs.append(scroll_and_zoom(page))
        print(runs[-1], flush=True)
    return runs


def cluster(store: Store, name: str, nodes: int, pods: int) -> Sandbox:
    """Running pods on nodes of four tiers, committed directly: by way of the API it would take minutes."""
    sandbox = store.create(Meta(name, pace=100_000))
    since = timestamp(sandbox.clock().sim)
    made = [
        joined_node(stored(node(f"node-{number:04}", "16"), tier=f"t{number % 4}"), since, UNSTATED_FEATURES)
        for number in range(nodes)
    ]
    made += [
        stored(pod(f"web-{number}", nodeName=f"node-{number % nodes:04}", priority=number % 3 * 100))
        | {"status": {"phase": "Running"}}
        for number in range(pods)
    ]
    changes = [Change(f"{each['kind'].lower()}s", key(each), each, 0) for each in made]
    for start in range(0, len(changes), AT_ONCE):
        sandbox.commit(Commit(changes[start : start + AT_ONCE]))
    return sandbox


def stored(manifest: Manifest, **labels: str) -> Manifest:
    """As the API server would have completed it, as far as the page looks."""
    metadata = {**manifest["metadata"], "uid": manifest["metadata"]["name"], "labels": labels}
    if manifest["kind"] == "Pod":
        metadata["namespace"] = "default"
    return {**manifest, "metadata": metadata}


def key(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    return "/".join(part for part in (metadata.get("namespace"), metadata["name"]) if part)


def scroll_and_zoom(page: Page) -> Run:
    found = page.evaluate(SCROLL_AND_ZOOM, MILLISECONDS)
    return Run(statistics.median(found["gaps"]), max(found["tasks"], default=0))


SCROLL_AND_ZOOM = """
(lasts) => new Promise((done) => {
  const pane = document.querySelector("#grid .pane");
  const box = pane.getBoundingClientRect();
  const began = performance.now();
  const frames = [];
  const tasks = [];
  const observer = new PerformanceObserver((list) => {
    for (const each of list.getEntries()) tasks.push(each.duration);
  });
  observer.observe({ type: "longtask" });
  function step(now) {
    frames.push(now);
    if (frames.length % 10 === 0) {
      const deltaY = (now - began) % 1500 < 900 ? -120 : 120;
      const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
      const wheel = { deltaY, ctrlKey: true, cancelable: true, bubbles: true, ...at };
      pane.dispatchEvent(new WheelEvent("wheel", wheel));
    } else {
      pane.scrollTop += 30;
    }
    if (now - began < lasts) { requestAnimationFrame(step); return; }
    observer.disconnect();
    done({ gaps: frames.slice(1).map((each, index) => each - frames[index]), tasks });
  }
  requestAnimationFrame(step);
})
"""

if __name__ == "__main__":
    sys.exit(main())
