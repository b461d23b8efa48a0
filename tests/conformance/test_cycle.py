"""Every recorded scheduling attempt of kube-scheduler v1.34.1 under cycle/ is decided the same, in every
field."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from simulator.commands.decide import DecideInput, decide

FOLDER = Path(__file__).parent / "cycle"
CATEGORIES = sorted(file.name.removesuffix(".jsonl.gz") for file in FOLDER.glob("*.jsonl.gz"))


class Vector(DecideInput, kw_only=True):
    expect: dict[str, Any]


def differences(want: Any, got: Any, path: str = "") -> Iterator[str]:
    """Where an answer is not the recorded one. Lists of alternatives are sets; of the possible texts of an
    error, which one comes up is chance, so some of them will do."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(want.keys() | got.keys()):
            if key in want and key in got:
                yield from differences(want[key], got[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}: {'missing' if key in want else 'not expected'}"
    elif path.endswith("cycleErrorAnyOf"):
        if not got or not set(got) <= set(want):
            yield f"{path}: want some of {want}, got {got}"
    elif path.endswith("AnyOf"):
        if sorted(want) != sorted(got):
            yield f"{path}: want any of {want}, got {got}"
    elif want != got or type(want) is not type(got):
        yield f"{path}: want {want!r}, got {got!r}"


def test_no_category_is_missing() -> None:
    assert len(CATEGORIES) == 34


@pytest.mark.parametrize("category", CATEGORIES)
def test_attempts_are_decided_as_the_real_scheduler_decided_them(category: str) -> None:
    with gzip.open(FOLDER / f"{category}.jsonl.gz", "rb") as lines:
        vectors = [msgspec.json.decode(line, type=Vector) for line in lines]
    assert len(vectors) >= 60
    found = []
    for vector in vectors:
        answer = msgspec.to_builtins(decide(vector))
        found += [f"{vector.name}{difference}" for difference in differences(vector.expect, answer)]
    assert not found, "\n".join(found[:10])
