"""Token buckets in the memory of the process."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Final

KEPT_AT_MOST: Final = 20_000
"""Maximum number of buckets of one limit, 200 bytes each. The one that was used longest ago is dropped
first."""
ROUNDING: Final = 1e-6
"""Seconds that are less than the error of the sums."""
BURST_SECONDS: Final = 10.0
"""The time in which an empty bucket is filled: a requester without requests in this time may send as many at
once."""


class Buckets:
    """A bucket for each key. ``per_second`` tokens come in each second, up to the burst."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, when
        self._lock = Lock()

    def take(self, key: str, per_second: float, burst: float, tokens_taken: float = 1.0) -> int:
        """Take a token. 0 = done; otherwise the seconds until there is one. tokens_taken: 0 = only look
        whether there is one."""
        now = self._clock()
        with self._lock:
            tokens, then = self._buckets.pop(key, (burst, now))
            tokens = min(burst, tokens + (now - then) * per_second)
            taken = tokens >= 1.0
            self._buckets[key] = (tokens - tokens_taken if taken else tokens, now)
            if len(self._buckets) > KEPT_AT_MOST:
                self._buckets.popitem(last=False)
        return 0 if taken else max(1, math.ceil((1.0 - tokens) / per_second - ROUNDING))
