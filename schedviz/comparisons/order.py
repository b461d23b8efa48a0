"""What is to be compared, how far it is, and what came of it."""

import secrets
from contextlib import suppress
from typing import Final, Literal, cast

import msgspec
from redis.exceptions import RedisError

from schedviz.celery import QUESTIONS_QUEUE, app
from schedviz.store import Store
from schedviz.store.keys import PREFIX
from schedviz.store.places import Places
from simulator.api import Manifest
from simulator.compare.answer import Comparison
from simulator.decision_columns import decision_decoder, stored_encoder
from simulator.queueing.versions import QueueVersion

TASK: Final = "schedviz.comparisons.turn"

AT_ONCE: Final = 4
"""In line or under way, of everybody: each holds two clusters in the memory of one process."""

LINE_SECONDS: Final = 300
"""One that nobody took up until then is forgotten: four of a minute each may be ahead of it."""

SILENT_SECONDS: Final = 60
"""Without a word for this long, who works on it has died. Reading 50,000 pods twice takes some ten."""

KEPT_SECONDS: Final = 24 * 3600
"""A result has an address that may be shared; a day is for that, and it is made again in seconds."""

KEPT_AT_MOST: Final = 100
"""Results; the oldest go first. A large one is a megabyte."""

MAX_BYTES: Final = 4_000_000
"""Of one result: two decisions on 5,000 nodes are a tenth of it."""

ACTIVE: Final = f"{PREFIX}:comparisons:active"
"""Those in line or under way: see :class:`Places`."""
KEPT: Final = f"{PREFIX}:comparisons:kept"
"""Sorted set: those that ended, by when."""

Source = Literal["scenario", "sandbox", "manifests"]
State = Literal["waiting", "under-way", "done", "stopped", "late", "failed"]
FINISHED: Final = ("done", "stopped", "late", "failed")


class Half(msgspec.Struct, frozen=True):
    """One side."""

    preset: str
    """How it was chosen on the page."""
    config: Manifest | None
    queue: QueueVersion
    seed: int


class Wish(msgspec.Struct, frozen=True):
    """What is to be compared."""

    source: Source
    name: str
    """Of the scenario or the sandbox; "" for manifests."""
    text: str
    """The scenario, YAML; "" for a sandbox, whose objects are taken as they are when its turn comes."""
    a: Half
    b: Half
    seconds: int
    """Simulated."""


class Order(msgspec.Struct, frozen=True):
    id: str
    wish: Wish
    state: State = "waiting"
    done: float = 0.0
    trouble: str = ""
    result: Comparison | None = None

    @property
    def finished(self) -> bool:
        return self.state in FINISHED


class TooManyComparisons(Exception):
    """Others are compared just now."""


class Orders:
    def __init__(self, store: Store) -> None:
        self._redis = store.redis
        self._wall = store.wall
        self._places = Places(store, ACTIVE, AT_ONCE)

    def ask(self, wish: Wish) -> Order:
        """Put it in line. Raises TooManyComparisons, and kombu's OperationalError where Redis does not
        serve; then it is in no line."""
        order = Order(secrets.token_hex(8), wish)
        if not self._places.take(order.id, LINE_SECONDS):
            raise TooManyComparisons
        try:
            self.tell(order)
            app.send_task(TASK, (order.id,), queue=QUESTIONS_QUEUE, expires=LINE_SECONDS)
        except BaseException:
            with suppress(RedisError):
                self._forget(order.id)
            raise
        return order

    def read(self, number: str) -> Order | None:
        """None where nobody asked, or long ago."""
        stored = cast("bytes | None", self._redis.get(_key(number)))
        return decision_decoder(Order).decode(stored) if stored is not None else None

    def tell(self, order: Order) -> None:
        """What is known of it now; until the next word, or for a day."""
        data = stored_encoder.encode(order)
        if len(data) > MAX_BYTES:
            order = msgspec.structs.replace(
                order, state="failed", result=None, trouble="the result is too large"
            )
            data = stored_encoder.encode(order)
        now = self._wall()
        seconds = {"waiting": LINE_SECONDS, "under-way": SILENT_SECONDS}.get(order.state, KEPT_SECONDS)
        self._redis.set(_key(order.id), data, ex=seconds)
        if order.finished:
            self._places.leave(order.id)
            self._redis.zadd(KEPT, {order.id: now})
            self._drop_oldest(now)
        else:
            self._places.take(order.id, seconds)

    def stop(self, order: Order) -> None:
        """Who works on it sees this at the end of the turn, and tells what was found until then."""
        self._redis.set(_stop_key(order.id), b"1", ex=LINE_SECONDS)

    def is_stopped(self, number: str) -> bool:
        return bool(self._redis.exists(_stop_key(number)))

    def _drop_oldest(self, now: float) -> None:
        self._redis.zremrangebyscore(KEPT, 0, now - KEPT_SECONDS)
        oldest = cast("list[bytes]", self._redis.zrange(KEPT, 0, -KEPT_AT_MOST - 1))
        for each in oldest:
            self._forget(each.decode())

    def _forget(self, number: str) -> None:
        self._redis.delete(_key(number))
        self._redis.zrem(ACTIVE, number)
        self._redis.zrem(KEPT, number)


def _key(number: str) -> str:
    return f"{PREFIX}:comparisons:{{{number}}}"


def _stop_key(number: str) -> str:
    return f"{PREFIX}:comparisons:{{{number}}}:stop"
