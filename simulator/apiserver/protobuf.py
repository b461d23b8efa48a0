"""Decoding of objects in Protocol Buffers (``application/vnd.kubernetes.protobuf``), as client-go sends them.

One function is compiled for each type. Upstream: apimachinery/pkg/runtime/serializer/protobuf/protobuf.go.
"""

import base64
import math
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.bounds import MAX_DEPTH, ManifestError, count_values
from simulator.apiserver.manifest import parse_json_value
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import (
    Field,
    ListType,
    MapType,
    OwnType,
    Scalar,
    StructType,
    Type,
    once_per_type,
)

MEDIA_TYPE: Final = "application/vnd.kubernetes.protobuf"
MAGIC: Final = b"k8s\x00"
"""The first bytes of a body. An encoded ``runtime.Unknown`` follows, which has the type of the object, and
its bytes."""
_TYPE, _RAW = 1, 2
_API_VERSION, _KIND = 1, 2
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_INTEGER_TYPE: Final = 0
"""The type of an IntOrString whose value is the integer."""

Wire = int | bytes | float
Read = Callable[[Wire, int], Any]
"""A function that returns a value of one type. The number is the depth at which it is."""
Add = Callable[[Manifest, Wire, int], None]
"""A function that adds a value of one field to an object."""


class NoDescription(ManifestError):
    """The fields of a type have no numbers."""


class Envelope(NamedTuple):
    """An encoded object with its type (runtime.Unknown)."""

    api_version: str
    kind: str
    raw: bytes


def decode_protobuf(data: bytes, implied: tuple[str, str] = ("", "")) -> Manifest:
    """Return the manifest in an encoded object. ``implied``: its apiVersion and kind if it does not say
    them. Raises ManifestError."""
    return decode_envelope(read_envelope(data, implied))


def read_envelope(data: bytes, implied: tuple[str, str]) -> Envelope:
    """Return an encoded object and its type; ``implied``: what it does not say of it. Raises ManifestError
    (Decode in apimachinery/pkg/runtime/serializer/protobuf/protobuf.go)."""
    if not data:
        raise ManifestError("empty data")
    if not data.startswith(MAGIC):
        expected = " ".join(map(str, MAGIC))
        raise ManifestError(
            f"provided data does not appear to be a protobuf message, expected prefix [{expected}]"
        )
    if data == MAGIC:
        raise ManifestError("empty body")
    envelope = dict(_read(data.removeprefix(MAGIC)))
    given = dict(_read(_bytes(envelope.get(_TYPE, b""))))
    api_version = _text(given.get(_API_VERSION, b"")) or implied[0]
    kind = _text(given.get(_KIND, b"")) or implied[1]
    return Envelope(api_version, kind, _bytes(envelope.get(_RAW, b"")))


def decode_envelope(envelope: Envelope) -> Manifest:
    """Return the manifest of an encoded object. Raises ManifestError."""
    api_version, kind, raw = envelope
    of = api_types().of_kind(api_version, kind)
    if of is None:
        raise NoDescription(f"{kind[:100]} of {api_version[:100]} is not read in Protocol Buffers")
    manifest = {"apiVersion": api_version, "kind": kind} | _message(of, raw, 1)
    count_values(manifest)
    return manifest


def _message(of: Type, data: bytes, depth: int) -> Manifest:
    if depth > MAX_DEPTH:
        raise ManifestError(f"nested deeper than {MAX_DEPTH} levels")
    fields = _fields_by_number(of)
    found: Manifest = {}
    for number, value in _read(data):
        add = fields.get(number)
        if add is not None:
            add(found, value, depth)
    return found


@once_per_type
def _fields_by_number(of: Type) -> dict[int, Add]:
    """Return what adds a value of each field to an object, by the field's number."""
    assert isinstance(of, StructType)
    check_numbers(of)
    return {field.number: _adder(field) for field in of.declared if field.number}


def check_numbers(of: StructType) -> None:
    """Raise NoDescription for a struct whose fields have no numbers."""
    if of.fields and not any(field.number for field in of.declared):
        raise NoDescription(f"{of.go_name} has no Protocol Buffers")


def _adder(field: Field) -> Add:
    name, of = field.name, field.type
    if not name:
        return lambda found, value, depth: found.update(_message(of, _bytes(value), depth + 1))
    match of:
        case ListType():
            return _list_adder(name, of.items)
        case MapType():
            return _map_adder(name, of.values)
    read = _reader(of)

    def add(found: Manifest, value: Wire, depth: int) -> None:
        decoded = read(value, depth)
        if decoded is not None:
            found[name] = decoded

    return add


def _list_adder(name: str, of: Type) -> Add:
    """Return what adds one item of a list, or all of one whose integers are packed."""
    read = _reader(of)
    packs = isinstance(of, Scalar) and of.kind in ("int32", "int64")

    def add(found: Manifest, value: Wire, depth: int) -> None:
        items = found.setdefault(name, [])
        if packs and isinstance(value, bytes):
            items += _packed(value)
        else:
            items.append(read(value, depth + 1))

    return add


def _map_adder(name: str, of: Type) -> Add:
    read = _reader(of)

    def add(found: Manifest, value: Wire, depth: int) -> None:
        entry = dict(_read(_bytes(value)))
        found.setdefault(name, {})[_text(entry.get(1, b""))] = read(entry.get(2, b""), depth + 1)

    return add


