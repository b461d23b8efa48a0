"""Encodes an OpenAPI v2 document in Protocol Buffers, the form that client-go asks for.

Upstream: openapiv2/OpenAPIv2.proto in github.com/google/gnostic-models, of which only the fields that our
documents have are written. What has no field there, such as ``x-kubernetes-group-version-kind``, is a vendor
extension, whose value is YAML.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from simulator.api import Manifest

MEDIA_TYPE: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
ACCEPTED: Final = (MEDIA_TYPE, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
"""The media types that ask for it. The second one, which kubectl sends, is no valid type of an answer."""
_WITH_LENGTH: Final = 2
_TEXTS: Final = {"$ref": 1, "format": 2, "title": 3, "description": 4}
_REQUIRED, _ENUM, _ADDITIONAL, _TYPE, _ITEMS, _PROPERTIES, _EXTENSION = 19, 20, 21, 22, 23, 25, 31


def encode_swagger(document: Manifest) -> bytes:
    """Return the bytes of a Document with the fields swagger, info, paths (empty) and definitions."""
    info = _text(1, document["info"]["title"]) + _text(2, document["info"]["version"])
    definitions = _named_schemas(document["definitions"])
    return _text(1, document["swagger"]) + _field(2, info) + _field(8, b"") + _field(9, definitions)


def _schema(schema: Manifest) -> bytes:
    return b"".join(_of_schema(schema))


def _of_schema(schema: Manifest) -> Iterable[bytes]:
    for key, value in schema.items():
        if key.startswith("x-"):
            yield _field(_EXTENSION, _text(1, key) + _field(2, _any(value)))
            continue
        match key:
            case "required":
                yield b"".join(_text(_REQUIRED, name) for name in value)
            case "enum":
                yield b"".join(_field(_ENUM, _any(each)) for each in value)
            case "additionalProperties":
                yield _field(
                    _ADDITIONAL, _bool(2, value) if isinstance(value, bool) else _field(1, _schema(value))
                )
            case "type":
                yield _field(_TYPE, _text(1, value))
            case "items":
                yield _field(_ITEMS, _field(1, _schema(value)))
            case "properties":
                yield _field(_PROPERTIES, _named_schemas(value))
            case _ if key in _TEXTS:
                yield _text(_TEXTS[key], value)


def _named_schemas(schemas: Manifest) -> bytes:
    return b"".join(_field(1, _text(1, name) + _field(2, _schema(each))) for name, each in schemas.items())


def _any(value: Any) -> bytes:
    return _text(2, msgspec.json.encode(value).decode())


def _text(number: int, text: str) -> bytes:
    return _field(number, text.encode())


def _bool(number: int, value: bool) -> bytes:
    return _varint(number << 3) + _varint(value)


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | _WITH_LENGTH) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
