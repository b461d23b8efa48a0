"""The names of all nodes, as a Decision has them."""

import sys
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, overload

import msgspec

SHORT = 32
"""Number of values up to which columns are lists in the stored form too."""
NAMES_KEPT = 16
"""Maximum number of lists of names that are kept decoded, so that Decisions of the same nodes share one. One
of 5,000 names takes some 400 kB."""


class NodeNames(Sequence[str]):
    __slots__ = ("_names", "_stored")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = [*names]
        self._stored: object = None

    def tolist(self) -> list[str]:
        """Return the values as a list, which must not be changed."""
        return self._names

    def __len__(self) -> int:
        return len(self.tolist())

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self.tolist()[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tolist())

    def __contains__(self, name: object) -> bool:
        return name in self.tolist()

    def index(self, name: str, start: int = 0, stop: int = sys.maxsize) -> int:
        return self.tolist().index(name, start, stop)

    def __eq__(self, other: object) -> bool:
        return self is other or self.tolist() == (other.tolist() if isinstance(other, NodeNames) else other)

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none

    def __repr__(self) -> str:
        return repr(self.tolist())

    def stored(self) -> object:
        """Return the list as JSON, compressed by zlib, in base64; a list where it is short itself."""
        if self._stored is None:
            compressed = b64encode(zlib.compress(msgspec.json.encode(self._names)))
            self._stored = self._names if len(self) <= SHORT else msgspec.Raw(b'"%b"' % compressed)
        return self._stored

    @classmethod
    def read(cls, value: Any) -> "NodeNames":
        """Read either form."""
        if value is None:
            return UNSTORED_NAMES
        return _names(value) if isinstance(value, str) else cls(msgspec.convert(value, list[str]))


UNSTORED_NAMES = NodeNames()
"""The marker for names that are not stored because columns contain them."""


@lru_cache(NAMES_KEPT)
def _names(compressed: str) -> NodeNames:
    return NodeNames(msgspec.json.decode(zlib.decompress(b64decode(compressed)), type=list[str]))
