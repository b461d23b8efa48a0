"""The share of its time in which a worker runs slices, in all and for each sandbox."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

WINDOW_SECONDS: Final = 5.0
"""The time over which the share is measured: 20 slices of full length. A burst of work is shorter."""

SLICES_AT_MOST: Final = 10_000
"""Maximum number of slices that are kept; the shortest takes half a millisecond."""


class Busy:
    """The times in which a worker runs slices. Slices run in one thread; the shares may be read by others."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        """The clock, in seconds. It never goes back."""
        self._lock = threading.Lock()
        self._slices: deque[tuple[str, float, float]] = deque(maxlen=SLICES_AT_MOST)
        """The sandbox, the beginning and the end of each slice."""
        self._running: tuple[str, float] | None = None

    @contextmanager
    def slice(self, name: str) -> Iterator[None]:
        """Measure a slice of this sandbox, which runs within the block."""
        began = self.clock()
        self._running = name, began
        try:
            yield
        finally:
            with self._lock:
                self._running = None
                self._slices.append((name, began, self.clock()))

    def shares(self) -> dict[str, float]:
        """Return a mapping of each sandbox to the share of the last WINDOW_SECONDS in which its slices
        ran."""
        with self._lock:
            now = self.clock()
            since = now - WINDOW_SECONDS
            while self._slices and self._slices[0][2] <= since:
                self._slices.popleft()
            slices = [*self._slices, *([(*self._running, now)] if self._running else [])]
        shares: dict[str, float] = {}
        for name, began, ended in slices:
            shares[name] = shares.get(name, 0.0) + (ended - max(began, since)) / WINDOW_SECONDS
        return shares

    def share(self) -> float:
        """Return the share of all sandboxes together: 0 to 1."""
        return sum(self.shares().values())
