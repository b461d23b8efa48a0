"""The options of ``python -m tests.programs.load``."""

import argparse
from pathlib import Path
from typing import Literal, get_args

import msgspec

from tests.programs.load.site import WorkloadKind

Created = Literal["singly", "together"] | WorkloadKind
CREATED: tuple[str, ...] = ("singly", "together", *get_args(WorkloadKind))
PARTS = ("watched", "idle", "crowd", "cold", "bulk", "costs")


class Options(msgspec.Struct, frozen=True):
    """``sandboxes``: for each number one table of the parts "watched" and "idle"; the last is the number of
    the part "costs", too."""

    parts: tuple[str, ...] = PARTS
    sandboxes: tuple[int, ...] = (1, 30, 100)
    seconds: float = 60.0
    every: float = 5.0
    lives: float = 0.0
    speed: float = 1.0
    viewers: int = 100
    browsers: tuple[int, ...] = (60, 100)
    pods: int = 3_000
    nodes: int = 1_000
    connections: int = 6
    created: Created = "singly"
    speeds: tuple[float, ...] = (100.0,)
    watches: int = 300
    events: int = 2_000
    rounds: int = 5
    web: int = 1
    workers: int = 2
    json: Path | None = None
    against: Path | None = None


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(","))


def speeds(text: str) -> tuple[float, ...]:
    return tuple(float(each) for each in text.split(","))


def parsed(arguments: list[str]) -> Options:
    parser = argparse.ArgumentParser(
        prog="python -m tests.programs.load",
        description="Puts a load on real processes and prints what it cost.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    usual = Options()
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all without one")

    def add(name: str, help: str, kind: type | object = int) -> None:  # noqa: A002 (argparse's name)
        parser.add_argument(f"--{name}", type=kind, default=getattr(usual, name), help=help)  # type: ignore[arg-type]

    add(
        "sandboxes",
        "watched, idle, costs: how many sandboxes, each watched by one page; several: 1,30",
        numbers,
    )
    add("seconds", "watched, crowd, idle: how long", float)
    add("every", "watched: seconds between two pods of a sandbox", float)
    add("lives", "watched, crowd: seconds that a pod runs before it is deleted; 0: without an end", float)
    add("speed", "watched, crowd: of simulated time", float)
    add("viewers", "crowd: pages that watch the sandbox")
    add("browsers", "cold: how many open a page within ten seconds, for each one table", numbers)
    add("pods", "bulk: how many")
    add("nodes", "bulk: how many; more than 100, so that the page shows the grid")
    add("connections", "bulk: HTTP connections that create pods")
    parser.add_argument(
        "--created",
        choices=CREATED,
        default=usual.created,
        help="bulk: the pods by a request each, by requests of 1,000, or by a workload",
    )
    add("speeds", "bulk: of simulated time, for each one table; inf: the speed max", speeds)
    add("watches", "costs: API watches beside the pages")
    add("events", "costs: trace events of the sandbox whose panels are read")
    add("rounds", "costs: rounds of each measurement")
    add("workers", "worker processes")
    add("web", "processes of the web server; not in costs")
    add("json", "write the figures to this file", Path)
    add("against", "print the ratios to the figures in this file", Path)
    asked = vars(parser.parse_args(arguments))
    unknown = [part for part in asked["parts"] if part not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)} (there are {', '.join(PARTS)})")
    return Options(**{**asked, "parts": tuple(asked["parts"]) or PARTS})
