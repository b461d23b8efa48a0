"""A semaphore in Redis: bounds how many holders have a place at the same time, in all processes."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from schedviz.limit_settings import LimitName
from schedviz.store.exceeded import LimitExceeded
from schedviz.store.scripts import load
from schedviz.store.store import Store


class Share(NamedTuple):
    """The largest part of the places that the holders of one group may have together."""

    limit: LimitName
    at_most: int
    group: str = ""
    """The owner or the address for which a place counts; "" = all holders."""


class Places:
    """A bounded number of places. ``key``: a sorted set in Redis, holder -> when its place expires; and a
    hash beside it, holder -> its groups."""

    def __init__(self, store: Store, key: str) -> None:
        self._redis = store.redis
        self._take = load(store.redis, "take_place")
        self._keys = (key, f"{key}:groups")

    def take(
        self, holder: str, seconds: float, shares: Sequence[Share] = (), *, replaceable_seconds: float = 0.0
    ) -> list[str]:
        """Take a place for ``seconds``, or extend the holder's place. Where all places of one of the shares
        are taken, a place that is in the last ``replaceable_seconds`` of its time is taken from its holder:
        the one that ends first of the same group, or of the group that has most. Return these holders.

        Raises LimitExceeded if there is none, with the time at which the first of these places can be
        taken."""
        request = {
            "holder": holder,
            "duration": round(seconds * 1_000_000),
            "replaceable": round(replaceable_seconds * 1_000_000),
            "groups": [share.group for share in shares],
            "at_most": [share.at_most for share in shares],
        }
        number, micros, *replaced = self._take(self._keys, [msgspec.msgpack.encode(request)])
        if number:
            share = shares[number - 1]
            raise LimitExceeded(share.limit, share.at_most, max(1, math.ceil(micros / 1_000_000)))
        return [holder.decode() for holder in replaced]

    def leave(self, holder: str) -> None:
        places, groups = self._keys
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.zrem(places, holder)
            pipe.hdel(groups, holder)
            pipe.execute()
