"""Prepares types for msgspec, so that threads may decode into them.

msgspec collects the fields of a type at its first use, and makes them known before all are there, as a type
may contain itself. Another thread that decodes into the type in this moment reads null pointers, and the
process ends with signal 11. So each type that a decoder is given goes through :func:`prepared`."""

import threading
from typing import Any, TypeVar

import msgspec

K = TypeVar("K")
_LOCK = threading.Lock()
_PREPARED: set[Any] = set()
"""Bounded by the types of the program."""


def prepared(kind: K) -> K:
    """Return the type; msgspec knows all its fields and the types of these."""
    if kind not in _PREPARED:
        with _LOCK:
            msgspec.msgpack.Decoder(kind)
            _PREPARED.add(kind)
    return kind
