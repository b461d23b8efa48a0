"""Objects in memory as JSON."""

from collections.abc import Iterator, MutableMapping
from typing import Final

import msgspec

from simulator.api import Manifest

_DECODER: Final = msgspec.json.Decoder(Manifest)


class PackedObjects(MutableMapping[str, Manifest]):
    """Manifests by key, in order of arrival. Each is kept as JSON, which needs a fifth of the memory of its
    dicts and strings, and is decoded each time that it is read: a reader may change what it gets."""

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}

    def __getitem__(self, key: str) -> Manifest:
        return _DECODER.decode(self._packed[key])

    def __setitem__(self, key: str, manifest: Manifest) -> None:
        self._packed[key] = msgspec.json.encode(manifest)

    def __delitem__(self, key: str) -> None:
        del self._packed[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __contains__(self, key: object) -> bool:
        return key in self._packed

    def __len__(self) -> int:
        return len(self._packed)
