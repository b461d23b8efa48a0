"""Decodes the reviews of :mod:`schedviz.api.reviews` from Protocol Buffers, in which kubectl sends them
without asking what the server reads. The fields' numbers: authorization/v1/generated.proto, v1.34."""

from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest

PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
MAGIC: Final = b"k8s\x00"
"""Before an encoded ``runtime.Unknown``, whose field RAW is the object."""
RAW: Final = 2
SPEC: Final = 2

Fields = dict[int, Any]
"""Number of a field -> its name, or its name with the fields of the message in it."""

SPECS: Final[dict[str, Fields]] = {
    "SelfSubjectAccessReview": {
        1: (
            "resourceAttributes",
            {
                1: "namespace",
                2: "verb",
                3: "group",
                4: "version",
                5: "resource",
                6: "subresource",
                7: "name",
            },
        ),
        2: ("nonResourceAttributes", {1: "path", 2: "verb"}),
    },
    "SelfSubjectRulesReview": {1: "namespace"},
    "SelfSubjectReview": {},
}


def decode_review(kind: str, data: bytes) -> Manifest:
    """The spec of a review. Raises ValueError."""
    if not data.startswith(MAGIC):
        raise ValueError("the body is no Kubernetes object in Protocol Buffers")
    found = dict(_fields(data.removeprefix(MAGIC)))
    spec = dict(_fields(found.get(RAW, b""))).get(SPEC, b"")
    return _message(SPECS[kind], spec)


def _message(known: Fields, data: bytes) -> Manifest:
    """Fields that are not known are left out, and so are empty texts, as in JSON."""
    decoded: Manifest = {}
    for number, value in _fields(data):
        match known.get(number):
            case (name, inner):
                decoded[name] = _message(inner, value)
            case str() as name if value:
                decoded[name] = value.decode()
    return decoded


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The number and the bytes of each field that has a length; others are skipped."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        match key & 7:
            case 0:
                _, place = _varint(data, place)
            case 1:
                place += 8
            case 2:
                length, place = _varint(data, place)
                if place + length > len(data):
                    raise ValueError("a field is cut off")
                yield key >> 3, data[place : place + length]
                place += length
            case 5:
                place += 4
            case _:
                raise ValueError("a field has an unknown type")


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number, and the place behind it."""
    value = 0
    for shift in range(0, 64, 7):
        if place >= len(data):
            raise ValueError("a number is cut off")
        value |= (data[place] & 0x7F) << shift
        place += 1
        if data[place - 1] < 0x80:
            return value, place
    raise ValueError("a number is too long")
