"""Token buckets in Redis, which all web processes share."""

import math

from schedviz.access.record import digest_of
from schedviz.limit_settings import LimitName
from schedviz.store.default import default_store
from schedviz.store.keys import PREFIX
from schedviz.store.scripts import load


class SharedBuckets:
    """As :class:`schedviz.limits.buckets.Buckets`, for what a requester does a few times a minute: each call
    takes a round trip. Redis drops the key of a bucket when that is full."""

    def __init__(self, limit: LimitName) -> None:
        self._limit = limit

    def take(self, key: str, per_second: float, burst: float, tokens_taken: float = 1.0) -> int:
        redis, interval = default_store().redis, round(1_000_000 / per_second)
        wait: int = load(redis, "take_token")(
            [f"{PREFIX}:bucket:{self._limit}:{digest_of(key)}"],
            [interval, round(burst * interval), int(tokens_taken)],
        )
        return math.ceil(wait / 1_000_000)
