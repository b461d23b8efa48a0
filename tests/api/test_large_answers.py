"""An answer with all objects of a sandbox takes the memory of its objects, not of several copies of it."""

import tracemalloc

import msgspec
import pytest
from django.test import Client

from schedviz.api.large_answers import list_parts
from schedviz.store import Clock, Meta, Store
from simulator.api import SECOND, Change, Manifest
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.response_json import response_json

_OBJECTS = 400
_ENTRIES = 300
_BYTES = 12 * _ENTRIES
"""Entries of each object, and their size as JSON. As Python's objects they take many times as much."""
_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
_MAPS = "api/v1/configmaps"


def _config_map(number: int) -> Manifest:
    metadata = {"name": f"m-{number:04}", "namespace": "default", "uid": f"u-{number}"}
    data = {f"{entry:03}": f"{number:03}" for entry in range(_ENTRIES)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


@pytest.fixture
def full(store: Store, sandbox_name: str) -> str:
    """The name of a sandbox with many ConfigMaps."""
    clock = Clock(sim=1_700_000_000 * SECOND, wall=1_700_000_000, paused=True)
    maps = [_config_map(number) for number in range(_OBJECTS)]
    changes = [Change("configmaps", f"default/{each['metadata']['name']}", each, 0) for each in maps]
    store.create(Meta(name=sandbox_name, created=1), [*new_cluster([], clock.sim), *changes], clock)
    return sandbox_name


@pytest.mark.parametrize(
    ("path", "accept"),
    [
        (_MAPS, "application/json"),
        (f"{_MAPS}?pretty=true", "application/json"),
        (f"{_MAPS}?includeObject=Object", _TABLE),
        (_MAPS, "application/yaml"),
        (_MAPS, "application/vnd.kubernetes.protobuf"),
        ("download/objects/", ""),
        ("download/manifests/", ""),
    ],
)
def test_an_answer_takes_little_more_memory_than_its_stored_objects(
    full: str, path: str, accept: str
) -> None:
    client = Client(headers={"host": "localhost", "accept": accept})
    client.get(f"/s/{full}/{path}")  # What the first request leaves in caches is not counted.
    tracemalloc.start()
    try:
        response = client.get(f"/s/{full}/{path}")
        size = sum(map(len, response))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert _OBJECTS * _BYTES < size == int(response.headers["Content-Length"])
    assert peak < 3 * size, "as they are stored, the answer, and some objects of Python"


def _pod(number: int) -> Manifest:
    spec = {"z": "]}", "containers": [{"image": '<"items":[', "name": "c"}]}
    return {"spec": spec, "metadata": {"name": f"p-{number}"}}


def _listed(api_version: str, kind: str, count: int) -> Manifest:
    metadata = {"resourceVersion": "7", "continue": "next", "remainingItemCount": 3}
    listed = {"kind": kind, "apiVersion": api_version, "metadata": metadata}
    if kind != "Table":
        return {**listed, "items": [_pod(number) for number in range(count)]}
    rows = [
        {"object": {"kind": "Pod", "apiVersion": "v1", **_pod(number)}, "cells": ['"rows":[', number]}
        for number in range(count)
    ]
    columns = [{"name": "Name", "type": "string", "format": "", "description": '"rows":[]', "priority": 0}]
    return {**listed, "columnDefinitions": columns, "rows": rows}


@pytest.mark.parametrize("count", [0, 1, 16, 17, 50])
@pytest.mark.parametrize(
    ("api_version", "kind"), [("v1", "PodList"), ("e.com/v1", "ThingList"), ("meta.k8s.io/v1", "Table")]
)
def test_a_list_in_parts_is_the_same_text(api_version: str, kind: str, count: int) -> None:
    for write in (response_json, _indented):
        listed = _listed(api_version, kind, count)
        whole = write(listed)
        assert b"".join(list_parts(listed, write)) == whole


def _indented(value: Manifest) -> bytes:
    return msgspec.json.format(response_json(value), indent=2)
