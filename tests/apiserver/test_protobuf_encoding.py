"""Objects that are encoded in Protocol Buffers are decoded as they were."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given

from simulator.api import Manifest
from simulator.apiserver.bounds import ManifestError
from simulator.apiserver.protobuf import NoDescription, decode_protobuf
from simulator.apiserver.protobuf_encoding import (
    _layout,
    encode_protobuf,
    encode_watch_event,
    has_protobuf,
)
from simulator.apiserver.resources import BUILT_IN
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import ListType, MapType, StructType, Type
from tests.apiserver.test_protobuf import encoded, field
from tests.schema_objects import any_object, examples
from tests.stories.recorded import read_steps

SKIPPED = {"CustomResourceDefinition", "Timetable"}
"""Kinds that are not tested: for a definition any values would be drawn for its schemas, and a timetable's
fields have no numbers."""


def as_decoded(of: Type, value: Any) -> Any:
    """A value as a decoder gives it: without what is null, without empty lists and maps, with quantities as
    texts and times of whole seconds or microseconds."""
    match of:
        case StructType():
            return as_decoded_struct(of, value)
        case ListType():
            return [as_decoded(of.items, item) for item in value if item is not None]
        case MapType():
            return {key: as_decoded(of.values, item) for key, item in value.items()}
    match of.short_name:
        case "Quantity":
            return str(value)
        case "Time" | "MicroTime" as kind:
            precision = "seconds" if kind == "Time" else "microseconds"
            return datetime.fromisoformat(value).isoformat(timespec=precision).replace("+00:00", "Z")
    return value


def as_decoded_struct(of: StructType, value: Manifest) -> Manifest:
    """An object in an object has no type fields: its type is known."""
    types = ("apiVersion", "kind") if "metadata" in of.fields else ()
    known = {name: field.type for name, field in of.fields.items() if name not in types}
    return {
        name: as_decoded(known[name], part)
        for name, part in value.items()
        if name in known and part is not None and not is_absent(known[name], part)
    }


def is_absent(of: Type, part: Any) -> bool:
    """Whether nothing is written: of a list or map without entries."""
    return part in ([], {}) and isinstance(of, ListType | MapType)


def check(manifest: Manifest) -> None:
    of = api_types().of_kind(manifest["apiVersion"], manifest["kind"])
    assert of
    kind = {field: manifest[field] for field in ("apiVersion", "kind")}
    assert decode_protobuf(encode_protobuf(manifest)) == as_decoded_struct(of, manifest) | kind


def recorded_objects() -> Iterator[Manifest]:
    for step in read_steps():
        body = step["response"].get("body")
        if isinstance(body, dict) and "kind" in body and "metadata" in body:
            text = json.dumps(body).replace("<time>", "2026-01-01T00:00:00Z").replace('"<port>"', "30000")
            yield json.loads(text.replace("<microtime>", "2026-01-01T00:00:00.000001Z"))


def test_the_objects_of_a_real_server_are_decoded_as_they_were_encoded() -> None:
    checked = 0
    for manifest in recorded_objects():
        if has_protobuf(manifest.get("apiVersion", ""), manifest["kind"]):
            check(manifest)
            checked += 1
    assert checked > 900


@given(any_object())
@pytest.mark.sampled
@examples(400)
def test_any_object_that_fits_a_schema_is_decoded_as_it_was_encoded(manifest: Manifest) -> None:
    if manifest["kind"] in SKIPPED or manifest["apiVersion"] == "example.com/v1":
        return
    assert has_protobuf(manifest["apiVersion"], manifest["kind"])
    check(manifest)


def test_a_list_has_its_metadata_and_each_item() -> None:
    pods = [{"metadata": {"name": name}, "spec": {"nodeName": "n"}} for name in "ab"]
    listed = {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": pods}
    items = b"".join(field(2, field(1, field(1, name)) + field(2, field(10, "n"))) for name in "ab")
    assert encode_protobuf(listed) == encoded("v1", "PodList", field(1, field(2, "7")) + items)


def test_the_metadata_of_any_object_is_a_message() -> None:
    version = "meta.k8s.io/v1"
    one = {"apiVersion": version, "kind": "PartialObjectMetadata", "metadata": {"name": "a"}}
    raw = field(1, field(1, "a"))
    assert encode_protobuf(one) == encoded(version, "PartialObjectMetadata", raw)
    kind = "PartialObjectMetadataList"
    listed = {"apiVersion": version, "kind": kind, "metadata": {}, "items": [one]}
    assert encode_protobuf(listed) == encoded(version, kind, field(1, b"") + field(2, raw))


def test_an_event_of_a_watch_begins_with_its_length() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    event = field(1, "ADDED") + field(2, field(1, encode_protobuf(pod)))
    assert encode_watch_event("ADDED", pod) == len(event).to_bytes(4, "big") + event


def test_a_status_is_a_message() -> None:
    details = {"name": "a", "kind": "pods", "causes": [{"reason": "R", "message": "M", "field": "f"}]}
    check(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "details": details,
            "code": 404,
        }
    )


@pytest.mark.parametrize(
    ("api_version", "kind"), [("example.com/v1", "Widget"), ("meta.k8s.io/v1", "Table"), ("v1", "Nothing")]
)
def test_other_kinds_have_no_messages(api_version: str, kind: str) -> None:
    assert not has_protobuf(api_version, kind)
    with pytest.raises(NoDescription) as refused:
        encode_protobuf({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}})
    assert isinstance(refused.value, ManifestError)


def test_each_struct_of_a_kind_with_protocol_buffers_can_be_encoded() -> None:
    """So that a list is refused before its first item is read."""
    kinds = (
        api_types().of_kind(each.api_version, each.kind) for each in BUILT_IN if each.kind not in SKIPPED
    )
    waiting: list[Type] = [of for of in kinds if of is not None]
    seen = set()
    while waiting:
        match waiting.pop():
            case ListType() as of:
                waiting.append(of.items)
            case MapType() as of:
                waiting.append(of.values)
            case StructType() as of if of.name not in seen:
                seen.add(of.name)
                _layout(of)
                waiting += [field.type for field in of.declared]
    assert len(seen) > 400
