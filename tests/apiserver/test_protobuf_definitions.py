"""CustomResourceDefinitions in Protocol Buffers, with the schemas in them."""

import json
import struct
from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.bounds import ManifestError
from simulator.apiserver.protobuf import decode_protobuf
from simulator.apiserver.protobuf_encoding import encode_protobuf
from simulator.apiserver.request_decoding.decode_request import decode_request
from simulator.apiserver.resources import BUILT_IN
from simulator.apiserver.status import BadRequest
from tests.apiserver.cluster import Cluster, refusal
from tests.apiserver.test_protobuf import encoded, field, varint

VERSION = "apiextensions.k8s.io/v1"
KIND = "CustomResourceDefinition"
DEFINITIONS = next(resource for resource in BUILT_IN if resource.kind == KIND)


def definition(schema: Any) -> Manifest:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": VERSION,
        "kind": KIND,
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version],
        },
    }


def message_of(schema: bytes) -> bytes:
    """A definition that has only a schema."""
    return encoded(VERSION, KIND, field(2, field(7, field(4, field(1, schema)))))


def schema_in(data: bytes) -> Any:
    return decode_protobuf(data)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


@pytest.mark.parametrize(
    ("message", "schema"),
    [
        (field(2, "s") + field(3, "r") + field(5, "object"), {"$schema": "s", "$ref": "r", "type": "object"}),
        (double(9, 2.0) + double(11, -0.5), {"maximum": 2, "minimum": -0.5}),
        (field(8, field(1, '{"a": [1, null]}')), {"default": {"a": [1, None]}}),
        (field(20, field(1, '"x"')) + field(20, b""), {"enum": ["x", None]}),
        (field(24, field(1, field(5, "string"))), {"items": {"type": "string"}}),
        (field(24, field(2, field(5, "string")) * 2), {"items": [{"type": "string"}] * 2}),
        (field(29, field(1, "a") + field(2, field(37, 1))), {"properties": {"a": {"nullable": True}}}),
        (field(30, field(1, 0)), {"additionalProperties": False}),
        (field(30, field(1, 1)), {"additionalProperties": True}),
        (
            field(30, field(1, 1) + field(2, field(5, "string"))),
            {"additionalProperties": {"type": "string"}},
        ),
        (
            field(32, field(1, "a") + field(2, field(2, "b") + field(2, "c"))),
            {"dependencies": {"a": ["b", "c"]}},
        ),
        (
            field(38, 1) + field(41, "k"),
            {"x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-list-map-keys": ["k"]},
        ),
        (
            field(44, field(1, "self > 0") + field(4, "R")),
            {"x-kubernetes-validations": [{"rule": "self > 0", "reason": "R"}]},
        ),
    ],
)
def test_a_schema_is_decoded_as_it_was_encoded(message: bytes, schema: Manifest) -> None:
    assert schema_in(message_of(message)) == schema
    assert schema_in(encode_protobuf(definition(schema))) == schema


def test_a_definition_is_decoded_as_it_was_encoded() -> None:
    widgets = definition({"type": "object"})
    version = widgets["spec"]["versions"][0]
    version |= {
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".a", "statusReplicasPath": ".b"}},
        "selectableFields": [{"jsonPath": ".spec.color"}],
        "additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": ".a", "priority": 1}],
        "deprecated": True,
    }
    webhook = {"clientConfig": {"url": "https://a", "caBundle": "YQ=="}, "conversionReviewVersions": ["v1"]}
    widgets["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    assert decode_protobuf(encode_protobuf(widgets)) == widgets


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (double(9, float("inf")), "json: unsupported value: inf"),
        (field(9, 1), "wrong wireType = 0 for a number"),
        (double(5, 1.0), "wrong wireType = 1 for a message or text"),
        (double(13, 1.0), "wrong wireType = 1 for an integer"),
        (varint(9 << 3 | 1) + b"\0\0", "unexpected EOF"),
    ],
)
def test_a_wrong_schema_is_refused(message: bytes, error: str) -> None:
    with pytest.raises(ManifestError, match=error):
        decode_protobuf(message_of(message))


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ({"additionalProperties": "a"}, "boolean or JSON schema expected"),
        (
            {"items": {"properties": {"a": {"type": 5}}}},
            (
                "json: cannot unmarshal number into Go struct field JSONSchemaProps.properties.type of "
                "type string"
            ),
        ),
        ({"items": [5]}, "json: cannot unmarshal number into Go value of type v1.JSONSchemaProps"),
        ({"dependencies": {"a": [5]}}, "json: cannot unmarshal number into Go value of type string"),
    ],
)
def test_a_wrong_value_in_the_place_of_a_schema_is_refused(schema: Manifest, error: str) -> None:
    with pytest.raises(BadRequest) as refused:
        decode_request(DEFINITIONS, json.dumps(definition(schema)).encode(), is_yaml=False)
    assert str(refused.value).endswith(f"cannot be handled as a {KIND}: {error}")


def test_unknown_fields_in_it_are_dropped_without_a_note() -> None:
    body = json.dumps(definition({"items": {"type": "string", "colour": 1}, "shape": 1})).encode()
    decoded = decode_request(DEFINITIONS, body, is_yaml=False)
    assert decoded.strict_errors == ['unknown field "spec.versions[0].schema.openAPIV3Schema.shape"']
    schema = decoded.manifest["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema == {"items": {"type": "string"}}


def test_an_error_names_the_valid_types_of_a_field() -> None:
    error = refusal(lambda: Cluster().admit([definition({"type": "object", "additionalProperties": "a"})]))
    assert error is not None
    assert 'additionalProperties: Invalid value: "a": must be of type boolean or JSON schema' in error.message
