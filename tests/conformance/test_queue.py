"""Every recorded run of kube-scheduler v1.34.1's queue under queue/ has the same result, operation by
operation, in every field. ``make test`` runs a sample of each file."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from simulator.framework.cluster_event import ActionType, ClusterEvent
from simulator.harness.queue import QueueHistory
from simulator.plugins.registry import load, profiles
from simulator.versions.features import UNSTATED_FEATURES
from tests.amounts import sample

FOLDER = Path(__file__).parent / "queue"
CATEGORIES = {
    "backoff": 26,
    "flush": 26,
    "gates": 26,
    "hints-node": 34,
    "hints-pod": 31,
    "hints-volume": 26,
    "inflight": 32,
    "mixed": 34,
    "nominator": 27,
    "ordering": 26,
    "update-delete": 26,
}
"""How many histories each holds, so that none is lost unnoticed."""


def recorded(category: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / f"{category}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.sampled
@pytest.mark.parametrize("category", CATEGORIES)
def test_the_queue_does_what_the_real_one_did(category: str) -> None:
    histories = recorded(category)
    assert len(histories) == CATEGORIES[category]
    for recorded_history in sample(histories):
        history = QueueHistory(recorded_history["config"])
        for number, step in enumerate(recorded_history["steps"]):
            want = {field: value for field, value in step.items() if field != "op"}
            where = f"{recorded_history['name']}, step {number}, {step['op']['type']}"
            assert history.run(step["op"]) == want, where


def test_the_plugins_register_the_events_that_upstreams_register() -> None:
    upstream = json.loads((FOLDER / "registered-events.json").read_text())["registered"]
    names = {ClusterEvent("", action).label: action for action in NAMED_ACTIONS}
    want = {
        plugin: merged((event["resource"], names[action]) for event in events for action in event["actions"])
        for plugin, events in upstream.items()
    }
    registered = profiles(load(None, features=UNSTATED_FEATURES))["default-scheduler"].events_to_register()
    got = {
        plugin: merged((each.event.resource, each.event.action) for each in registered[plugin])
        for plugin in want
    }
    assert got == want


NAMED_ACTIONS = [*(ActionType(1 << bit) for bit in range(13)), ActionType.UPDATE]


def merged(events: Iterable[tuple[str, ActionType]]) -> dict[str, ActionType]:
    actions: dict[str, ActionType] = defaultdict(lambda: ActionType(0))
    for resource, action in events:
        actions[resource] |= action
    return dict(actions)
