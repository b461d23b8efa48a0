"""An object that lacks a part is created or updated and printed, or refused with a Status. Nothing else."""

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.resources import find_by_kind
from simulator.apiserver.status import StatusError
from simulator.apiserver.table import build_table
from tests.apiserver.cluster import NOW, Cluster
from tests.stories.recorded import read_steps

DEPTH = 12
"""Levels at which a part is left out: all levels of the recorded objects."""


def recorded_objects() -> list[Manifest]:
    """The objects that were sent to a real API server in the recorded stories. Of objects of the same kind,
    those that have fields which the ones before do not have."""
    found: list[Manifest] = []
    seen: dict[str, set[str]] = {}
    for request in (step["request"] for step in read_steps()):
        text = json.dumps(request.get("body")).replace("{{id}}", "a")
        body = json.loads(text)
        if request["method"] not in ("POST", "PUT") or "{{" in text or not isinstance(body, dict):
            continue
        if isinstance(body.get("kind"), str) and isinstance(body.get("metadata"), dict):
            kind = seen.setdefault(f"{body.get('apiVersion')} {body['kind']}", set())
            fields = {*field_paths(body)}
            if fields - kind and find_by_kind(str(body.get("apiVersion")), body["kind"]):
                kind |= fields
                found.append(body)
    return found


def field_paths(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield f"{path}.{name}"
            yield from field_paths(part, f"{path}.{name}")
    elif isinstance(value, list):
        for part in value:
            yield from field_paths(part, f"{path}[]")


OBJECTS = recorded_objects()
KINDS = sorted({manifest["kind"] for manifest in OBJECTS})


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


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_without_a_part_is_created_or_refused(kind: str) -> None:
    for manifest in (each for each in OBJECTS if each["kind"] == kind):
        resource = find_by_kind(manifest["apiVersion"], kind)
        assert resource
        cluster = Cluster()
        for new in partial(manifest, DEPTH):
            with suppress(StatusError):
                shown = cluster.admit([copy.deepcopy(new)]).changes[0].object
                assert shown
                build_table(resource, [shown], {}, NOW)


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_is_updated_to_one_without_a_part_or_the_update_refused(kind: str) -> None:
    """The first object of the kind that can be created by itself."""
    cluster, old = Cluster(), None
    for manifest in (each for each in OBJECTS if each["kind"] == kind and not old):
        with suppress(StatusError):
            (old,) = cluster.create([copy.deepcopy(manifest)])
    if old is None:
        return  # it needs other objects, such as a class
    resource = find_by_kind(old["apiVersion"], kind)
    assert resource
    for new in partial({**old, "status": old.get("status", {})}, DEPTH):
        with suppress(StatusError):
            build_table(resource, [cluster.update(resource, old, copy.deepcopy(new))], {}, NOW)
