"""Reads the wire format of protocol buffers, without descriptions of the messages."""

from collections.abc import Mapping

Fields = Mapping[int, list[bytes | int]]


def read_fields(data: bytes) -> Fields:
    """Return the fields of a message by number: a varint or fixed number as int, all else as bytes."""
    found: dict[int, list[bytes | int]] = {}
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        kind = key & 7
        content: bytes | int
        if kind == 0:
            content, at = _read_varint(data, at)
        elif kind == 2:
            length, at = _read_varint(data, at)
            content, at = data[at : at + length], at + length
        else:
            length = 8 if kind == 1 else 4
            content, at = data[at : at + length], at + length
        found.setdefault(key >> 3, []).append(content)
    return found


def get_number(fields: Fields, number: int) -> int:
    """Return the last number of a field, 0 if there is none."""
    content = fields.get(number, (0,))[-1]
    assert isinstance(content, int)
    return content


def get_signed(fields: Fields, number: int) -> int:
    """Return the last number of a field of type int64, 0 if there is none."""
    content = get_number(fields, number)
    return content - (1 << 64) if content >> 63 else content


def get_bytes(fields: Fields, number: int) -> bytes:
    """Return the last bytes of a field, empty if there are none."""
    content = fields.get(number, (b"",))[-1]
    assert isinstance(content, bytes)
    return content


def get_text(fields: Fields, number: int) -> str:
    """Return the last text of a field."""
    return get_bytes(fields, number).decode()


def get_message(fields: Fields, number: int) -> Fields:
    """Return the last message of a field."""
    return read_fields(get_bytes(fields, number))


def get_messages(fields: Fields, number: int) -> list[Fields]:
    return [read_fields(each) for each in fields.get(number, ()) if isinstance(each, bytes)]


def get_numbers(fields: Fields, number: int) -> list[int]:
    """Return all numbers of a field, packed or not."""
    found: list[int] = []
    for each in fields.get(number, ()):
        if isinstance(each, int):
            found.append(each)
            continue
        at = 0
        while at < len(each):
            content, at = _read_varint(each, at)
            found.append(content)
    return found


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    content = shift = 0
    while True:
        byte = data[at]
        at += 1
        content |= (byte & 0x7F) << shift
        if byte < 0x80:
            return content, at
        shift += 7
