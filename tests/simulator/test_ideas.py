"""Each idea's example shows what its page says."""

from pathlib import Path

import pytest

from simulator.api import SECOND
from simulator.commands.run import run_scenario
from simulator.scenario import load
from simulator.trace import Bound, Event, QueueMoved

from .test_scenarios import SCENARIOS, of, seconds

IDEAS = SCENARIOS / "ideas"
LONGEST = 600
"""Seconds by which every example is over."""


def play(name: str) -> list[Event]:
    return run_scenario(load((IDEAS / f"{name}.yaml").read_text()), LONGEST * SECOND)


def bound(trace: list[Event]) -> dict[str, Bound]:
    return {event.pod.removeprefix("default/"): event for event in of(Bound, trace)}


def test_queue_a_pod_waits_for_the_event_that_may_help_it() -> None:
    trace = play("queue")
    moves = [event for event in of(QueueMoved, trace) if event.pod == "default/big"]
    [back] = [event for event in moves if event.source == "unschedulable"]
    assert (back.event, back.plugin, seconds(back)) == ("NodeAdd", "NodeResourcesFit", 20)
    assert bound(trace)["big"].node == "node-2"
    assert [event.target for event in of(QueueMoved, trace) if event.pod == "default/gated"] == ["gated"]


@pytest.mark.parametrize("path", sorted(IDEAS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_example_is_held_to_its_word_here(path: Path) -> None:
    assert any(name.startswith(f"test_{path.stem}_") for name in globals())
