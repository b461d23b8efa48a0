"""The suggestion that was last applied for a pod, kept in Redis so that pages can show its outcome."""

from typing import Final, cast

import msgspec

from schedviz.store import Store
from schedviz.store.keys import PREFIX
from simulator.api import Micros
from simulator.kernel.prepared_types import prepared
from simulator.what_if.answer import Suggestion

KEPT_SECONDS: Final = 3600
PODS_AT_MOST: Final = 200
"""Maximum number of pods of a sandbox whose applied suggestions are kept, about 1 kB each. With more, the
oldest is dropped."""


class Applied(msgspec.Struct, frozen=True):
    suggestion: Suggestion
    """The suggestion without its edits, which contain whole objects."""
    t: Micros
    """The simulated time at which it was applied."""
    seq: int
    """The number of the last trace event before it."""


class AppliedStore:
    """The suggestions that were applied in a sandbox. ``created``: ``Meta.created`` of the sandbox: a later
    sandbox may have the same name."""

    def __init__(self, store: Store, sandbox: str, created: float) -> None:
        self._redis = store.redis
        self._key = f"{PREFIX}:{{{sandbox}}}:applied:{created}"
        """The key of a hash: uid of the pod -> JSON."""

    def save(self, uid: str, applied: Applied) -> None:
        """Save a suggestion that was applied. uid: of the pod after the change, as a pod that is created
        again has another one."""
        short = msgspec.structs.replace(
            applied, suggestion=msgspec.structs.replace(applied.suggestion, edits=[], rivals=[])
        )
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.hset(self._key, uid, cast("str", msgspec.json.encode(short)))
            pipe.expire(self._key, KEPT_SECONDS)
            pipe.hlen(self._key)
            *_, pods = pipe.execute()
        if pods > PODS_AT_MOST:
            stored = cast("dict[bytes, bytes]", self._redis.hgetall(self._key))
            oldest = min(
                stored, key=lambda each: msgspec.json.decode(stored[each], type=prepared(Applied)).seq
            )
            self._redis.hdel(self._key, cast("str", oldest))

    def read(self, uid: str) -> Applied | None:
        stored = cast("bytes | None", self._redis.hget(self._key, uid))
        return msgspec.json.decode(stored, type=prepared(Applied)) if stored is not None else None
