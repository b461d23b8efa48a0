"""Encoding of objects in Protocol Buffers (``application/vnd.kubernetes.protobuf``), as client-go reads them.

The counterpart of :mod:`simulator.apiserver.protobuf`. One function is compiled for each field. Fields that
an object does not have are left out; upstream writes their zero values, which a decoder takes for the same.

Google's protobuf runtime needs a descriptor of each message, which no package brings for Kubernetes; the
types have all of it.

Upstream: apimachinery/pkg/runtime/serializer/protobuf/protobuf.go.
"""

import base64
import struct
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec

from simulator.api import Manifest
from simulator.apiserver.protobuf import EPOCH, MAGIC, NoDescription, check_numbers
from simulator.apiserver.types.api_types import META, api_types
from simulator.apiserver.types.model import (
    ListType,
    MapType,
    OwnType,
    Scalar,
    StructType,
    Type,
    once_per_type,
)

_VARINT, _DOUBLE, _LENGTH = 0, 1, 2
"""Wire types: an integer; a number of 64 bits; what begins with its length."""
_INTEGER_TYPE, _TEXT_TYPE = 0, 1
"""The types of an IntOrString."""
_LIST_METADATA: Final = 1
_LIST_ITEMS: Final = 2
"""The fields of every list of Kubernetes."""
Write = Callable[[Any], bytes]
"""A function that encodes the values of one field."""


def encode_protobuf(manifest: Manifest) -> bytes:
    """Encode an object, a list or a Status with its type. Raises NoDescription for a type whose
    fields have no numbers, such as a custom resource or a Table."""
    return b"".join(protobuf_parts(manifest))


def protobuf_parts(manifest: Manifest) -> list[bytes]:
    """Return the encoded object in parts: of a list, each object is one. Its ``items`` may be any iterable.
    Raises NoDescription, before it reads the items."""
    api_version, kind = manifest["apiVersion"], manifest["kind"]
    raw = _kind_parts(api_version, kind, manifest)
    type_meta = _text(1, api_version) + _text(2, kind)
    head = MAGIC + _bytes(1, type_meta) + _key(2, _LENGTH) + _varint(sum(map(len, raw)))
    return [head, *raw, _bytes(3, b"") + _bytes(4, b"")]


def encode_watch_event(kind: str, manifest: Manifest) -> bytes:
    """Encode one event of a watch, with its length before it (LengthDelimitedFramer of
    apimachinery/pkg/util/framer). Raises NoDescription."""
    event = _text(1, kind) + _bytes(2, _bytes(1, encode_protobuf(manifest)))
    return len(event).to_bytes(4, "big") + event


def has_protobuf(api_version: str, kind: str) -> bool:
    """Whether objects of this kind can be encoded."""
    return _encoded_type(api_version, kind) is not None


def _encoded_type(api_version: str, kind: str) -> StructType | None:
    """Return the type of a kind; None if it has none, and for the documents of discovery, which are JSON."""
    of = api_types().of_kind(api_version, kind)
    is_discovery = of is not None and of.name.startswith(META) and kind != "Status"
    return None if is_discovery else of


def _kind_parts(api_version: str, kind: str, manifest: Manifest) -> list[bytes]:
    if kind == "PartialObjectMetadata":
        return [_bytes(1, _message(api_types().struct(f"{META}ObjectMeta"), manifest["metadata"]))]
    if kind.endswith("List") and manifest.get("items") is not None:
        list_meta = api_types().struct(f"{META}ListMeta")
        metadata = _bytes(_LIST_METADATA, _message(list_meta, manifest.get("metadata") or {}))
        item_kind = kind.removesuffix("List")
        if item_kind != "PartialObjectMetadata" and not has_protobuf(api_version, item_kind):
            raise NoDescription(f"{item_kind} of {api_version} has no Protocol Buffers")
        items = (b"".join(_kind_parts(api_version, item_kind, item)) for item in manifest["items"])
        return [metadata, *(_bytes(_LIST_ITEMS, item) for item in items)]
    of = _encoded_type(api_version, kind)
    if of is None:
        raise NoDescription(f"{kind} of {api_version} has no Protocol Buffers")
    return [_message(of, manifest)]


