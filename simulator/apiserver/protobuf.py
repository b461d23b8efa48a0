"""Decoding of objects in Protocol Buffers (``application/vnd.kubernetes.protobuf``), as client-go sends them.

The numbers of the fields are in ``protobuf_fields.txt`` (the generated.proto of the API groups, v1.34); what
type a field has says the schema. Upstream: apimachinery/pkg/runtime/serializer/protobuf/protobuf.go.
"""

import base64
import math
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.bounds import MAX_DEPTH, ManifestError, count_values
from simulator.apiserver.json_reader import parse_json_value
from simulator.apiserver.schema import META, Schema, definitions, find_type_name

MEDIA_TYPE: Final = "application/vnd.kubernetes.protobuf"
MAGIC: Final = b"k8s\x00"
"""The first bytes of a body. An encoded ``runtime.Unknown`` follows, which has the type of the object, and
its bytes."""
_PACKAGES: Final = (
    "io.k8s.api.",
    "io.k8s.apiextensions-apiserver.pkg.apis.",
    "io.k8s.kube-aggregator.pkg.apis.",
)
_TYPE, _RAW = 1, 2
_API_VERSION, _KIND = 1, 2
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_INTEGER_TYPE: Final = 0
"""The type of an IntOrString whose value is the integer."""

Wire = int | bytes | float
Fields = dict[int, str]


class NoDescription(ManifestError):
    """The fields of a type are not known."""


@cache
def field_numbers() -> dict[str, Fields]:
    """Return the fields of each message by number. ``+Name`` is a message whose fields are in JSON those of
    the message around it."""
    found: dict[str, Fields] = {}
    for line in Path(__file__).with_name("protobuf_fields.txt").read_text().splitlines():
        name, *fields = line.split()
        numbers = found[name] = {}
        number = 0
        for field in fields:
            given, _, text = field.rpartition(":")
            number = int(given) if given else number + 1
            numbers[number] = text
    return found


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
    type_name = find_type_name(api_version, kind)
    if type_name is None:
        raise NoDescription(f"{kind[:100]} of {api_version[:100]} is not read in Protocol Buffers")
    manifest = {"apiVersion": api_version, "kind": kind}
    manifest |= _message(type_name, raw, 1)
    count_values(manifest)
    return manifest


def _message(type_name: str, data: bytes, depth: int) -> Manifest:
    schema = definitions()[type_name]
    return _fields(short_type_name(type_name), schema.get("properties", {}), data, depth)


def _fields(name: str, properties: dict[str, Schema], data: bytes, depth: int) -> Manifest:
    numbers = field_numbers().get(name)
    if numbers is None:
        raise NoDescription(f"{name} is not read in Protocol Buffers")
    if depth > MAX_DEPTH:
        raise ManifestError(f"nested deeper than {MAX_DEPTH} levels")
    found: Manifest = {}
    for number, value in _read(data):
        field = numbers.get(number, "")
        if field.startswith("+"):
            embedded = f"{name.rpartition('.')[0]}.{field[1:]}"
            found |= _fields(embedded, properties, _bytes(value), depth + 1)
        elif field in properties:
            _add(found, field, properties[field], value, depth)
    return found


def _add(found: Manifest, field: str, of: Schema, value: Wire, depth: int) -> None:
    """Add one value of a field; lists and maps have one for each of their items."""
    if of.get("type") == "array":
        items = found.setdefault(field, [])
        if isinstance(value, bytes) and of["items"].get("type") == "integer":
            items += _packed(value)
        else:
            items.append(_value(of["items"], value, depth + 1))
    elif of.get("additionalProperties"):
        entry = dict(_read(_bytes(value)))
        item = _value(of["additionalProperties"], entry.get(2, b""), depth + 1)
        found.setdefault(field, {})[_text(entry.get(1, b""))] = item
    else:
        decoded = _value(of, value, depth)
        if decoded is not None:
            found[field] = decoded


def _value(of: Schema, value: Wire, depth: int) -> Any:
    """Return the value as JSON has it; None for a time that is not set."""
    if "$ref" in of:
        return _special(of["$ref"], _bytes(value), depth)
    match of.get("type"):
        case "boolean":
            return bool(value)
        case "integer":
            return _signed(value)
        case "number":
            return _double(value)
        case "string" if of.get("format") == "byte":
            return base64.b64encode(_bytes(value)).decode()
        case "string":
            return _text(value)
        case "array":
            # A list as the value of a map is a message, whose items have the number 1.
            return [_value(of["items"], item, depth + 1) for _, item in _read(_bytes(value))]
    raise ManifestError("a field of this type is not read in Protocol Buffers")


def _special(type_name: str, data: bytes, depth: int) -> Any:
    match type_name.rpartition(".")[2]:
        case "Quantity":
            return _text(dict(_read(data)).get(1, b""))
        case "Time":
            return _time(data, "seconds")
        case "MicroTime":
            return _time(data, "microseconds")
        case "IntOrString":
            parts = dict(_read(data))
            is_integer = parts.get(1, _INTEGER_TYPE) == _INTEGER_TYPE
            return _signed(parts.get(2, 0)) if is_integer else _text(parts.get(3, b""))
        case "JSONSchemaPropsOrBool":
            parts = dict(_read(data))
            return _schema(type_name, parts[2], depth) if 2 in parts else bool(parts.get(1, 0))
        case "JSONSchemaPropsOrArray" | "JSONSchemaPropsOrStringArray":
            return _schema_or_list(type_name, data, depth)
        case "RawExtension" | "FieldsV1" | "JSON":
            text = _text(dict(_read(data)).get(1, b""))
            return parse_json_value(text) if text else None
    return _message(type_name, data, depth + 1)


def _schema_or_list(type_name: str, data: bytes, depth: int) -> Any:
    """Return a schema of a CustomResourceDefinition, or in its place a list of schemas or of names; None if
    there is neither."""
    parts = [*_read(data)]
    if items := [value for number, value in parts if number == 2]:
        of_texts = type_name.endswith("OrStringArray")
        return [_text(item) if of_texts else _schema(type_name, item, depth) for item in items]
    schema = dict(parts).get(1)
    return None if schema is None else _schema(type_name, schema, depth)


def _schema(alternative: str, value: Wire, depth: int) -> Manifest:
    """Convert a schema. ``alternative``: a type whose values are schemas or something else, such as
    JSONSchemaPropsOrBool."""
    return _message(alternative.rpartition("Or")[0], _bytes(value), depth + 1)


def _time(data: bytes, precision: str) -> str | None:
    parts = dict(_read(data))
    seconds, nanos = _signed(parts.get(1, 0)), _signed(parts.get(2, 0))
    if not seconds and not nanos:
        return None
    try:
        moment = EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1_000)
    except OverflowError:
        raise ManifestError("a time is outside of the years 1 to 9999") from None
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")


def struct_fields(name: str) -> list[str]:
    """Return the fields of a message in their order; none of an unknown one. Upstream's structs have them in
    the same order."""
    return [*field_numbers().get(name, {}).values()]


def short_type_name(type_name: str) -> str:
    """Return the name of a type in ``protobuf_fields.txt``."""
    short = type_name
    for prefix in _PACKAGES:
        short = short.removeprefix(prefix)
    return short.replace(META, "meta.v1.")


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
