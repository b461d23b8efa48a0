"""Encoding of objects in Protocol Buffers (``application/vnd.kubernetes.protobuf``), as client-go reads them.

The counterpart of :mod:`simulator.apiserver.protobuf`, with the same numbers of fields. Fields that an object
does not have are left out; upstream writes their zero values, which a decoder takes for the same.

Google's protobuf runtime needs a descriptor of each message, which no package brings for Kubernetes; the
schema and the numbers have all of it.

Upstream: apimachinery/pkg/runtime/serializer/protobuf/protobuf.go, v1.34.
"""

import base64
import struct
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec

from simulator.api import Manifest
from simulator.apiserver.protobuf import EPOCH, MAGIC, NoDescription, field_numbers, short_type_name
from simulator.apiserver.schema import META, Schema, definitions, find_type_name

_VARINT, _DOUBLE, _LENGTH = 0, 1, 2
"""Wire types: an integer; a number of 64 bits; what begins with its length."""
_INTEGER_TYPE, _TEXT_TYPE = 0, 1
"""The types of an IntOrString."""
_LIST_METADATA: Final = 1
_LIST_ITEMS: Final = 2
"""The fields of every list of Kubernetes."""
Properties = dict[str, Schema]
Field = tuple[int, Schema]


def encode_protobuf(manifest: Manifest) -> bytes:
    """Encode an object, a list or a Status with its type. Raises NoDescription for a type whose
    fields have no numbers, such as a custom resource or a Table."""
    api_version, kind = manifest["apiVersion"], manifest["kind"]
    raw = _encode_kind(api_version, kind, manifest)
    type_meta = _text(1, api_version) + _text(2, kind)
    return MAGIC + _bytes(1, type_meta) + _bytes(2, raw) + _bytes(3, b"") + _bytes(4, b"")


def encode_watch_event(kind: str, manifest: Manifest) -> bytes:
    """Encode one event of a watch, with its length before it (LengthDelimitedFramer of
    apimachinery/pkg/util/framer). Raises NoDescription."""
    event = _text(1, kind) + _bytes(2, _bytes(1, encode_protobuf(manifest)))
    return len(event).to_bytes(4, "big") + event


def has_protobuf(api_version: str, kind: str) -> bool:
    """Whether objects of this kind can be encoded."""
    type_name = find_type_name(api_version, kind)
    return type_name is not None and short_type_name(type_name) in field_numbers()


def _encode_kind(api_version: str, kind: str, manifest: Manifest) -> bytes:
    if kind == "PartialObjectMetadata":
        return _bytes(1, _message(f"{META}ObjectMeta", manifest["metadata"]))
    if kind.endswith("List") and isinstance(manifest.get("items"), list):
        metadata = _bytes(_LIST_METADATA, _message(f"{META}ListMeta", manifest.get("metadata") or {}))
        item_kind = kind.removesuffix("List")
        if item_kind != "PartialObjectMetadata" and not has_protobuf(api_version, item_kind):
            raise NoDescription(f"{item_kind} of {api_version} has no Protocol Buffers")
        items = (
            _bytes(_LIST_ITEMS, _encode_kind(api_version, item_kind, item)) for item in manifest["items"]
        )
        return metadata + b"".join(items)
    type_name = find_type_name(api_version, kind)
    if type_name is None:
        raise NoDescription(f"{kind} of {api_version} has no Protocol Buffers")
    return _message(type_name, manifest)


class _Layout(NamedTuple):
    """The fields of a message."""

    fields: dict[str, Field]
    """The number and the schema of each."""
    embedded: list[tuple[int, "_Layout"]]
    """The number and the fields of each embedded message, whose fields are in JSON those of the message."""


@cache
def _layout_of(type_name: str) -> _Layout:
    return _layout(short_type_name(type_name), definitions()[type_name].get("properties", {}))


def _layout(name: str, properties: Properties) -> _Layout:
    package = name.rpartition(".")[0]
    embedded = [
        (number, _layout(f"{package}.{field[1:]}", properties))
        for number, field in _numbers(name).items()
        if field.startswith("+")
    ]
    return _Layout(dict(_numbered(name, properties)), embedded)


