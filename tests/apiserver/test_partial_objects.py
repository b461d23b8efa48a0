"""An object that lacks a part is created or updated and printed, or refused with a Status. Nothing else."""

import copy
import gzip
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.printers.table import build_table
from simulator.apiserver.resources import find_by_kind
from simulator.apiserver.status import StatusError
from tests.apiserver.cluster import NOW, Cluster

STORIES = Path(__file__).parent.parent / "conformance" / "api"
DEPTH = 4
"""Levels at which a part is left out: those of the kind's own fields and of a template's containers."""


def recorded_objects() -> Iterator[Manifest]:
    """The first object of each kind that the real API server created in the recorded stories."""
    seen = set()
    for category in ("create", "defaults"):
        with gzip.open(STORIES / f"{category}.jsonl.gz") as lines:
            steps = [step for line in lines for step in json.loads(line)["steps"]]
        for step in steps:
            request, body = step["request"], step["request"].get("body")
            if request["method"] != "POST" or not isinstance(body, dict) or step["response"]["status"] != 201:
                continue
            kind = (body.get("apiVersion"), body.get("kind"))
            if kind not in seen:
                seen.add(kind)
                yield json.loads(json.dumps(body).replace("{{id}}", "a"))


def partial(value: Any, depth: int) -> Iterator[Any]:
    """Copies of a value, each without one of its parts, or with null in its place."""
    if not depth or not isinstance(value, dict | list):
        return
    parts: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        for changed in (None, *partial(part, depth - 1)):
            copied = copy.copy(value)
            copied[key] = changed
            yield copied
        without = copy.copy(value)
        del without[key]
        yield without


@pytest.mark.parametrize("manifest", [*recorded_objects()], ids=lambda each: each["kind"])
def test_a_part_that_is_left_out_is_no_fault(manifest: Manifest) -> None:
    cluster = Cluster()
    resource = find_by_kind(manifest["apiVersion"], manifest["kind"])
    assert resource
    try:
        (old,) = cluster.create([{**manifest, "metadata": {**manifest["metadata"], "namespace": "default"}}])
    except StatusError:
        return  # it needs what other stories have, such as a class
    for new in partial({**old, "status": old.get("status", {})}, DEPTH):
        with suppress(StatusError):
            shown = cluster.update(resource, old, copy.deepcopy(new))
            build_table(resource, [shown], {}, NOW)
    for new in partial(manifest, DEPTH):
        with suppress(StatusError):
            [shown] = Cluster().create([copy.deepcopy(new)])
            build_table(resource, [shown], {}, NOW)
