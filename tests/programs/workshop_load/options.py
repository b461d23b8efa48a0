"""The options of ``python -m tests.programs.workshop_load``."""

import argparse
from pathlib import Path

import msgspec


class Options(msgspec.Struct, frozen=True):
    """``think``: mean seconds between two acts of a learner. ``speed``: of simulated time, which each learner
    sets. ``wrong``, ``solutions``: the shares of guesses that are wrong, and of steps whose solution is shown
    instead of being done. ``rounds``: workshops one after the other on the same processes, as memory grows
    also by what was read and compiled for the first time."""

    learners: int = 100
    lesson: str = "preemption"
    think: float = 12.0
    speed: float = 1.0
    wrong: float = 0.3
    solutions: float = 0.05
    seed: int = 1
    rounds: int = 1
    workers: int = 2
    json: Path | None = None
    against: Path | None = None


def parsed(arguments: list[str]) -> Options:
    parser = argparse.ArgumentParser(
        prog="python -m tests.programs.workshop_load",
        description="Simulates a workshop on real processes, and prints how long people waited.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    usual = Options()

    def add(name: str, help: str, kind: type = int) -> None:  # noqa: A002 (argparse's name)
        parser.add_argument(f"--{name}", type=kind, default=getattr(usual, name), help=help)

    add("learners", "how many; a room has at most 110")
    add("lesson", "the name of a lesson", str)
    add("think", "mean seconds between two acts of a learner", float)
    add("speed", "of simulated time", float)
    add("wrong", "the share of wrong guesses", float)
    add("solutions", "the share of steps whose solution is shown", float)
    add("seed", "of everything that is drawn at random")
    add("rounds", "workshops one after the other, on the same processes")
    add("workers", "worker processes")
    add("json", "write the figures to this file", Path)
    add("against", "print the ratios to the figures in this file", Path)
    return Options(**vars(parser.parse_args(arguments)))
