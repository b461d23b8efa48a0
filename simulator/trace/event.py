"""The fields that all trace events have."""

import msgspec


class Event(msgspec.Struct, frozen=True, tag=True, tag_field="type"):
    t: int


def encode_numbered(number: int, event: Event) -> bytes:
    """Encode an event with its number as one line of JSON."""
    return msgspec.json.encode({"seq": number, **msgspec.to_builtins(event)}) + b"\n"
