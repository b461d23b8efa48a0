"""All objects of a sandbox as they are stored, which a new leader decodes in parts: slices end in between."""

from collections.abc import Callable
from typing import Final

from schedviz.store import codec
from schedviz.store.whole_objects import Stored
from simulator.api import Manifest, WatchEvent

DECODED_BYTES: Final = 1 << 20
"""The size of the objects of one part: 10 to 20 ms, and some more if they begin a chapter of the archive."""


Decode = Callable[[str, str, bytes], Manifest]
"""``decode(resource, key, data)``: the object of stored bytes."""


def decode_stored(resource: str, key: str, data: bytes) -> Manifest:
    return codec.decode_object(data)


class ListedObjects:
    """``version``: the one as of which they were read. ``events``: those that are decoded, oldest first."""

    def __init__(self, stored: Stored, version: int, decode: Decode = decode_stored) -> None:
        self.version = version
        self._decode = decode
        self.events: list[WatchEvent] = []
        self._left = [
            (codec.version_of(data), resource, key.decode(), data)
            for resource, objects in stored.items()
            for key, data in objects.items()
        ]
        self._left.sort(reverse=True, key=lambda each: each[0])

    @property
    def is_decoded(self) -> bool:
        return not self._left

    def decode_some(self) -> Stored:
        """Decode a part, and return it as it is stored. Memory holds each object in one form only."""
        part: Stored = {}
        size = 0
        while self._left and size < DECODED_BYTES:
            version, resource, key, data = self._left.pop()
            size += codec.size_of(data)
            part.setdefault(resource, {})[key.encode()] = data
            self.events.append(WatchEvent("ADDED", resource, key, self._decode(resource, key, data), version))
        return part
