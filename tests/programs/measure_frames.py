"""The frames of a live page while pods are created and bound one by one: their sizes, and the time to render
them. ``python -m tests.programs.measure_frames``; the numbers are in docs/BENCHMARKS.md.

The simulation runs in memory, and what it puts out goes straight into the picture: neither Redis nor a web
server is in the numbers. Each moment of simulated time at which something happens is one frame, drawn in one
language for one look."""

import argparse
import cProfile
import os
import pstats
import time
import zlib
from collections import Counter
from statistics import median

import django

# The views read the settings when they are imported.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
django.setup()

from django.utils import translation  # noqa: E402 (as above)

from schedviz.store.model import Clock  # noqa: E402 (as above)
from schedviz.web.page.screen import DEFAULT, Screen  # noqa: E402 (as above)
from schedviz.web.parts.parts import Parts  # noqa: E402 (as above)
from simulator.api import SECOND, Micros  # noqa: E402 (as above)
from simulator.commands.run import START  # noqa: E402 (as above)
from simulator.trace import Bound  # noqa: E402 (as above)
from tests.web.watched import Watched  # noqa: E402 (as above)

SIZES = (6, 100)
WARM_UP = 40
"""Pods before those that are counted: the log and the timeline are long by then."""
BETWEEN: Micros = 5 * SECOND
"""From one pod to the next: each has started by then."""


class Totals:
    """What the frames of one kind cost."""

    def __init__(self) -> None:
        self.bytes: list[int] = []
        self.packed: list[int] = []
        self.seconds: list[float] = []
        self.by_part: Counter[str] = Counter()

    def add(self, parts: Parts, packed: int, seconds: float) -> None:
        self.bytes.append(size(parts))
        self.packed.append(packed)
        self.seconds.append(seconds)
        for name, html in parts.items():
            self.by_part[name.split("/")[0]] += len(html.encode())

    def __str__(self) -> str:
        milliseconds = median(self.seconds) * 1000
        packed = f"{median(self.packed):6,.0f} compressed"
        return f"{median(self.bytes):8,.0f} bytes {packed} {milliseconds:8.2f} ms  ({len(self.bytes)} frames)"


class Socket:
    """How many bytes a message is for a browser that takes compressed ones: as uvicorn compresses them."""

    def __init__(self) -> None:
        self._stream = zlib.compressobj(wbits=-12, memLevel=5)

    def size(self, parts: Parts) -> int:
        text = "".join(parts.values()).encode()
        return len(self._stream.compress(text) + self._stream.flush(zlib.Z_SYNC_FLUSH)) - 4


def size(parts: Parts) -> int:
    return sum(len(html.encode()) for html in parts.values())


def measure(nodes: int, pods: int, profile: cProfile.Profile | None) -> tuple[dict[str, Totals], int]:
    """The frames by kind, and the size of the whole page."""
    watched, screen = Watched(nodes), Screen("/s/quiet-otter/")
    kinds = {"bound": Totals(), "other": Totals()}
    clock, socket = Clock(START, 0.0), Socket()
    for number in range(WARM_UP + pods):
        watched.create(f"web-{number}")
        for events in watched.until(watched.now + BETWEEN):
            dirty, watched.picture.dirty_nodes = watched.picture.dirty_nodes, set()
            if profile and number >= WARM_UP:
                profile.enable()
            began = time.process_time()
            parts = screen.draw(watched.picture, clock, dirty)[DEFAULT]
            took = time.process_time() - began
            if profile:
                profile.disable()
            packed = socket.size(parts)
            if number >= WARM_UP and parts:
                kind = "bound" if any(isinstance(event, Bound) for event in events) else "other"
                kinds[kind].add(parts, packed, took)
    return kinds, size(screen.whole())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--nodes", type=int, action="append", help=f"by default {' and '.join(map(str, SIZES))}"
    )
    parser.add_argument("--pods", type=int, default=200, help="that are created and bound one by one")
    parser.add_argument(
        "--parts", action="store_true", help="also the bytes of each part, a frame on average"
    )
    parser.add_argument("--profile", action="store_true", help="also where the time goes, by cProfile")
    options = parser.parse_args()
    with translation.override("en"):
        for nodes in options.nodes or SIZES:
            profile = cProfile.Profile() if options.profile else None
            kinds, whole = measure(nodes, options.pods, profile)
            print(f"{nodes} nodes: the whole page {whole:,} bytes")
            for kind, totals in kinds.items():
                print(f"  {kind:6} {totals}")
                for name, count in totals.by_part.most_common() if options.parts else ():
                    print(f"         {name:20} {count / len(totals.bytes):8,.0f}")
            if profile:
                pstats.Stats(profile).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
