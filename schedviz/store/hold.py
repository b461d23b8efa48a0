"""The hold of a sandbox: a presenter of the prediction mode hides the answers. Until the presenter ends it,
no other visitor may change the sandbox, because that would change the right answer."""

import secrets
from collections.abc import Callable
from typing import Final, cast

from redis import Redis

from schedviz.store.keys import PREFIX
from schedviz.store.scripts import load

HELD_SECONDS: Final = 3 * 3600
"""The hold ends so long after the last guess: longer than a lecture. So it also ends when a presenter has
left."""


class Hold:
    """The value in Redis is the creation time of the sandbox, which distinguishes it from an older one of the
    same name, and the presenter's token."""

    def __init__(self, redis: Redis, sandbox: str, born: Callable[[], float]) -> None:
        """born: the function that reads the creation time of the sandbox. It is called only if there is a
        value."""
        self._redis = redis
        self._born = born
        self.key = f"{PREFIX}:{{{sandbox}}}:hold"

    def token(self) -> str:
        """Return the presenter's token; "" = the sandbox is not held."""
        return self.token_in(cast("bytes | None", self._redis.get(self.key)))

    def token_in(self, value: bytes | None) -> str:
        """Return the token in a value of the key; "" if it is of an older sandbox."""
        born, _, token = (value or b"").decode().partition(" ")
        return token if token and born == repr(self._born()) else ""

    def take(self) -> str:
        """Take the hold, and return its token; "" if another presenter has it."""
        token = secrets.token_urlsafe(12)
        take = load(self._redis, "take_hold")
        taken = take([self.key], [repr(self._born()), token, HELD_SECONDS])
        return token if taken else ""

    def release(self) -> None:
        self._redis.delete(self.key)
