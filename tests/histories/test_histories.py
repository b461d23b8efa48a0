"""The simulator's output equals the recorded histories line by line, and these can be replayed.

Python orders sets of strings differently in each run, so these tests also find output that depends on that
order."""

import msgspec
import pytest

from simulator.apiserver.decoding import decode
from simulator.apiserver.defaults import set_defaults
from simulator.apiserver.resources import BUILT_IN, GATED
from simulator.apiserver.served_features import serving
from simulator.decision_columns import plain_encoder
from simulator.replay import Replay
from simulator.scenario import load_scenario
from tests.histories import files
from tests.histories.__main__ import check
from tests.histories.catalogue import histories
from tests.histories.scenarios import path

REPLAYED = [
    f"random/{theme}-0" for theme in ("volumes", "permit", "v1.10", "stepping", "leaders", "controllers")
]

RESOURCES = {resource.id: resource for resource in (*GATED, *reversed(BUILT_IN))}


def of_folders(*folders: str) -> list[str]:
    return [name for name in histories() if name.startswith(tuple(f"{folder}/" for folder in folders))]


def test_every_history_is_recorded_and_nothing_else() -> None:
    assert files.recorded() == sorted(histories())


@pytest.mark.parametrize("name", of_folders("scenarios", "answers"))
def test_the_output_equals_the_recorded_one(name: str) -> None:
    assert_same(name)


@pytest.mark.parametrize("name", REPLAYED)
def test_a_recorded_history_can_be_replayed(name: str) -> None:
    lines = files.read(name)
    assert lines
    replayed: list[bytes] = []
    for stored in Replay(files.records(name)).run():
        replayed += [msgspec.json.encode(event) for _, event in stored.trace]
        replayed += [plain_encoder.encode(decision) for decision in stored.decisions]
    recorded = [line for line in lines if line.startswith((b'{"kind":"Event"', b'{"kind":"Decision"'))]
    assert len(recorded) == len(replayed) > 0
    assert all(line.endswith(body[1:]) for line, body in zip(recorded, replayed, strict=True))


@pytest.mark.parametrize("name", of_folders("scenarios"))
def test_components_write_all_fields_that_an_api_server_would_add(name: str) -> None:
    features = load_scenario(path(name.removeprefix("scenarios/")).read_text()).features
    for line in files.read(name) or ():
        if not line.startswith(b'{"kind":"Write"'):
            continue
        write = msgspec.json.decode(line)
        if write["type"] == "DELETED":
            continue
        resource = RESOURCES[write["resource"]]
        with serving(features):
            stored, causes = decode(resource, write["object"])
            set_defaults(resource, stored)
        assert (stored, causes) == (write["object"], [])


def assert_same(name: str) -> None:
    difference = check(name)
    assert not difference, f"{difference}\n(python -m tests.histories check {name})"
