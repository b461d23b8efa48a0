"""Short names of nodes: without what all nodes of a kind have in common.

``ip-10-0-10-108.eu-west-1.compute.internal`` becomes ``10-108`` where all nodes that are named so begin with
``ip-10-0-``. As with the language, the names of one sandbox are in use for a request or a frame."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import takewhile
from typing import Final

WHOLE_AT_MOST: Final = 16
"""Length up to which names are not shortened."""
PIECES_LEFT: Final = 2
"""Number of pieces between hyphens that are left of a name: a number alone would not be read as a name."""
SAVED_AT_LEAST: Final = 4
"""Minimum number of characters of a beginning that is left out."""
ANY: Final = "…"


class ShortNodeNames:
    """The short names of a set of nodes. Equal objects shorten all names alike.

    The rule: names of up to WHOLE_AT_MOST characters are left whole. Of the others the domain is left out,
    and the leading pieces that all nodes with the same first piece share, but for the last PIECES_LEFT. So
    another node changes the other names only if it has the same first piece and shares less with them.
    Where two nodes would have the same short name, both keep the whole one."""

    def __init__(self, names: Iterable[str]) -> None:
        names = list(names)
        long = [name for name in names if len(name) > WHOLE_AT_MOST]
        kinds: dict[str, list[list[str]]] = {}
        for host in {host_of(name) for name in long}:
            kinds.setdefault(first_piece(host), []).append(host.split("-")[:-PIECES_LEFT])
        self._beginnings = {kind: shared(hosts) for kind, hosts in kinds.items() if len(hosts) > 1}
        """The beginning that is left out, by the first piece of the name."""
        found = Counter(self._shorten(name) for name in names)
        self._whole = frozenset(name for name in long if found[self._shorten(name)] > 1)
        """Names that are left whole, because the short ones would be equal."""

    def short(self, name: str) -> str:
        """Return the short name of a node; also of one that is not there any more."""
        return name if name in self._whole else self._shorten(name)

    def patterns(self, names: Iterable[str]) -> list[str]:
        """Return the forms of the shortened names: ``ip-10-0-….eu-west-1.compute.internal``, most frequent
        first."""
        found: Counter[str] = Counter()
        for name in names:
            short = self.short(name)
            if short != name:
                before, _, behind = name.partition(short)
                found[f"{before}{ANY}{behind}"] += 1
        return [pattern for pattern, _ in found.most_common()]

    def _shorten(self, name: str) -> str:
        if len(name) <= WHOLE_AT_MOST:
            return name
        host = host_of(name)
        return host.removeprefix(self._beginnings.get(first_piece(host), ""))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShortNodeNames) and (self._beginnings, self._whole) == (
            other._beginnings,
            other._whole,
        )

    def __hash__(self) -> int:
        return hash((tuple(sorted(self._beginnings.items())), self._whole))


def host_of(name: str) -> str:
    """Return the name without its domain."""
    return name.partition(".")[0]


def first_piece(host: str) -> str:
    return host.partition("-")[0]


def shared(hosts: list[list[str]]) -> str:
    """Return the leading pieces that all hosts have, with the hyphen behind them; empty if they are short."""
    first, last = min(hosts), max(hosts)  # the others lie between them
    pieces = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    beginning = "".join(f"{piece}-" for piece, _ in pieces)
    return beginning if len(beginning) >= SAVED_AT_LEAST else ""


@lru_cache(maxsize=32)
def names_of(names: tuple[str, ...]) -> ShortNodeNames:
    return ShortNodeNames(names)


NO_NAMES: Final = ShortNodeNames(())
_names: ContextVar[ShortNodeNames | Callable[[], ShortNodeNames]] = ContextVar("node names", default=NO_NAMES)


def activate(names: Callable[[], ShortNodeNames]) -> None:
    """Use these names for the rest of the request. They are read when the first one is shortened."""
    _names.set(names)


@contextmanager
def using(names: ShortNodeNames) -> Iterator[None]:
    """Context manager: use these names."""
    token = _names.set(names)
    try:
        yield
    finally:
        _names.reset(token)


def node_name(name: str) -> str:
    """Return the short name of a node, by the names in use."""
    names = _names.get()
    if not isinstance(names, ShortNodeNames):
        names = names()
        _names.set(names)
    return names.short(name)
