"""A semaphore in Redis: bounds how many holders have a place at the same time, in all processes."""

from schedviz.store.scripts import load
from schedviz.store.store import Store


class Places:
    """A bounded number of places. ``key``: a sorted set in Redis, holder -> when its place expires."""

    def __init__(self, store: Store, key: str, at_most: int) -> None:
        self._redis = store.redis
        self._take = load(store.redis, "take_place")
        self._key = key
        self._at_most = at_most

    def take(self, holder: str, seconds: float) -> bool:
        """Take a place for ``seconds``, or extend the holder's place; False = all places are taken."""
        return bool(self._take([self._key], [holder, round(seconds * 1_000_000), self._at_most]))

    def leave(self, holder: str) -> None:
        self._redis.zrem(self._key, holder)
