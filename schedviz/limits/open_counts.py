"""Counts what is open at the same time in this process: watches of the API, websockets and
connections."""

from collections import Counter
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final

from schedviz.store.exceeded import LimitExceeded
from schedviz.store.places import Share


class OpenCounts:
    """The numbers of things of a pool that are open in this process."""

    def __init__(self, seconds: int = 0) -> None:
        """seconds: after which each is closed at the latest; 0 = not stated."""
        self._seconds = seconds
        self._open: Counter[str] = Counter()  # group -> how many; "" = all
        self._lock = Lock()

    def check(self, shares: Sequence[Share]) -> None:
        """Check whether one more may be opened. Raises LimitExceeded if not."""
        with self._lock:
            self._check(shares)

    def enter(self, shares: Sequence[Share]) -> Callable[[], None]:
        """Count one that was opened, until the returned function is called, once. Raises LimitExceeded."""
        groups = {"", *(share.group for share in shares)}
        with self._lock:
            self._check(shares)
            self._open.update(groups)
        return lambda: self._leave(groups)

    def _leave(self, groups: set[str]) -> None:
        with self._lock:
            self._open.subtract(groups)
            for group in groups:
                if not self._open[group]:
                    del self._open[group]

    def total(self) -> int:
        return self._open[""]

    def _check(self, shares: Sequence[Share]) -> None:
        for share in shares:
            if self._open[share.group] >= share.at_most:
                raise LimitExceeded(share.limit, share.at_most, self._seconds)


WATCHES: Final = OpenCounts()
SOCKETS: Final = OpenCounts()