@once_per_type
def _reader(of: Type) -> Read:
    """Return the function for the values of a type, which are as JSON has them: None for a time that is not
    set."""
    match of:
        case StructType():
            return lambda value, depth: _message(of, _bytes(value), depth + 1)
        case ListType():
            # A list as the value of a map is a message, whose items have the number 1.
            item = _reader(of.items)
            return lambda value, depth: [item(each, depth + 1) for _, each in _read(_bytes(value))]
        case Scalar(kind=kind):
            return _SCALARS[kind]
        case OwnType() if of.short_name.startswith("JSONSchemaPropsOr"):
            return _alternatives(of.name)
        case OwnType() if of.short_name in _OWN:
            return _OWN[of.short_name]
    raise NoDescription(f"{of.go_name} has no Protocol Buffers")


def _alternatives(name: str) -> Read:
    """Return the function for a JSON schema of a CustomResourceDefinition, or what may be in its place: a
    list of schemas or of names, or a boolean; None for nothing."""
    schema, _, other = name.rpartition("Or")
    of = api_types().struct(schema)

    def read(value: Wire, depth: int) -> Any:
        parts = [*_read(_bytes(value))]
        if other == "Bool":
            found = dict(parts)
            return _message(of, _bytes(found[2]), depth + 1) if 2 in found else bool(found.get(1, 0))
        if items := [item for number, item in parts if number == 2]:
            if other == "StringArray":
                return [_text(item) for item in items]
            return [_message(of, _bytes(item), depth + 1) for item in items]
        single = dict(parts).get(1)
        return None if single is None else _message(of, _bytes(single), depth + 1)

    return read


def _int_or_string(value: Wire, _: int) -> Any:
    parts = dict(_read(_bytes(value)))
    is_integer = parts.get(1, _INTEGER_TYPE) == _INTEGER_TYPE
    return _signed(parts.get(2, 0)) if is_integer else _text(parts.get(3, b""))


def _json_value(value: Wire, _: int) -> Any:
    text = _text(dict(_read(_bytes(value))).get(1, b""))
    return parse_json_value(text) if text else None


def _time(value: Wire, precision: str) -> str | None:
    parts = dict(_read(_bytes(value)))
    seconds, nanos = _signed(parts.get(1, 0)), _signed(parts.get(2, 0))
    if not seconds and not nanos:
        return None
    try:
        moment = EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1_000)
    except OverflowError:
        raise ManifestError("a time is outside of the years 1 to 9999") from None
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")


# The wire format: https://protobuf.dev/programming-guides/encoding


def _read(data: bytes) -> Iterator[tuple[int, Wire]]:
    """Yield the number and the value of each field: an integer, a float, or the bytes of what has a
    length."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        match key & 7:
            case 0:
                value, place = _varint(data, place)
                yield key >> 3, value
            case 2:
                length, place = _varint(data, place)
                if place + length > len(data):
                    raise ManifestError("unexpected EOF")
                yield key >> 3, data[place : place + length]
                place += length
            case 1:
                if place + 8 > len(data):
                    raise ManifestError("unexpected EOF")
                yield key >> 3, struct.unpack_from("<d", data, place)[0]
                place += 8
            case 5:
                place += 4
            case kind:
                raise ManifestError(f"proto: illegal wireType {kind}")


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """Return a number, and the place behind it."""
    value = 0
    for shift in range(0, 64, 7):
        if place >= len(data):
            raise ManifestError("unexpected EOF")
        value |= (data[place] & 0x7F) << shift
        place += 1
        if data[place - 1] < 0x80:
            return value & (1 << 64) - 1, place
    raise ManifestError("proto: integer overflow")


def _packed(data: bytes) -> list[int]:
    found, place = [], 0
    while place < len(data):
        value, place = _varint(data, place)
        found.append(_signed(value))
    return found


def _signed(value: Wire) -> int:
    if not isinstance(value, int):
        raise ManifestError(f"proto: wrong wireType = {_wire_type(value)} for an integer")
    return value - (1 << 64) if value >= 1 << 63 else value


def _double(value: Wire) -> int | float:
    """Return a number as JSON has it, which writes no point behind an integer."""
    if not isinstance(value, float):
        raise ManifestError(f"proto: wrong wireType = {_wire_type(value)} for a number")
    if not math.isfinite(value):
        raise ManifestError(f"json: unsupported value: {value}")
    return int(value) if value.is_integer() else value


def _bytes(value: Wire) -> bytes:
    if not isinstance(value, bytes):
        raise ManifestError(f"proto: wrong wireType = {_wire_type(value)} for a message or text")
    return value


def _wire_type(value: Wire) -> int:
    return 0 if isinstance(value, int) else 1 if isinstance(value, float) else 2


def _text(value: Wire) -> str:
    try:
        return _bytes(value).decode()
    except UnicodeDecodeError:
        raise ManifestError("not UTF-8") from None


_SCALARS: Final[dict[str, Read]] = {
    "string": lambda value, _: _text(value),
    "bool": lambda value, _: bool(value),
    "bytes": lambda value, _: base64.b64encode(_bytes(value)).decode(),
    "float64": lambda value, _: _double(value),
    "int32": lambda value, _: _signed(value),
    "int64": lambda value, _: _signed(value),
}
_OWN: Final[dict[str, Read]] = {
    "FieldsV1": _json_value,
    "IntOrString": _int_or_string,
    "JSON": _json_value,
    "MicroTime": lambda value, _: _time(value, "microseconds"),
    "Quantity": lambda value, _: _text(dict(_read(_bytes(value))).get(1, b"")),
    "RawExtension": _json_value,
    "Time": lambda value, _: _time(value, "seconds"),
}
"""The functions for the types that decode themselves."""
