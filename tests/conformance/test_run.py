"""Every recorded history of a cluster under kube-scheduler v1.34.1 in run/ settles to the same state, step by
step: the bound pods and their nodes in order, the victims and their preemptors, and the messages of pending
pods. ``make test`` runs a sample of each file."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from simulator.harness.settle import SettledHistory
from tests.amounts import sample

FOLDER = Path(__file__).parent / "run"
CATEGORIES = ("affinity-spread", "arrivals", "config", "everything", "preemption", "wakeups")


def recorded(category: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / f"{category}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.sampled
@pytest.mark.parametrize("category", CATEGORIES)
def test_histories_settle_as_they_did_under_the_real_scheduler(category: str) -> None:
    histories = recorded(category)
    assert len(histories) == 30
    for recorded_history in sample(histories):
        history = SettledHistory(recorded_history["config"])
        for number, step in enumerate(recorded_history["steps"]):
            got = history.step(step["apply"], step["delete"])
            assert got == {"settled": step["settled"]}, f"{recorded_history['name']}, step {number}"