def _numbered(name: str, properties: Properties) -> Iterator[tuple[str, Field]]:
    for number, field in _numbers(name).items():
        if field in properties:
            yield field, (number, properties[field])


def _numbers(name: str) -> dict[int, str]:
    numbers = field_numbers().get(name)
    if numbers is None:
        raise NoDescription(f"{name} has no Protocol Buffers")
    return numbers


def _message(type_name: str, value: Manifest) -> bytes:
    return _encode(_layout_of(type_name), value)


def _encode(layout: _Layout, value: Manifest) -> bytes:
    """Encode the fields in the order of their numbers, as upstream's code does."""
    parts = {
        layout.fields[name][0]: _field(*layout.fields[name], part)
        for name, part in value.items()
        if name in layout.fields and part is not None
    }
    for number, inner in layout.embedded:
        if embedded := _encode(inner, value):
            parts[number] = _bytes(number, embedded)
    return b"".join(parts[number] for number in sorted(parts))


def _field(number: int, of: Schema, value: Any) -> bytes:
    if of.get("type") == "array":
        return b"".join(_single(number, of["items"], item) for item in value)
    if of.get("additionalProperties"):
        entries = (
            (_text(1, key), _map_value(of["additionalProperties"], value[key])) for key in sorted(value)
        )
        return b"".join(_bytes(number, key + item) for key, item in entries)
    return _single(number, of, value)


def _map_value(of: Schema, value: Any) -> bytes:
    if of.get("type") == "array":  # a message whose items have the number 1
        return _bytes(2, _field(1, of, value))
    return _single(2, of, value)


def _single(number: int, of: Schema, value: Any) -> bytes:
    if "$ref" in of:
        return _bytes(number, _special(of["$ref"], value))
    match of.get("type"):
        case "boolean" | "integer":
            return _key(number, _VARINT) + _varint(int(value))
        case "number":
            return _key(number, _DOUBLE) + struct.pack("<d", value)
        case "string" if of.get("format") == "byte":
            return _bytes(number, base64.b64decode(value))
        case "string":
            return _text(number, value)
    raise NoDescription("a field of this type has no Protocol Buffers")


def _special(type_name: str, value: Any) -> bytes:
    match type_name.rpartition(".")[2]:
        case "Quantity":
            return _text(1, str(value))
        case "Time" | "MicroTime":
            return _time(value)
        case "IntOrString" if isinstance(value, int):
            return _integer(1, _INTEGER_TYPE) + _integer(2, value)
        case "IntOrString":
            return _integer(1, _TEXT_TYPE) + _text(3, value)
        case "JSONSchemaPropsOrBool":
            allows = _integer(1, int(value is not False))
            return allows + (_bytes(2, _schema(type_name, value)) if isinstance(value, dict) else b"")
        case "JSONSchemaPropsOrArray" | "JSONSchemaPropsOrStringArray" if isinstance(value, list):
            return b"".join(
                _text(2, item) if isinstance(item, str) else _bytes(2, _schema(type_name, item))
                for item in value
            )
        case "JSONSchemaPropsOrArray" | "JSONSchemaPropsOrStringArray":
            return _bytes(1, _schema(type_name, value))
        case "RawExtension" | "FieldsV1" | "JSON":
            return _bytes(1, msgspec.json.encode(value))
    return _message(type_name, value)


def _schema(alternative: str, value: Manifest) -> bytes:
    """Encode a schema. ``alternative``: a type whose values are schemas or something else, such as
    JSONSchemaPropsOrBool."""
    return _message(alternative.rpartition("Or")[0], value)


def _time(text: str) -> bytes:
    since = datetime.fromisoformat(text) - EPOCH
    seconds = since // timedelta(seconds=1)
    nanos = since.microseconds * 1_000
    return _integer(1, seconds) + (_integer(2, nanos) if nanos else b"")


# The wire format: https://protobuf.dev/programming-guides/encoding


def _key(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _integer(number: int, value: int) -> bytes:
    return _key(number, _VARINT) + _varint(value)


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


def _bytes(number: int, value: bytes) -> bytes:
    return _key(number, _LENGTH) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    if 0 <= value < 0x80:
        return _SHORT[value]
    value &= (1 << 64) - 1
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


_SHORT: Final = [bytes([value]) for value in range(0x80)]
