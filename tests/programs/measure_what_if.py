"""What if, on the real stack: the time from the click to the whole answer, and its effect on the loop.
``python -m tests.programs.measure_what_if``; the numbers are in docs/BENCHMARKS.md."""

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, expect, sync_playwright

from tests.conftest import PASSWORD, PORT, answers  # first: it says where Redis is, before settings are read

# isort: split

from schedviz.api import write
from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.question import QUESTIONS, Question
from schedviz.loop.leadership import living_workers
from schedviz.store import Commit, Meta, Sandbox, Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from schedviz.up.programs import SERVER
from simulator.api import Change, Manifest
from tests import chromium
from tests.loop.conftest import node, pod
from tests.processes import Process
from tests.programs.measure_history import AT_ONCE
from tests.waiting import eventually

SIZES = ((100, 1_000, 0), (5_000, 50_000, 0), (5_000, 50_000, 1_000))
"""Nodes, pods on them, and other pending pods, which wait for the same room."""
PENDING_SPECS = 50
"""Different specs of the other pending pods."""
PATIENCE = 120.0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=11, help="a size, the first not counted")
    parser.add_argument("--binds", type=int, default=40)
    options = parser.parse_args()
    with ExitStack() as stack:
        page, store = started(stack)
        for nodes, pods, pending in SIZES:
            sandbox = made(store, nodes, pods, pending)
            times = [*asked(page, sandbox, options.questions)]
            size = f"{nodes:5} nodes, {pods:6} pods, {pending:5} pending"
            print(f"{size}: click to answer {spread(times[1:])}", flush=True)
        small = write.create_sandbox(store, Meta("small"), [node(f"n{n}", cpu="64") for n in range(10)])
        print(f"pod to bound, nothing asked: {spread(bound(small, options.binds, 'idle'))}", flush=True)
        stop = threading.Event()
        busy = threading.Thread(target=keep_asking, args=(store, sandbox, stop))
        busy.start()
        print(f"pod to bound, searches at 5,000 nodes: {spread(bound(small, options.binds, 'busy'))}")
        stop.set()
        busy.join()
    return 0


def started(stack: ExitStack) -> tuple[Page, Store]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    held = stack.enter_context(lock(folder))
    server = EmbeddedRedis.start(folder, held, PORT, PASSWORD)
    stack.callback(server.stop)
    store = Store(server.url)
    port = free_port()
    for name, command in (
        ("web", [SERVER, f"--port={port}"]),
        ("worker", ["celery", "--app=schedviz", "--quiet", *WORKER_ARGUMENTS]),
        ("job-runner", ["celery", "--app=schedviz", "--quiet", *JOB_RUNNER_ARGUMENTS]),
    ):
        stack.callback(Process(["-m", *command], folder / name).stop)
    eventually(lambda: living_workers(store) and answers(f"http://127.0.0.1:{port}/healthz"), "up", 60)
    playwright = stack.enter_context(sync_playwright())
    browser = playwright.chromium.launch(executable_path=chromium.find(), args=chromium.FLAGS)
    stack.callback(browser.close)
    return browser.new_page(base_url=f"http://127.0.0.1:{port}"), store


def made(store: Store, nodes: int, pods: int, pending: int) -> Sandbox:
    """Nodes that are nearly full, and a pod that fits none, nor do the other pending pods."""
    sandbox = write.create_sandbox(store, Meta(f"s{nodes}-{pending}"))
    draw = random.Random(nodes)
    objects = [
        Change("nodes", f"n{number}", node(f"n{number}", cpu="32"), expected=0) for number in range(nodes)
    ]
    for number in range(pods):
        manifest = pod(f"p{number}", cpu=f"{draw.choice((2900, 3000, 3100))}m")
        manifest["spec"]["nodeName"] = f"n{number % nodes}"
        manifest["status"] = {"phase": "Running"}
        objects.append(Change("pods", f"default/p{number}", manifest, expected=0))
    for number in range(pending):
        manifest = pod(f"waits{number}", cpu="6")
        manifest["metadata"]["labels"] = {"app": f"a{number % PENDING_SPECS}"}
        objects.append(Change("pods", f"default/waits{number}", manifest, expected=0))
    for first in range(0, len(objects), AT_ONCE):
        sandbox.commit(Commit(objects[first : first + AT_ONCE]))
    write.create(sandbox, [pod("big", cpu="8")])
    eventually(lambda: sandbox.queue_place("default/big"), "the pod is queued", PATIENCE)
    eventually(lambda: tried(sandbox.get("pods", "default/big")), "the pod was tried", PATIENCE)
    return sandbox


def tried(manifest: Manifest | None) -> bool:
    return bool(manifest and (manifest.get("status") or {}).get("conditions"))


def asked(page: Page, sandbox: Sandbox, count: int) -> Iterator[float]:
    """Seconds from each click to the whole answer on the page."""
    page.goto(f"/s/{sandbox.name}/pods/default/big/")
    button = page.locator("#suppose-ask")
    for number in range(count):
        expect(button).to_have_text("Ask again" if number else "Find the smallest changes", timeout=60_000)
        button.evaluate("each => { window.asked = each; }")
        began = time.monotonic()
        button.click()
        page.wait_for_function(
            "() => (window.now = document.getElementById('suppose-ask')) && window.now !== window.asked",
            timeout=60_000,
            polling=10,
        )
        yield time.monotonic() - began


def bound(sandbox: Sandbox, count: int, prefix: str) -> list[float]:
    """Seconds from the write of a pod until it is bound."""
    times = []
    for number in range(count):
        name = f"{prefix}-{number}"
        began = time.monotonic()
        write.create(sandbox, [pod(name, cpu="100m")])
        eventually(lambda name=name: placed(sandbox, name), "bound")  # type: ignore[misc] # mypy and defaults
        times.append(time.monotonic() - began)
    return times


def placed(sandbox: Sandbox, name: str) -> bool:
    manifest = sandbox.get("pods", f"default/{name}")
    return bool(manifest and manifest["spec"].get("nodeName"))


def keep_asking(store: Store, sandbox: Sandbox, stop: threading.Event) -> None:
    questions = JobStore(store, QUESTIONS)
    manifest = sandbox.get("pods", "default/big")
    assert manifest
    while not stop.wait(0.02):
        questions.submit(
            Question(kind="what-if", sandbox=sandbox.name, pod="default/big", uid=manifest["metadata"]["uid"])
        )


def spread(times: list[float]) -> str:
    ordered = sorted(1000 * each for each in times)
    return f"median {median(ordered):.0f} ms ({ordered[0]:.0f} to {ordered[-1]:.0f}, n={len(ordered)})"


if __name__ == "__main__":
    sys.exit(main())
