"""JSON as the API server writes it: fields in the order of Go's structs, sorted maps, escaped characters."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.request_errors import MethodNotAllowed
from simulator.apiserver.response_json import response_json
from simulator.apiserver.status import NotFound, PlainError, StatusError
from tests.apiserver.cluster import Cluster, pod


def shuffled(value: Any, seed: int = 1) -> Any:
    match value:
        case dict():
            keys = random.Random(seed).sample([*value], len(value))
            return {key: shuffled(value[key], seed) for key in keys}
        case list():
            return [shuffled(item, seed) for item in value]
    return value


WRITTEN = Path(__file__).with_name("written_objects.jsonl").read_text().splitlines()


@pytest.mark.parametrize("text", WRITTEN)
def test_fields_are_in_the_order_of_go(text: str) -> None:
    assert response_json(shuffled(json.loads(text))).decode() == text


@pytest.mark.parametrize(
    ("error", "fields"),
    [
        (NotFound("pods", "nope"), "kind apiVersion metadata status message reason details code"),
        (PlainError("m"), "kind apiVersion metadata status message code"),
        (MethodNotAllowed(), "kind apiVersion metadata status message reason details code"),
    ],
)
def test_the_fields_of_a_status(error: StatusError, fields: str) -> None:
    assert [*error.status()] == [*json.loads(response_json(error.status()))] == fields.split()


def test_what_does_not_fit_its_type_is_written_as_it_is() -> None:
    for wrong in ({"spec": "x"}, {"more": 1}, {"spec": {"containers": {"a": 1}}}):
        manifest: Manifest = {"apiVersion": "v1", "kind": "Pod", **wrong}
        assert json.loads(response_json(manifest)) == manifest


def test_numbers_and_texts_stay_as_they_are() -> None:
    spec = {"z": 10**30, "a": 1.5, "\u2028<": "é\x00\u2029&>"}
    timetable = {"apiVersion": "e.com/v1", "kind": "T", "spec": spec}
    content = response_json(timetable)
    assert json.loads(content) == timetable
    assert not any(character.encode() in content for character in "<>&\u2028\u2029")


def test_stored_objects_have_their_fields() -> None:
    (stored,) = Cluster().create([pod()])
    assert json.loads(response_json(stored)) == stored