class _Layout(NamedTuple):
    """How a struct is written."""

    fields: dict[str, tuple[int, Write]]
    """The number of each field, and what writes its values with their keys."""
    embedded: list[tuple[int, Type]]
    """The number and the type of each embedded struct, whose fields are in JSON those of the struct."""


@once_per_type
def _layout(of: Type) -> _Layout:
    assert isinstance(of, StructType)
    check_numbers(of)
    numbered = [field for field in of.declared if field.number]
    return _Layout(
        {field.name: (field.number, _writer(field.number, field.type)) for field in numbered if field.name},
        [(field.number, field.type) for field in numbered if not field.name],
    )


def _message(of: Type, value: Manifest) -> bytes:
    """Encode the fields in the order of their numbers, as upstream's code does."""
    layout = _layout(of)
    parts = {}
    for name, part in value.items():
        known = layout.fields.get(name)
        if known is not None and part is not None:
            parts[known[0]] = known[1](part)
    for number, inner in layout.embedded:
        if embedded := _message(inner, value):
            parts[number] = _bytes(number, embedded)
    return b"".join(parts[number] for number in sorted(parts))


def _writer(number: int, of: Type) -> Write:
    """Return the function that encodes the value of a field: of each item of a list, and of each entry of a
    map, for itself."""
    match of:
        case ListType():
            write_item = _single(number, of.items)
            return lambda value: b"".join(map(write_item, value))
        case MapType():
            return _map_writer(number, of.values)
    return _single(number, of)


def _map_writer(number: int, of: Type) -> Write:
    if isinstance(of, ListType):  # a message whose items have the number 1
        write_items = _writer(1, of)
        write_value: Write = lambda value: _bytes(2, write_items(value))  # noqa: E731
    else:
        write_value = _single(2, of)
    return lambda value: b"".join(
        _bytes(number, _text(1, key) + write_value(item)) for key, item in sorted(value.items())
    )


def _single(number: int, of: Type) -> Write:
    match of:
        case StructType():
            return lambda value: _bytes(number, _message(of, value))
        case OwnType():
            encode = _alternatives(of.name) if "PropsOr" in of.short_name else _OWN.get(of.short_name)
            if encode is not None:
                return lambda value: _bytes(number, encode(value))
        case Scalar(kind="float64"):
            return lambda value: _key(number, _DOUBLE) + struct.pack("<d", value)
        case Scalar(kind="bytes"):
            return lambda value: _bytes(number, base64.b64decode(value))
        case Scalar(kind="string"):
            return lambda value: _text(number, value)
        case Scalar():
            key = _key(number, _VARINT)
            return lambda value: key + _varint(int(value))
    raise NoDescription("a field of this type has no Protocol Buffers")


def _alternatives(name: str) -> Write:
    """Return the function for a JSON schema of a CustomResourceDefinition, or what may be in its place: a
    list of schemas or of names, or a boolean."""
    schema, _, other = name.rpartition("Or")
    of = api_types().struct(schema)

    def encode(value: Any) -> bytes:
        if other == "Bool":
            allows = _integer(1, int(value is not False))
            return allows + (_bytes(2, _message(of, value)) if isinstance(value, dict) else b"")
        if isinstance(value, list):
            return b"".join(
                _text(2, item) if isinstance(item, str) else _bytes(2, _message(of, item)) for item in value
            )
        return _bytes(1, _message(of, value))

    return encode


def _int_or_string(value: Any) -> bytes:
    if isinstance(value, int):
        return _integer(1, _INTEGER_TYPE) + _integer(2, value)
    return _integer(1, _TEXT_TYPE) + _text(3, value)


def _json_value(value: Any) -> bytes:
    return _bytes(1, msgspec.json.encode(value))


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
_OWN: Final[dict[str, Write]] = {
    "FieldsV1": _json_value,
    "IntOrString": _int_or_string,
    "JSON": _json_value,
    "MicroTime": _time,
    "Quantity": lambda value: _text(1, str(value)),
    "RawExtension": _json_value,
    "Time": _time,
}
"""The functions for the types that encode themselves."""
