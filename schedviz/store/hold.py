"""The hold of a sandbox: a presenter of the prediction mode hides the answers. Until it ends, no other
visitor may change the sandbox, because that would change the right answer.

The presenter ends it, the owner of the sandbox or the teacher of its room, and the withdrawal of the
presenter's right."""

import secrets
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, cast

from redis import Redis

from schedviz.store.keys import hold_key
from schedviz.store.scripts import load

HELD_SECONDS: Final = 3 * 3600
"""The hold ends so long after the last guess: longer than a lecture. So it also ends when a presenter has
left."""


_EVERY_HOLD: Final = "*"
_holds: ContextVar[Collection[str]] = ContextVar("holds", default=())
"""The tokens of the presenter for whom the present request acts."""


@contextmanager
def acting_as(holds: Collection[str]) -> Iterator[None]:
    """Let the block replace sandboxes that the presenter with these tokens holds."""
    before = _holds.set(holds)
    try:
        yield
    finally:
        _holds.reset(before)


@contextmanager
def overruling_holds() -> Iterator[None]:
    """Let the block replace any sandbox: the teacher of a room acts. Its hold ends with it."""
    with acting_as((_EVERY_HOLD,)):
        yield


class Hold:
    """The value in Redis is the creation time of the sandbox, which distinguishes it from an older one of the
    same name, the presenter's token, and the presenter's name as a user of the API."""

    def __init__(self, redis: Redis, sandbox: str, born: Callable[[], float]) -> None:
        """redis: the server of the sandbox. born: the function that reads the creation time of the sandbox.
        It is called only if there is a value."""
        self._redis = redis
        self._born = born
        self.key = hold_key(sandbox)

    def token(self) -> str:
        """Return the presenter's token; "" = the sandbox is not held."""
        return self.token_in(cast("bytes | None", self._redis.get(self.key)))

    def token_in(self, value: bytes | None) -> str:
        """Return the token in a value of the key; "" if it is of an older sandbox."""
        token = (value or b"").decode().partition(" ")[2].partition(" ")[0]
        return token if token and is_hold_of(value, self._born()) else ""

    def refuses(self) -> bool:
        """Whether the sandbox may not be replaced now by the present request."""
        return _EVERY_HOLD not in _holds.get() and self.token() not in ("", *_holds.get())

    def take(self, user: str = "") -> str:
        """Take the hold, and return its token; "" if another presenter has it. user: the presenter's name in
        the API."""
        token = secrets.token_urlsafe(12)
        take = load(self._redis, "take_hold")
        taken = take([self.key], [repr(self._born()), f"{token} {user}", HELD_SECONDS])
        return token if taken else ""

    def release_of(self, user: str) -> None:
        """End the hold if this user has it."""
        value = cast("bytes | None", self._redis.get(self.key)) or b""
        if value.decode().split(" ")[2:] == [user]:
            self.release()

    def release(self) -> None:
        self._redis.delete(self.key)


def is_hold_of(value: bytes | None, born: float) -> bool:
    """Whether a value of the key is the hold of the sandbox that was created at this time."""
    return (value or b"").startswith(f"{born!r} ".encode())
