"""Every recorded scheduling attempt of kube-scheduler v1.34.1 is decided the same, in every field: under
cycle/ with one profile, under profiles/ with several, under dra/ with resource claims; under large/ five
attempts one after another, on 100 to 600 nodes, of which not all are looked at. So are those of v1.34.9,
v1.35.6 and v1.36.2: a part of the same inputs, in new.jsonl.gz what is new in v1.36, and in batching.jsonl.gz
pods one after another with OpportunisticBatching. ``make test``
decides a sample of each file."""

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from simulator.harness.decide import decide
from simulator.harness.decide.batching import decide_batched
from simulator.harness.decide.input import DecideInput
from simulator.harness.decide.sequence import decide_sequence
from tests.amounts import sample

ROOT = Path(__file__).parent
VECTORS_AT_LEAST = {"cycle": 60, "profiles": 15, "large": 20, "dra": 12}
"""Folder -> the minimum of vectors of each category."""
VERSIONS = {"v1.34": 4, "v1.35": 4, "v1.36": 7}
"""Folder -> the number of files."""
HISTORIES = "podgroups.jsonl.gz"
"""Whole histories: test_run.py."""
FILES = sorted(
    f"{folder}/{file.name}"
    for folder in (*VECTORS_AT_LEAST, *VERSIONS)
    for file in (ROOT / folder).glob("*.jsonl.gz")
    if file.name != HISTORIES
)


class Vector(DecideInput, kw_only=True):
    expect: dict[str, Any]


def differences(want: Any, got: Any, path: str = "") -> Iterator[str]:
    """The differences of an answer from the recorded one. Lists of alternatives are sets. Of the possible
    texts of an error upstream chooses one at random, so any of them counts as equal."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(want.keys() | got.keys()):
            if key in want and key in got:
                yield from differences(want[key], got[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}: {'missing' if key in want else 'not expected'}"
    elif path.endswith("allocationAnyOf"):
        # Slices and pools are in a random order in the real scheduler; any of its allocations will do.
        for one in got:
            if all([*differences(each, one)] for each in want):
                yield f"{path}: {one} is none of {want}"
        if not got:
            yield f"{path}: no allocation"
    elif path.endswith("cycleErrorAnyOf"):
        if not got or not set(got) <= set(want):
            yield f"{path}: want some of {want}, got {got}"
    elif path.endswith("AnyOf"):
        if sorted(want) != sorted(got):
            yield f"{path}: want any of {want}, got {got}"
    elif want != got or type(want) is not type(got):
        yield f"{path}: want {want!r}, got {got!r}"


def test_all_categories_of_recorded_answers_exist() -> None:
    assert (
        Counter(file.partition("/")[0] for file in FILES)
        == {
            "cycle": 34,
            "profiles": 4,
            "large": 3,
            "dra": 14,
        }
        | VERSIONS
    )


@pytest.mark.sampled
@pytest.mark.parametrize("file", FILES)
def test_attempts_are_decided_as_the_real_scheduler_decided_them(file: str) -> None:
    with gzip.open(ROOT / file, "rb") as lines:
        vectors = [msgspec.json.decode(line, type=Vector) for line in lines]
    folder = file.partition("/")[0]
    if folder in VERSIONS:
        assert {vector.kubernetes for vector in vectors} == {folder}
    else:
        assert len(vectors) >= VECTORS_AT_LEAST[folder]
    found = []
    for vector in sample(vectors):
        in_turn = decide_batched if vector.batching else decide_sequence
        answer = decide if vector.pods is None else in_turn
        answered = msgspec.to_builtins(answer(vector))
        found += [f"{vector.name}{difference}" for difference in differences(vector.expect, answered)]
    assert not found, "\n".join(found[:10])
